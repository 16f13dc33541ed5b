-- update_adjustment: a refund or correction that is there, found by its key; no row is changed
--   when it is not.
-- Parameters: ?1 to ?12, the columns in the order of the table.
-- Columns: none.
UPDATE adjustment
SET
    root_no = ?2,
    hold_no = ?3,
    task = ?4,
    attempt = ?5,
    is_refund = ?6,
    amount_mcs = ?7,
    at_ms = ?8,
    content = ?9,
    id = ?10,
    source = ?11,
    reason = ?12
WHERE adjustment_no = ?1;

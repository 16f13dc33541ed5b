-- update_period: a closed month of a root that is there, found by its key; no row is changed when
--   it is not.
-- Parameters: ?1 to ?15, the columns in the order of the table.
-- Columns: none.
UPDATE period
SET
    closing_month = ?3,
    closed_ms = ?4,
    txn_no = ?5,
    last_seq = ?6,
    last_hold_no = ?7,
    format = ?8,
    sealed = ?9,
    row_count = ?10,
    used_mcs = ?11,
    mgs = ?12,
    waived_mcs = ?13,
    runs = ?14,
    digest = ?15
WHERE root_no = ?1
    AND month = ?2;

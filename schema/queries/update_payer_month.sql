-- update_payer_month: what a payer's account moved by in a month that is there, found by its key;
--   no row is changed when it is not.
-- Parameters: ?1 to ?11, the columns in the order of the table.
-- Columns: none.
UPDATE payer_month
SET
    root_no = ?3,
    granted_mcs = ?4,
    in_mcs = ?5,
    out_mcs = ?6,
    withdrawn_mcs = ?7,
    used_mcs = ?8,
    refunded_mcs = ?9,
    corrected_mcs = ?10,
    expired_mcs = ?11
WHERE node_no = ?1
    AND month = ?2;

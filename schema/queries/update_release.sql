-- update_release: what a release gave back, that is there, found by its key; no row is changed
--   when it is not.
-- Parameters: ?1 to ?4, the columns in the order of the table.
-- Columns: none.
UPDATE release
SET
    refunded_mcs = ?3,
    expired_mcs = ?4
WHERE hold_no = ?1
    AND tasks = ?2;

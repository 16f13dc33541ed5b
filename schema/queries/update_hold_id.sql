-- update_hold_id: the id of a hold that is there, found by its key; no row is changed when it is
--   not.
-- Parameters: ?1 to ?3, the columns in the order of the table.
-- Columns: none.
UPDATE hold_id
SET
    hold_no = ?3
WHERE cluster_no = ?1
    AND id = ?2;

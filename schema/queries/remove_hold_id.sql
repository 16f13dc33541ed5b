-- remove_hold_id: the id of a hold, by its key; none there is no error.
-- Parameters: ?1 cluster_no, ?2 id.
-- Columns: none.
DELETE FROM hold_id
WHERE cluster_no = ?1
    AND id = ?2;

-- get_hold_id: the id of a hold, by its key.
-- Parameters: ?1 cluster_no, ?2 id.
-- Columns: all of hold_id, in the order of the table; at most one row.
SELECT
    cluster_no, id, hold_no
FROM hold_id
WHERE cluster_no = ?1
    AND id = ?2;

-- remove_unattributed: usage of an unknown account, by its key; none there is no error.
-- Parameters: ?1 cluster_no, ?2 id.
-- Columns: none.
DELETE FROM unattributed
WHERE cluster_no = ?1
    AND id = ?2;

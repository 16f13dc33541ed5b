-- remove_cluster: a cluster, by its key; none there is no error.
-- Parameters: ?1 cluster_no.
-- Columns: none.
DELETE FROM cluster
WHERE cluster_no = ?1;

-- select_all_dims: the whole table, by key, for the check of the ledger.
-- Parameters: ?1 at most so many rows.
-- Columns: all of dims, in the order of the table.
SELECT
    dims_no, root_no, project_no, member_no, cluster_no, card_version, partition, qos, gpu_model,
    path
FROM dims
ORDER BY dims_no
LIMIT ?1;

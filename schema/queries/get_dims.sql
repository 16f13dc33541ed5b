-- get_dims: dimensions and path, by its key.
-- Parameters: ?1 dims_no.
-- Columns: all of dims, in the order of the table; at most one row.
SELECT
    dims_no, root_no, project_no, member_no, cluster_no, card_version, partition, qos, gpu_model,
    path
FROM dims
WHERE dims_no = ?1;

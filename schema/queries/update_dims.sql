-- update_dims: dimensions and path that is there, found by its key; no row is changed when it is
--   not.
-- Parameters: ?1 to ?10, the columns in the order of the table.
-- Columns: none.
UPDATE dims
SET
    root_no = ?2,
    project_no = ?3,
    member_no = ?4,
    cluster_no = ?5,
    card_version = ?6,
    partition = ?7,
    qos = ?8,
    gpu_model = ?9,
    path = ?10
WHERE dims_no = ?1;

-- insert_dims: dimensions and path that is new; its key must not be there.
-- Parameters: ?1 to ?10, the columns in the order of the table.
-- Columns: none.
INSERT INTO dims (
    dims_no, root_no, project_no, member_no, cluster_no, card_version, partition, qos, gpu_model,
    path
)
VALUES (
    ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10
);

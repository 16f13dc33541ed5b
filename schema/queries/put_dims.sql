-- put_dims: dimensions and path, new or in place of the one with its key.
-- Parameters: ?1 to ?10, the columns in the order of the table.
-- Columns: none.
INSERT INTO dims (
    dims_no, root_no, project_no, member_no, cluster_no, card_version, partition, qos, gpu_model,
    path
)
VALUES (
    ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10
)
ON CONFLICT (dims_no) DO UPDATE SET
    root_no = excluded.root_no,
    project_no = excluded.project_no,
    member_no = excluded.member_no,
    cluster_no = excluded.cluster_no,
    card_version = excluded.card_version,
    partition = excluded.partition,
    qos = excluded.qos,
    gpu_model = excluded.gpu_model,
    path = excluded.path;

-- put_rate_row: a row of a rate card, new or in place of the one with its key.
-- Parameters: ?1 to ?10, the columns in the order of the table.
-- Columns: none.
INSERT INTO rate_row (
    cluster_no, version, row_no, permille, core_mcores, gib_mcores, gpu_default_mcores, partition,
    qos, gpus
)
VALUES (
    ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10
)
ON CONFLICT (cluster_no, version, row_no) DO UPDATE SET
    permille = excluded.permille,
    core_mcores = excluded.core_mcores,
    gib_mcores = excluded.gib_mcores,
    gpu_default_mcores = excluded.gpu_default_mcores,
    partition = excluded.partition,
    qos = excluded.qos,
    gpus = excluded.gpus;

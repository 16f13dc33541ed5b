-- insert_rate_row: a row of a rate card that is new; its key must not be there.
-- Parameters: ?1 to ?10, the columns in the order of the table.
-- Columns: none.
INSERT INTO rate_row (
    cluster_no, version, row_no, permille, core_mcores, gib_mcores, gpu_default_mcores, partition,
    qos, gpus
)
VALUES (
    ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10
);

-- get_rate_row: a row of a rate card, by its key.
-- Parameters: ?1 cluster_no, ?2 version, ?3 row_no.
-- Columns: all of rate_row, in the order of the table; at most one row.
SELECT
    cluster_no, version, row_no, permille, core_mcores, gib_mcores, gpu_default_mcores, partition,
    qos, gpus
FROM rate_row
WHERE cluster_no = ?1
    AND version = ?2
    AND row_no = ?3;

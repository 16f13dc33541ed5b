-- select_rate_rows: rows of a version of a rate card.
-- Parameters: ?1 cluster_no, ?2 version, ?3 at most so many rows.
-- Columns: all of rate_row, in the order of the table.
SELECT
    cluster_no, version, row_no, permille, core_mcores, gib_mcores, gpu_default_mcores, partition,
    qos, gpus
FROM rate_row
WHERE cluster_no = ?1
    AND version = ?2
ORDER BY row_no
LIMIT ?3;

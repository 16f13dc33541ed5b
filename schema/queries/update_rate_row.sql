-- update_rate_row: a row of a rate card that is there, found by its key; no row is changed when
--   it is not.
-- Parameters: ?1 to ?10, the columns in the order of the table.
-- Columns: none.
UPDATE rate_row
SET
    permille = ?4,
    core_mcores = ?5,
    gib_mcores = ?6,
    gpu_default_mcores = ?7,
    partition = ?8,
    qos = ?9,
    gpus = ?10
WHERE cluster_no = ?1
    AND version = ?2
    AND row_no = ?3;

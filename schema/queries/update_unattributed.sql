-- update_unattributed: usage of an unknown account that is there, found by its key; no row is
--   changed when it is not.
-- Parameters: ?1 to ?13, the columns in the order of the table.
-- Columns: none.
UPDATE unattributed
SET
    rate_mcores = ?3,
    used_mcs = ?4,
    started_s = ?5,
    ended_s = ?6,
    at_ms = ?7,
    content = ?8,
    account = ?9,
    user_name = ?10,
    cores = ?11,
    memory_mib = ?12,
    gpus = ?13
WHERE cluster_no = ?1
    AND id = ?2;

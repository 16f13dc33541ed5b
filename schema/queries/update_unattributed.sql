-- update_unattributed: usage of an unknown account that is there, found by its key; no row is
--   changed when it is not.
-- Parameters: ?1 to ?21, the columns in the order of the table.
-- Columns: none.
UPDATE unattributed
SET
    rate_mcores = ?3,
    used_mcs = ?4,
    started_s = ?5,
    ended_s = ?6,
    suspended_s = ?7,
    at_ms = ?8,
    outcome = ?9,
    content = ?10,
    account = ?11,
    user_name = ?12,
    job_key = ?13,
    run_key = ?14,
    job_name = ?15,
    partition = ?16,
    qos = ?17,
    hosts = ?18,
    cores = ?19,
    memory_mib = ?20,
    gpus = ?21
WHERE cluster_no = ?1
    AND id = ?2;

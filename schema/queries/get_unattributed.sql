-- get_unattributed: usage of an unknown account, by its key.
-- Parameters: ?1 cluster_no, ?2 id.
-- Columns: all of unattributed, in the order of the table; at most one row.
SELECT
    cluster_no, id, rate_mcores, used_mcs, started_s, ended_s, suspended_s, at_ms, outcome, content,
    account, user_name, job_key, run_key, job_name, partition, qos, hosts, cores, memory_mib, gpus
FROM unattributed
WHERE cluster_no = ?1
    AND id = ?2;

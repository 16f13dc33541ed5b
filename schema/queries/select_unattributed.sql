-- select_unattributed: usage of unknown accounts of a cluster.
-- Parameters: ?1 cluster_no, ?2 at most so many rows.
-- Columns: all of unattributed, in the order of the table.
SELECT
    cluster_no, id, rate_mcores, used_mcs, started_s, ended_s, suspended_s, at_ms, outcome, content,
    account, user_name, job_key, run_key, job_name, partition, qos, hosts, cores, memory_mib, gpus
FROM unattributed
WHERE cluster_no = ?1
ORDER BY id
LIMIT ?2;

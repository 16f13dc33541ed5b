-- insert_unattributed: usage of an unknown account that is new; its key must not be there.
-- Parameters: ?1 to ?21, the columns in the order of the table.
-- Columns: none.
INSERT INTO unattributed (
    cluster_no, id, rate_mcores, used_mcs, started_s, ended_s, suspended_s, at_ms, outcome, content,
    account, user_name, job_key, run_key, job_name, partition, qos, hosts, cores, memory_mib, gpus
)
VALUES (
    ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21
);

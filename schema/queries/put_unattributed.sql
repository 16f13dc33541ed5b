-- put_unattributed: usage of an unknown account, new or in place of the one with its key.
-- Parameters: ?1 to ?13, the columns in the order of the table.
-- Columns: none.
INSERT INTO unattributed (
    cluster_no, id, rate_mcores, used_mcs, started_s, ended_s, at_ms, content, account, user_name,
    cores, memory_mib, gpus
)
VALUES (
    ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13
)
ON CONFLICT (cluster_no, id) DO UPDATE SET
    rate_mcores = excluded.rate_mcores,
    used_mcs = excluded.used_mcs,
    started_s = excluded.started_s,
    ended_s = excluded.ended_s,
    at_ms = excluded.at_ms,
    content = excluded.content,
    account = excluded.account,
    user_name = excluded.user_name,
    cores = excluded.cores,
    memory_mib = excluded.memory_mib,
    gpus = excluded.gpus;

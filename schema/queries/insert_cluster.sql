-- insert_cluster: a cluster that is new; its key must not be there.
-- Parameters: ?1 to ?20, the columns in the order of the table.
-- Columns: none.
INSERT INTO cluster (
    cluster_no, kind, mode, on_insufficient, on_exhausted, fail_policy, state, window_s,
    stop_grace_s, ttl_s, heartbeat_s, stale_after_s, agent_seen_s, agent_resumed_s, feed_seq,
    used_until_s, version, created_ms, name, roots
)
VALUES (
    ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20
);

-- put_cluster: a cluster, new or in place of the one with its key.
-- Parameters: ?1 to ?20, the columns in the order of the table.
-- Columns: none.
INSERT INTO cluster (
    cluster_no, kind, mode, on_insufficient, on_exhausted, fail_policy, state, window_s,
    stop_grace_s, ttl_s, heartbeat_s, stale_after_s, agent_seen_s, agent_resumed_s, feed_seq,
    used_until_s, version, created_ms, name, roots
)
VALUES (
    ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20
)
ON CONFLICT (cluster_no) DO UPDATE SET
    kind = excluded.kind,
    mode = excluded.mode,
    on_insufficient = excluded.on_insufficient,
    on_exhausted = excluded.on_exhausted,
    fail_policy = excluded.fail_policy,
    state = excluded.state,
    window_s = excluded.window_s,
    stop_grace_s = excluded.stop_grace_s,
    ttl_s = excluded.ttl_s,
    heartbeat_s = excluded.heartbeat_s,
    stale_after_s = excluded.stale_after_s,
    agent_seen_s = excluded.agent_seen_s,
    agent_resumed_s = excluded.agent_resumed_s,
    feed_seq = excluded.feed_seq,
    used_until_s = excluded.used_until_s,
    version = excluded.version,
    created_ms = excluded.created_ms,
    name = excluded.name,
    roots = excluded.roots;

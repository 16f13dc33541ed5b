-- get_cluster: a cluster, by its key.
-- Parameters: ?1 cluster_no.
-- Columns: all of cluster, in the order of the table; at most one row.
SELECT
    cluster_no, kind, mode, on_insufficient, on_exhausted, fail_policy, state, window_s,
    stop_grace_s, ttl_s, heartbeat_s, stale_after_s, agent_seen_s, agent_resumed_s, feed_seq,
    used_until_s, version, created_ms, name, roots
FROM cluster
WHERE cluster_no = ?1;

-- update_cluster: a cluster that is there, found by its key; no row is changed when it is not.
-- Parameters: ?1 to ?20, the columns in the order of the table.
-- Columns: none.
UPDATE cluster
SET
    kind = ?2,
    mode = ?3,
    on_insufficient = ?4,
    on_exhausted = ?5,
    fail_policy = ?6,
    state = ?7,
    window_s = ?8,
    stop_grace_s = ?9,
    ttl_s = ?10,
    heartbeat_s = ?11,
    stale_after_s = ?12,
    agent_seen_s = ?13,
    agent_resumed_s = ?14,
    feed_seq = ?15,
    used_until_s = ?16,
    version = ?17,
    created_ms = ?18,
    name = ?19,
    roots = ?20
WHERE cluster_no = ?1;

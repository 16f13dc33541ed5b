-- put_feed_event: an event of a cluster's feed, new or in place of the one with its key.
-- Parameters: ?1 to ?7, the columns in the order of the table.
-- Columns: none.
INSERT INTO feed_event (
    cluster_no, seq, type, hold_no, at_ms, tasks, message
)
VALUES (
    ?1, ?2, ?3, ?4, ?5, ?6, ?7
)
ON CONFLICT (cluster_no, seq) DO UPDATE SET
    type = excluded.type,
    hold_no = excluded.hold_no,
    at_ms = excluded.at_ms,
    tasks = excluded.tasks,
    message = excluded.message;

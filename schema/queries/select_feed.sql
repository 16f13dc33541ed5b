-- select_feed: events of a cluster after a number.
-- Parameters: ?1 cluster_no, ?2 seq, exclusive, ?3 at most so many rows.
-- Columns: all of feed_event, in the order of the table.
SELECT
    cluster_no, seq, type, hold_no, at_ms, tasks, message
FROM feed_event
WHERE cluster_no = ?1
    AND seq > ?2
ORDER BY seq
LIMIT ?3;

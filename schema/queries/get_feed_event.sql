-- get_feed_event: an event of a cluster's feed, by its key.
-- Parameters: ?1 cluster_no, ?2 seq.
-- Columns: all of feed_event, in the order of the table; at most one row.
SELECT
    cluster_no, seq, type, hold_no, at_ms, tasks, message
FROM feed_event
WHERE cluster_no = ?1
    AND seq = ?2;

-- remove_feed_event: an event of a cluster's feed, by its key; none there is no error.
-- Parameters: ?1 cluster_no, ?2 seq.
-- Columns: none.
DELETE FROM feed_event
WHERE cluster_no = ?1
    AND seq = ?2;

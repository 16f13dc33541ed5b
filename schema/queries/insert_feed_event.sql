-- insert_feed_event: an event of a cluster's feed that is new; its key must not be there.
-- Parameters: ?1 to ?7, the columns in the order of the table.
-- Columns: none.
INSERT INTO feed_event (
    cluster_no, seq, type, hold_no, at_ms, tasks, message
)
VALUES (
    ?1, ?2, ?3, ?4, ?5, ?6, ?7
);

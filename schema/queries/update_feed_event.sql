-- update_feed_event: an event of a cluster's feed that is there, found by its key; no row is
--   changed when it is not.
-- Parameters: ?1 to ?7, the columns in the order of the table.
-- Columns: none.
UPDATE feed_event
SET
    type = ?3,
    hold_no = ?4,
    at_ms = ?5,
    tasks = ?6,
    message = ?7
WHERE cluster_no = ?1
    AND seq = ?2;

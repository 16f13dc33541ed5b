-- select_deliveries_due: deliveries of a webhook that wait to be tried, those due up to a time.
-- Parameters: ?1 webhook_no, ?2 next_ms, the last one, ?3 at most so many rows.
-- Columns: all of delivery, in the order of the table.
SELECT
    delivery_no, webhook_no, alert_no, state, tries, next_ms, at_ms, done_ms, status, error
FROM delivery
WHERE state = 0
    AND webhook_no = ?1
    AND next_ms <= ?2
ORDER BY next_ms, delivery_no
LIMIT ?3;

-- select_deliveries_done: deliveries that arrived or were given up, up to a time.
-- Parameters: ?1 done_ms, the last one, ?2 at most so many rows.
-- Columns: all of delivery, in the order of the table.
SELECT
    delivery_no, webhook_no, alert_no, state, tries, next_ms, at_ms, done_ms, status, error
FROM delivery
WHERE state <> 0
    AND done_ms <= ?1
ORDER BY done_ms, delivery_no
LIMIT ?2;

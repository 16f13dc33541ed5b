-- select_deliveries_pending: deliveries that wait, webhook by webhook, the first to be tried first.
-- Parameters: ?1 webhook_no, exclusive, ?2 at most so many rows.
-- Columns: all of delivery, in the order of the table.
SELECT
    delivery_no, webhook_no, alert_no, state, tries, next_ms, at_ms, done_ms, status, error
FROM delivery
WHERE state = 0
    AND webhook_no > ?1
ORDER BY webhook_no, next_ms, delivery_no
LIMIT ?2;

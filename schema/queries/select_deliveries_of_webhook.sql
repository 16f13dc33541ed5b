-- select_deliveries_of_webhook: deliveries of a webhook, the newest first.
-- Parameters: ?1 webhook_no, ?2 delivery_no, exclusive, ?3 at most so many rows.
-- Columns: all of delivery, in the order of the table.
SELECT
    delivery_no, webhook_no, alert_no, state, tries, next_ms, at_ms, done_ms, status, error
FROM delivery
WHERE webhook_no = ?1
    AND delivery_no < ?2
ORDER BY delivery_no DESC
LIMIT ?3;

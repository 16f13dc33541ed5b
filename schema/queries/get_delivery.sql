-- get_delivery: a delivery, by its key.
-- Parameters: ?1 delivery_no.
-- Columns: all of delivery, in the order of the table; at most one row.
SELECT
    delivery_no, webhook_no, alert_no, state, tries, next_ms, at_ms, done_ms, status, error
FROM delivery
WHERE delivery_no = ?1;

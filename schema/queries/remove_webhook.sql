-- remove_webhook: a webhook, by its key; none there is no error.
-- Parameters: ?1 webhook_no.
-- Columns: none.
DELETE FROM webhook
WHERE webhook_no = ?1;

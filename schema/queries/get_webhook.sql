-- get_webhook: a webhook, by its key.
-- Parameters: ?1 webhook_no.
-- Columns: all of webhook, in the order of the table; at most one row.
SELECT
    webhook_no, root_no, node_no, types, disabled, grant_days, version, created_ms,
    old_until_ms, name, url, secret, old_secret, pending
FROM webhook
WHERE webhook_no = ?1;

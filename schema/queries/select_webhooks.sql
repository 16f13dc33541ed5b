-- select_webhooks: all webhooks.
-- Parameters: ?1 at most so many rows.
-- Columns: all of webhook, in the order of the table.
SELECT
    webhook_no, root_no, node_no, types, disabled, grant_days, version, created_ms,
    old_until_ms, name, url, secret, old_secret, pending
FROM webhook
ORDER BY webhook_no
LIMIT ?1;

-- insert_webhook: a webhook that is new; its key must not be there.
-- Parameters: ?1 to ?14, the columns in the order of the table.
-- Columns: none.
INSERT INTO webhook (
    webhook_no, root_no, node_no, types, disabled, grant_days, version, created_ms,
    old_until_ms, name, url, secret, old_secret, pending
)
VALUES (
    ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14
);

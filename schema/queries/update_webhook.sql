-- update_webhook: a webhook that is there, found by its key; no row is changed when it is
--   not.
-- Parameters: ?1 to ?14, the columns in the order of the table.
-- Columns: none.
UPDATE webhook
SET
    root_no = ?2,
    node_no = ?3,
    types = ?4,
    disabled = ?5,
    grant_days = ?6,
    version = ?7,
    created_ms = ?8,
    old_until_ms = ?9,
    name = ?10,
    url = ?11,
    secret = ?12,
    old_secret = ?13,
    pending = ?14
WHERE webhook_no = ?1;

-- update_root_state: what a root counts on that is there, found by its key; no row is changed
--   when it is not.
-- Parameters: ?1 to ?9, the columns in the order of the table.
-- Columns: none.
UPDATE root_state
SET
    last_seq = ?2,
    last_txn = ?3,
    last_wait = ?4,
    last_ms = ?5,
    turned_month = ?6,
    oldest_open_month = ?7,
    hash = ?8,
    last_audit = ?9
WHERE root_no = ?1;

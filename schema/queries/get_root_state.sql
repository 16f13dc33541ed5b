-- get_root_state: what a root counts on, by its key.
-- Parameters: ?1 root_no.
-- Columns: all of root_state, in the order of the table; at most one row.
SELECT
    root_no, last_seq, last_txn, last_wait, last_ms, turned_month, oldest_open_month, hash,
    last_audit
FROM root_state
WHERE root_no = ?1;

-- select_all_root_states: the whole table, by key, for the check of the ledger.
-- Parameters: ?1 at most so many rows.
-- Columns: all of root_state, in the order of the table.
SELECT
    root_no, last_seq, last_txn, last_wait, last_ms, turned_month, oldest_open_month, hash,
    last_audit
FROM root_state
ORDER BY root_no
LIMIT ?1;

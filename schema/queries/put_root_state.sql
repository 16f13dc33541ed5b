-- put_root_state: what a root counts on, new or in place of the one with its key.
-- Parameters: ?1 to ?8, the columns in the order of the table.
-- Columns: none.
INSERT INTO root_state (
    root_no, last_seq, last_txn, last_wait, last_ms, turned_month, oldest_open_month, hash
)
VALUES (
    ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8
)
ON CONFLICT (root_no) DO UPDATE SET
    last_seq = excluded.last_seq,
    last_txn = excluded.last_txn,
    last_wait = excluded.last_wait,
    last_ms = excluded.last_ms,
    turned_month = excluded.turned_month,
    oldest_open_month = excluded.oldest_open_month,
    hash = excluded.hash;

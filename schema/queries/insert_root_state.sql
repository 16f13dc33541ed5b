-- insert_root_state: what a root counts on that is new; its key must not be there.
-- Parameters: ?1 to ?9, the columns in the order of the table.
-- Columns: none.
INSERT INTO root_state (
    root_no, last_seq, last_txn, last_wait, last_ms, turned_month, oldest_open_month, hash,
    last_audit
)
VALUES (
    ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9
);

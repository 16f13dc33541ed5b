-- insert_chain_link: a link of a root's chain that is new; its key must not be there.
-- Parameters: ?1 to ?8, the columns in the order of the table.
-- Columns: none.
INSERT INTO chain_link (
    root_no, txn_no, first_seq, last_seq, at_ms, hash, first_audit, last_audit
)
VALUES (
    ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8
);

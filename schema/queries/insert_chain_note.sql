-- insert_chain_note: a note of a root's chain that is new; its key must not be there.
-- Parameters: ?1 to ?7, the columns in the order of the table.
-- Columns: none.
INSERT INTO chain_note (
    root_no, txn_no, note_no, kind, subject, at_ms, digest
)
VALUES (
    ?1, ?2, ?3, ?4, ?5, ?6, ?7
);

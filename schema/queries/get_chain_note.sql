-- get_chain_note: a note of a root's chain, by its key.
-- Parameters: ?1 root_no, ?2 txn_no, ?3 note_no.
-- Columns: all of chain_note, in the order of the table; at most one row.
SELECT
    root_no, txn_no, note_no, kind, subject, at_ms, digest
FROM chain_note
WHERE root_no = ?1
    AND txn_no = ?2
    AND note_no = ?3;

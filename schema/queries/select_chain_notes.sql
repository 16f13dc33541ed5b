-- select_chain_notes: notes of a root's chain after a transaction.
-- Parameters: ?1 root_no, ?2 txn_no, exclusive, ?3 at most so many rows.
-- Columns: all of chain_note, in the order of the table.
SELECT
    root_no, txn_no, note_no, kind, subject, at_ms, digest
FROM chain_note
WHERE root_no = ?1
    AND txn_no > ?2
ORDER BY txn_no, note_no
LIMIT ?3;

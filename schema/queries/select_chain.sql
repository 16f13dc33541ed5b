-- select_chain: chain of a root after a transaction.
-- Parameters: ?1 root_no, ?2 txn_no, exclusive, ?3 at most so many rows.
-- Columns: all of chain_link, in the order of the table.
SELECT
    root_no, txn_no, first_seq, last_seq, at_ms, hash, first_audit, last_audit
FROM chain_link
WHERE root_no = ?1
    AND txn_no > ?2
ORDER BY txn_no
LIMIT ?3;

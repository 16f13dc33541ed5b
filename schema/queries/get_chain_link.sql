-- get_chain_link: a link of a root's chain, by its key.
-- Parameters: ?1 root_no, ?2 txn_no.
-- Columns: all of chain_link, in the order of the table; at most one row.
SELECT
    root_no, txn_no, first_seq, last_seq, at_ms, hash, first_audit, last_audit
FROM chain_link
WHERE root_no = ?1
    AND txn_no = ?2;

-- select_payer_months_after: months of a root's payers after a month.
-- Parameters: ?1 root_no, ?2 month, exclusive, ?3 at most so many rows.
-- Columns: all of payer_month, in the order of the table.
SELECT
    node_no, month, root_no, granted_mcs, in_mcs, out_mcs, withdrawn_mcs, used_mcs, refunded_mcs,
    corrected_mcs, expired_mcs
FROM payer_month
WHERE root_no = ?1
    AND month > ?2
ORDER BY month, node_no
LIMIT ?3;

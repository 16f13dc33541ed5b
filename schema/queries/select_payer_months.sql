-- select_payer_months: months of a payer, in order.
-- Parameters: ?1 node_no, ?2 at most so many rows.
-- Columns: all of payer_month, in the order of the table.
SELECT
    node_no, month, root_no, granted_mcs, in_mcs, out_mcs, withdrawn_mcs, used_mcs, refunded_mcs,
    corrected_mcs, expired_mcs
FROM payer_month
WHERE node_no = ?1
ORDER BY month
LIMIT ?2;

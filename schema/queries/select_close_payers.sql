-- select_close_payers: months of payers after the one that was closed.
-- Parameters: ?1 root_no, ?2 month, ?3 at most so many rows.
-- Columns: all of close_payer, in the order of the table.
SELECT
    root_no, month, booked_month, node_no, granted_mcs, in_mcs, out_mcs, withdrawn_mcs, used_mcs,
    refunded_mcs, corrected_mcs, expired_mcs
FROM close_payer
WHERE root_no = ?1
    AND month = ?2
ORDER BY booked_month, node_no
LIMIT ?3;

-- get_close_payer: a payer's later month as it stood at a close, by its key.
-- Parameters: ?1 root_no, ?2 month, ?3 booked_month, ?4 node_no.
-- Columns: all of close_payer, in the order of the table; at most one row.
SELECT
    root_no, month, booked_month, node_no, granted_mcs, in_mcs, out_mcs, withdrawn_mcs, used_mcs,
    refunded_mcs, corrected_mcs, expired_mcs
FROM close_payer
WHERE root_no = ?1
    AND month = ?2
    AND booked_month = ?3
    AND node_no = ?4;

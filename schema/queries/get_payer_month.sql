-- get_payer_month: what a payer's account moved by in a month, by its key.
-- Parameters: ?1 node_no, ?2 month.
-- Columns: all of payer_month, in the order of the table; at most one row.
SELECT
    node_no, month, root_no, granted_mcs, in_mcs, out_mcs, withdrawn_mcs, used_mcs, refunded_mcs,
    corrected_mcs, expired_mcs
FROM payer_month
WHERE node_no = ?1
    AND month = ?2;

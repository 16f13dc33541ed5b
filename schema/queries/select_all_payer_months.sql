-- select_all_payer_months: the whole table, by key, for the check of the ledger.
-- Parameters: ?1 at most so many rows.
-- Columns: all of payer_month, in the order of the table.
SELECT
    node_no, month, root_no, granted_mcs, in_mcs, out_mcs, withdrawn_mcs, used_mcs, refunded_mcs,
    corrected_mcs, expired_mcs
FROM payer_month
ORDER BY node_no, month
LIMIT ?1;

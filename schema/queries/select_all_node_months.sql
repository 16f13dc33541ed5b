-- select_all_node_months: the whole table, by key, for the check of the ledger.
-- Parameters: ?1 at most so many rows.
-- Columns: all of node_month, in the order of the table.
SELECT
    node_no, month, used_mcs
FROM node_month
ORDER BY node_no, month
LIMIT ?1;

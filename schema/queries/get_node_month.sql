-- get_node_month: usage of a node in a month, by its key.
-- Parameters: ?1 node_no, ?2 month.
-- Columns: all of node_month, in the order of the table; at most one row.
SELECT
    node_no, month, used_mcs
FROM node_month
WHERE node_no = ?1
    AND month = ?2;

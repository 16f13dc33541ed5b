-- remove_node_month: usage of a node in a month, by its key; none there is no error.
-- Parameters: ?1 node_no, ?2 month.
-- Columns: none.
DELETE FROM node_month
WHERE node_no = ?1
    AND month = ?2;

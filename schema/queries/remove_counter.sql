-- remove_counter: what a node and all below it have now, by its key; none there is no error.
-- Parameters: ?1 node_no.
-- Columns: none.
DELETE FROM counter
WHERE node_no = ?1;

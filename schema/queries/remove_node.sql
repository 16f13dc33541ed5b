-- remove_node: an organization, project or member, by its key; none there is no error.
-- Parameters: ?1 node_no.
-- Columns: none.
DELETE FROM node
WHERE node_no = ?1;

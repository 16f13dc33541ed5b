-- update_node_month: usage of a node in a month that is there, found by its key; no row is
--   changed when it is not.
-- Parameters: ?1 to ?3, the columns in the order of the table.
-- Columns: none.
UPDATE node_month
SET
    used_mcs = ?3
WHERE node_no = ?1
    AND month = ?2;

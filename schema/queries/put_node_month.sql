-- put_node_month: usage of a node in a month, new or in place of the one with its key.
-- Parameters: ?1 to ?3, the columns in the order of the table.
-- Columns: none.
INSERT INTO node_month (
    node_no, month, used_mcs
)
VALUES (
    ?1, ?2, ?3
)
ON CONFLICT (node_no, month) DO UPDATE SET
    used_mcs = excluded.used_mcs;

-- insert_node_month: usage of a node in a month that is new; its key must not be there.
-- Parameters: ?1 to ?3, the columns in the order of the table.
-- Columns: none.
INSERT INTO node_month (
    node_no, month, used_mcs
)
VALUES (
    ?1, ?2, ?3
);

-- insert_hold_id: the id of a hold that is new; its key must not be there.
-- Parameters: ?1 to ?3, the columns in the order of the table.
-- Columns: none.
INSERT INTO hold_id (
    cluster_no, id, hold_no
)
VALUES (
    ?1, ?2, ?3
);

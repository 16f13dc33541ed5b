-- insert_sequence: a last number given out that is new; its key must not be there.
-- Parameters: ?1 to ?2, the columns in the order of the table.
-- Columns: none.
INSERT INTO sequence (
    name, last_no
)
VALUES (
    ?1, ?2
);

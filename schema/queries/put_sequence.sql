-- put_sequence: a last number given out, new or in place of the one with its key.
-- Parameters: ?1 to ?2, the columns in the order of the table.
-- Columns: none.
INSERT INTO sequence (
    name, last_no
)
VALUES (
    ?1, ?2
)
ON CONFLICT (name) DO UPDATE SET
    last_no = excluded.last_no;

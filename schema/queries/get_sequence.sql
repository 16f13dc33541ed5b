-- get_sequence: a last number given out, by its key.
-- Parameters: ?1 name.
-- Columns: all of sequence, in the order of the table; at most one row.
SELECT
    name, last_no
FROM sequence
WHERE name = ?1;

-- remove_sequence: a last number given out, by its key; none there is no error.
-- Parameters: ?1 name.
-- Columns: none.
DELETE FROM sequence
WHERE name = ?1;

-- update_sequence: a last number given out that is there, found by its key; no row is changed
--   when it is not.
-- Parameters: ?1 to ?2, the columns in the order of the table.
-- Columns: none.
UPDATE sequence
SET
    last_no = ?2
WHERE name = ?1;

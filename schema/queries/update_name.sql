-- update_name: a name and what it leads to that is there, found by its key; no row is changed
--   when it is not.
-- Parameters: ?1 to ?6, the columns in the order of the table.
-- Columns: none.
UPDATE name
SET
    target_no = ?4,
    target = ?5,
    version = ?6
WHERE space = ?1
    AND scope_no = ?2
    AND name = ?3;

-- remove_name: a name and what it leads to, by its key; none there is no error.
-- Parameters: ?1 space, ?2 scope_no, ?3 name.
-- Columns: none.
DELETE FROM name
WHERE space = ?1
    AND scope_no = ?2
    AND name = ?3;

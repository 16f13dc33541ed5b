-- get_name: a name and what it leads to, by its key.
-- Parameters: ?1 space, ?2 scope_no, ?3 name.
-- Columns: all of name, in the order of the table; at most one row.
SELECT
    space, scope_no, name, target_no, target, version
FROM name
WHERE space = ?1
    AND scope_no = ?2
    AND name = ?3;

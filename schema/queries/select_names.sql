-- select_names: names of a space and scope after a name, byte by byte.
-- Parameters: ?1 space, ?2 scope_no, ?3 name, exclusive, ?4 at most so many rows.
-- Columns: all of name, in the order of the table.
SELECT
    space, scope_no, name, target_no, target, version
FROM name
WHERE space = ?1
    AND scope_no = ?2
    AND name > ?3
ORDER BY name
LIMIT ?4;

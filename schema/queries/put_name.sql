-- put_name: a name and what it leads to, new or in place of the one with its key.
-- Parameters: ?1 to ?6, the columns in the order of the table.
-- Columns: none.
INSERT INTO name (
    space, scope_no, name, target_no, target, version
)
VALUES (
    ?1, ?2, ?3, ?4, ?5, ?6
)
ON CONFLICT (space, scope_no, name) DO UPDATE SET
    target_no = excluded.target_no,
    target = excluded.target,
    version = excluded.version;

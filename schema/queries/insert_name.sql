-- insert_name: a name and what it leads to that is new; its key must not be there.
-- Parameters: ?1 to ?6, the columns in the order of the table.
-- Columns: none.
INSERT INTO name (
    space, scope_no, name, target_no, target, version
)
VALUES (
    ?1, ?2, ?3, ?4, ?5, ?6
);

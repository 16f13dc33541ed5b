-- insert_audit: a change by a person that is new; its key must not be there.
-- Parameters: ?1 to ?17, the columns in the order of the table.
-- Columns: none.
INSERT INTO audit (
    audit_no, root_no, seq, at_ms, node_no, other_no, token_no, role, renamed_no, content, action,
    who, name, address, what, value_before, value_after
)
VALUES (
    ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17
);

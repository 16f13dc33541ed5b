-- get_audit: a change by a person, by its key.
-- Parameters: ?1 audit_no.
-- Columns: all of audit, in the order of the table; at most one row.
SELECT
    audit_no, root_no, seq, at_ms, node_no, other_no, token_no, role, renamed_no, content, action,
    who, name, address, what, value_before, value_after
FROM audit
WHERE audit_no = ?1;

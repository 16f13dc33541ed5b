-- select_audit: changes by people after a number, in an interval of time.
-- Parameters: ?1 audit_no, exclusive, ?2 at_ms from, ?3 at_ms to, exclusive, ?4 at most so many rows.
-- Columns: all of audit, in the order of the table.
SELECT
    audit_no, root_no, seq, at_ms, node_no, other_no, token_no, role, renamed_no, content, action,
    who, name, address, what, value_before, value_after
FROM audit
WHERE audit_no > ?1
    AND at_ms >= ?2
    AND at_ms < ?3
ORDER BY audit_no
LIMIT ?4;

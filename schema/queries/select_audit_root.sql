-- select_audit_root: changes by people in a root after a number, in an interval of time.
-- Parameters: ?1 root_no, ?2 audit_no, exclusive, ?3 at_ms from, ?4 at_ms to, exclusive, ?5 at most so
--   many rows.
-- Columns: all of audit, in the order of the table.
SELECT
    audit_no, root_no, seq, at_ms, node_no, other_no, token_no, role, renamed_no, content, action,
    who, name, address, what, value_before, value_after
FROM audit
WHERE root_no = ?1
    AND audit_no > ?2
    AND at_ms >= ?3
    AND at_ms < ?4
ORDER BY audit_no
LIMIT ?5;

-- remove_audit: a change by a person, by its key; none there is no error.
-- Parameters: ?1 audit_no.
-- Columns: none.
DELETE FROM audit
WHERE audit_no = ?1;

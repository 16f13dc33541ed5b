-- update_audit: a change by a person that is there, found by its key; no row is changed when it is
--   not.
-- Parameters: ?1 to ?17, the columns in the order of the table.
-- Columns: none.
UPDATE audit
SET
    root_no = ?2,
    seq = ?3,
    at_ms = ?4,
    node_no = ?5,
    other_no = ?6,
    token_no = ?7,
    role = ?8,
    renamed_no = ?9,
    content = ?10,
    action = ?11,
    who = ?12,
    name = ?13,
    address = ?14,
    what = ?15,
    value_before = ?16,
    value_after = ?17
WHERE audit_no = ?1;

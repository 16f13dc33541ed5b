-- update_grant: a grant that is there, found by its key; no row is changed when it is not.
--   root_no, node_no, start_s, end_s never change and stay as inserted.
-- Parameters: ?1 to ?19, the columns in the order of the table.
-- Columns: none.
UPDATE "grant"
SET
    kind = ?4,
    ended = ?5,
    granted_mcs = ?8,
    in_mcs = ?9,
    out_mcs = ?10,
    withdrawn_mcs = ?11,
    moved_mcs = ?12,
    available_mcs = ?13,
    frozen_mcs = ?14,
    used_mcs = ?15,
    expired_mcs = ?16,
    created_ms = ?17,
    id = ?18,
    note = ?19
WHERE grant_no = ?1;

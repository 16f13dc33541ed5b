-- get_grant: a grant, by its key.
-- Parameters: ?1 grant_no.
-- Columns: all of grant, in the order of the table; at most one row.
SELECT
    grant_no, root_no, node_no, kind, ended, start_s, end_s, granted_mcs, in_mcs, out_mcs,
    withdrawn_mcs, moved_mcs, available_mcs, frozen_mcs, used_mcs, expired_mcs, created_ms, id, note
FROM "grant"
WHERE grant_no = ?1;

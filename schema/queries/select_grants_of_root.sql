-- select_grants_of_root: all grants of a root, for its closes; a walk through the table.
-- Parameters: ?1 root_no, ?2 at most so many rows.
-- Columns: all of grant, in the order of the table.
SELECT
    grant_no, root_no, node_no, kind, ended, start_s, end_s, granted_mcs, in_mcs, out_mcs,
    withdrawn_mcs, moved_mcs, available_mcs, frozen_mcs, used_mcs, expired_mcs, created_ms, id, note
FROM "grant"
WHERE root_no = ?1
ORDER BY grant_no
LIMIT ?2;

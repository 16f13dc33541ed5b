-- select_grants_due: grants that are over and whose rest has not expired yet.
-- Parameters: ?1 end_s, the last one, ?2 at most so many rows.
-- Columns: all of grant, in the order of the table.
SELECT
    grant_no, root_no, node_no, kind, ended, start_s, end_s, granted_mcs, in_mcs, out_mcs,
    withdrawn_mcs, moved_mcs, available_mcs, frozen_mcs, used_mcs, expired_mcs, created_ms, id, note
FROM "grant"
WHERE ended = 0
    AND end_s <= ?1
ORDER BY end_s, grant_no
LIMIT ?2;

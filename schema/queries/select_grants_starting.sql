-- select_grants_starting: grants that become valid in an interval: they make room.
-- Parameters: ?1 start_s, exclusive, ?2 start_s, the last one, ?3 at most so many rows.
-- Columns: all of grant, in the order of the table.
SELECT
    grant_no, root_no, node_no, kind, ended, start_s, end_s, granted_mcs, in_mcs, out_mcs,
    withdrawn_mcs, moved_mcs, available_mcs, frozen_mcs, used_mcs, expired_mcs, created_ms, id, note
FROM "grant"
WHERE start_s > ?1
    AND start_s <= ?2
ORDER BY start_s, grant_no
LIMIT ?3;

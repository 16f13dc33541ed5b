-- select_all_grants: the whole table, by key, for the check of the ledger.
-- Parameters: ?1 at most so many rows.
-- Columns: all of grant, in the order of the table.
SELECT
    grant_no, root_no, node_no, kind, ended, start_s, end_s, granted_mcs, in_mcs, out_mcs,
    withdrawn_mcs, moved_mcs, available_mcs, frozen_mcs, used_mcs, expired_mcs, created_ms, id, note
FROM "grant"
ORDER BY grant_no
LIMIT ?1;

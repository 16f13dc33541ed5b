-- select_close_grants: the accounts of grants at the close of a month.
-- Parameters: ?1 root_no, ?2 month, ?3 at most so many rows.
-- Columns: all of close_grant, in the order of the table.
SELECT
    root_no, month, grant_no, node_no, granted_mcs, in_mcs, out_mcs, withdrawn_mcs, moved_mcs,
    available_mcs, frozen_mcs, used_mcs, expired_mcs
FROM close_grant
WHERE root_no = ?1
    AND month = ?2
ORDER BY grant_no
LIMIT ?3;

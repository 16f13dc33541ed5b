-- get_close_grant: the accounts of a grant at a close, by its key.
-- Parameters: ?1 root_no, ?2 month, ?3 grant_no.
-- Columns: all of close_grant, in the order of the table; at most one row.
SELECT
    root_no, month, grant_no, node_no, granted_mcs, in_mcs, out_mcs, withdrawn_mcs, moved_mcs,
    available_mcs, frozen_mcs, used_mcs, expired_mcs
FROM close_grant
WHERE root_no = ?1
    AND month = ?2
    AND grant_no = ?3;

-- insert_close_grant: the accounts of a grant at a close that is new; its key must not be there.
-- Parameters: ?1 to ?13, the columns in the order of the table.
-- Columns: none.
INSERT INTO close_grant (
    root_no, month, grant_no, node_no, granted_mcs, in_mcs, out_mcs, withdrawn_mcs, moved_mcs,
    available_mcs, frozen_mcs, used_mcs, expired_mcs
)
VALUES (
    ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13
);

-- insert_grant: a grant that is new; its key must not be there.
-- Parameters: ?1 to ?19, the columns in the order of the table.
-- Columns: none.
INSERT INTO "grant" (
    grant_no, root_no, node_no, kind, ended, start_s, end_s, granted_mcs, in_mcs, out_mcs,
    withdrawn_mcs, moved_mcs, available_mcs, frozen_mcs, used_mcs, expired_mcs, created_ms, id, note
)
VALUES (
    ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19
);

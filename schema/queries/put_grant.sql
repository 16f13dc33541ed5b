-- put_grant: a grant, new or in place of the one with its key.
-- Parameters: ?1 to ?19, the columns in the order of the table.
-- Columns: none.
INSERT INTO "grant" (
    grant_no, root_no, node_no, kind, ended, start_s, end_s, granted_mcs, in_mcs, out_mcs,
    withdrawn_mcs, moved_mcs, available_mcs, frozen_mcs, used_mcs, expired_mcs, created_ms, id, note
)
VALUES (
    ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19
)
ON CONFLICT (grant_no) DO UPDATE SET
    root_no = excluded.root_no,
    node_no = excluded.node_no,
    kind = excluded.kind,
    ended = excluded.ended,
    start_s = excluded.start_s,
    end_s = excluded.end_s,
    granted_mcs = excluded.granted_mcs,
    in_mcs = excluded.in_mcs,
    out_mcs = excluded.out_mcs,
    withdrawn_mcs = excluded.withdrawn_mcs,
    moved_mcs = excluded.moved_mcs,
    available_mcs = excluded.available_mcs,
    frozen_mcs = excluded.frozen_mcs,
    used_mcs = excluded.used_mcs,
    expired_mcs = excluded.expired_mcs,
    created_ms = excluded.created_ms,
    id = excluded.id,
    note = excluded.note;

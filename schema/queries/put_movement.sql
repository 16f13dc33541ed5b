-- put_movement: a grant, transfer or withdrawal as commanded, new or in place of the one with
--   its key.
-- Parameters: ?1 to ?11, the columns in the order of the table.
-- Columns: none.
INSERT INTO movement (
    movement_no, root_no, kind, from_no, to_no, grant_no, amount_mcs, at_ms, content, id, note
)
VALUES (
    ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11
)
ON CONFLICT (movement_no) DO UPDATE SET
    root_no = excluded.root_no,
    kind = excluded.kind,
    from_no = excluded.from_no,
    to_no = excluded.to_no,
    grant_no = excluded.grant_no,
    amount_mcs = excluded.amount_mcs,
    at_ms = excluded.at_ms,
    content = excluded.content,
    id = excluded.id,
    note = excluded.note;

-- insert_movement: a grant, transfer or withdrawal as commanded that is new; its key must not be
--   there.
-- Parameters: ?1 to ?11, the columns in the order of the table.
-- Columns: none.
INSERT INTO movement (
    movement_no, root_no, kind, from_no, to_no, grant_no, amount_mcs, at_ms, content, id, note
)
VALUES (
    ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11
);

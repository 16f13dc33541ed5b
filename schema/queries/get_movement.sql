-- get_movement: a grant, transfer or withdrawal as commanded, by its key.
-- Parameters: ?1 movement_no.
-- Columns: all of movement, in the order of the table; at most one row.
SELECT
    movement_no, root_no, kind, from_no, to_no, grant_no, amount_mcs, at_ms, content, id, note
FROM movement
WHERE movement_no = ?1;

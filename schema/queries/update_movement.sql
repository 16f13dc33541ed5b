-- update_movement: a grant, transfer or withdrawal as commanded that is there, found by its key;
--   no row is changed when it is not.
-- Parameters: ?1 to ?11, the columns in the order of the table.
-- Columns: none.
UPDATE movement
SET
    root_no = ?2,
    kind = ?3,
    from_no = ?4,
    to_no = ?5,
    grant_no = ?6,
    amount_mcs = ?7,
    at_ms = ?8,
    content = ?9,
    id = ?10,
    note = ?11
WHERE movement_no = ?1;

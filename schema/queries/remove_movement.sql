-- remove_movement: a grant, transfer or withdrawal as commanded, by its key; none there is no
--   error.
-- Parameters: ?1 movement_no.
-- Columns: none.
DELETE FROM movement
WHERE movement_no = ?1;

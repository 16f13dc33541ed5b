-- update_zone_step: an offset of a root's zone that is there, found by its key; no row is
--   changed when it is not.
-- Parameters: ?1 to ?4, the columns in the order of the table.
-- Columns: none.
UPDATE zone_step
SET
    at_s = ?3,
    offset_s = ?4
WHERE root_no = ?1
    AND step = ?2;

-- remove_zone_step: an offset of a root's zone, by its key; none there is no error.
-- Parameters: ?1 root_no, ?2 step.
-- Columns: none.
DELETE FROM zone_step
WHERE root_no = ?1
    AND step = ?2;

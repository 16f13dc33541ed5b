-- get_zone_step: an offset of a root's zone, by its key.
-- Parameters: ?1 root_no, ?2 step.
-- Columns: all of zone_step, in the order of the table; at most one row.
SELECT
    root_no, step, at_s, offset_s
FROM zone_step
WHERE root_no = ?1
    AND step = ?2;

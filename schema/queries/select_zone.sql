-- select_zone: the offsets of a root.
-- Parameters: ?1 root_no, ?2 at most so many rows.
-- Columns: all of zone_step, in the order of the table.
SELECT
    root_no, step, at_s, offset_s
FROM zone_step
WHERE root_no = ?1
ORDER BY step
LIMIT ?2;

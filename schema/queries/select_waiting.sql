-- select_waiting: the queue of a root.
-- Parameters: ?1 root_no, ?2 at most so many rows.
-- Columns: all of waiting, in the order of the table.
SELECT
    root_no, wait_no, hold_no, task, dims_no, limits
FROM waiting
WHERE root_no = ?1
ORDER BY wait_no
LIMIT ?2;

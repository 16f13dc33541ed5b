-- get_waiting: a place in the queue of a root, by its key.
-- Parameters: ?1 root_no, ?2 wait_no.
-- Columns: all of waiting, in the order of the table; at most one row.
SELECT
    root_no, wait_no, hold_no, task, dims_no, limits
FROM waiting
WHERE root_no = ?1
    AND wait_no = ?2;

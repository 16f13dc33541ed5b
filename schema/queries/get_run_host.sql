-- get_run_host: a host of a run, by its key.
-- Parameters: ?1 hold_no, ?2 task, ?3 attempt, ?4 host.
-- Columns: all of run_host, in the order of the table; at most one row.
SELECT
    hold_no, task, attempt, host
FROM run_host
WHERE hold_no = ?1
    AND task = ?2
    AND attempt = ?3
    AND host = ?4;

-- select_run_hosts: hosts of the runs of a hold.
-- Parameters: ?1 hold_no, ?2 at most so many rows.
-- Columns: all of run_host, in the order of the table.
SELECT
    hold_no, task, attempt, host
FROM run_host
WHERE hold_no = ?1
ORDER BY task, attempt, host
LIMIT ?2;

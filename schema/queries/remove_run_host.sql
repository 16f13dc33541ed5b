-- remove_run_host: a host of a run, by its key; none there is no error.
-- Parameters: ?1 hold_no, ?2 task, ?3 attempt, ?4 host.
-- Columns: none.
DELETE FROM run_host
WHERE hold_no = ?1
    AND task = ?2
    AND attempt = ?3
    AND host = ?4;

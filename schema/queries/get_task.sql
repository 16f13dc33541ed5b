-- get_task: a task, by its key.
-- Parameters: ?1 hold_no, ?2 task.
-- Columns: all of task, in the order of the table; at most one row.
SELECT
    hold_no, task, state, attempt, older_open, wait_no
FROM task
WHERE hold_no = ?1
    AND task = ?2;

-- select_tasks_of_hold: touched tasks of a hold.
-- Parameters: ?1 hold_no, ?2 task, exclusive, ?3 at most so many rows.
-- Columns: all of task, in the order of the table.
SELECT
    hold_no, task, state, attempt, older_open, wait_no
FROM task
WHERE hold_no = ?1
    AND task > ?2
ORDER BY task
LIMIT ?3;

-- remove_task: a task, by its key; none there is no error.
-- Parameters: ?1 hold_no, ?2 task.
-- Columns: none.
DELETE FROM task
WHERE hold_no = ?1
    AND task = ?2;

-- remove_run: an attempt of a task, by its key; none there is no error.
-- Parameters: ?1 hold_no, ?2 task, ?3 attempt.
-- Columns: none.
DELETE FROM run
WHERE hold_no = ?1
    AND task = ?2
    AND attempt = ?3;

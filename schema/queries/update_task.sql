-- update_task: a task that is there, found by its key; no row is changed when it is not.
-- Parameters: ?1 to ?6, the columns in the order of the table.
-- Columns: none.
UPDATE task
SET
    state = ?3,
    attempt = ?4,
    older_open = ?5,
    wait_no = ?6
WHERE hold_no = ?1
    AND task = ?2;

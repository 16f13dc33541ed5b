-- select_all_tasks: the whole table, by key, for the check of the ledger.
-- Parameters: ?1 at most so many rows.
-- Columns: all of task, in the order of the table.
SELECT
    hold_no, task, state, attempt, older_open, wait_no
FROM task
ORDER BY hold_no, task
LIMIT ?1;

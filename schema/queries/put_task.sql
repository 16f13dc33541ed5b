-- put_task: a task, new or in place of the one with its key.
-- Parameters: ?1 to ?6, the columns in the order of the table.
-- Columns: none.
INSERT INTO task (
    hold_no, task, state, attempt, older_open, wait_no
)
VALUES (
    ?1, ?2, ?3, ?4, ?5, ?6
)
ON CONFLICT (hold_no, task) DO UPDATE SET
    state = excluded.state,
    attempt = excluded.attempt,
    older_open = excluded.older_open,
    wait_no = excluded.wait_no;

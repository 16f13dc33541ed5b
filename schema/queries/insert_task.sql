-- insert_task: a task that is new; its key must not be there.
-- Parameters: ?1 to ?6, the columns in the order of the table.
-- Columns: none.
INSERT INTO task (
    hold_no, task, state, attempt, older_open, wait_no
)
VALUES (
    ?1, ?2, ?3, ?4, ?5, ?6
);

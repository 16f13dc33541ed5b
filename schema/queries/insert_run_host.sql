-- insert_run_host: a host of a run that is new; its key must not be there.
-- Parameters: ?1 to ?4, the columns in the order of the table.
-- Columns: none.
INSERT INTO run_host (
    hold_no, task, attempt, host
)
VALUES (
    ?1, ?2, ?3, ?4
);

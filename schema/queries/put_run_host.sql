-- put_run_host: a host of a run, new or in place of the one with its key.
-- Parameters: ?1 to ?4, the columns in the order of the table.
-- Columns: none.
INSERT INTO run_host (
    hold_no, task, attempt, host
)
VALUES (
    ?1, ?2, ?3, ?4
)
ON CONFLICT (hold_no, task, attempt, host) DO NOTHING;

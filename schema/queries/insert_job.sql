-- insert_job: the scheduler's name of a hold that is new; its key must not be there.
-- Parameters: ?1 to ?4, the columns in the order of the table.
-- Columns: none.
INSERT INTO job (
    cluster_no, by_key, job_key, hold_no
)
VALUES (
    ?1, ?2, ?3, ?4
);

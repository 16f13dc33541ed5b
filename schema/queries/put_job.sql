-- put_job: the scheduler's name of a hold, new or in place of the one with its key.
-- Parameters: ?1 to ?4, the columns in the order of the table.
-- Columns: none.
INSERT INTO job (
    cluster_no, by_key, job_key, hold_no
)
VALUES (
    ?1, ?2, ?3, ?4
)
ON CONFLICT (cluster_no, by_key, job_key) DO UPDATE SET
    hold_no = excluded.hold_no;

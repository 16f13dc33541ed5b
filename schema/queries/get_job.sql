-- get_job: the scheduler's name of a hold, by its key.
-- Parameters: ?1 cluster_no, ?2 by_key, ?3 job_key.
-- Columns: all of job, in the order of the table; at most one row.
SELECT
    cluster_no, by_key, job_key, hold_no
FROM job
WHERE cluster_no = ?1
    AND by_key = ?2
    AND job_key = ?3;

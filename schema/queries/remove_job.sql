-- remove_job: the scheduler's name of a hold, by its key; none there is no error.
-- Parameters: ?1 cluster_no, ?2 by_key, ?3 job_key.
-- Columns: none.
DELETE FROM job
WHERE cluster_no = ?1
    AND by_key = ?2
    AND job_key = ?3;

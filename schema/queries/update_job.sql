-- update_job: the scheduler's name of a hold that is there, found by its key; no row is changed
--   when it is not.
-- Parameters: ?1 to ?4, the columns in the order of the table.
-- Columns: none.
UPDATE job
SET
    hold_no = ?4
WHERE cluster_no = ?1
    AND by_key = ?2
    AND job_key = ?3;

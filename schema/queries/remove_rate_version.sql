-- remove_rate_version: a version of a rate card, by its key; none there is no error.
-- Parameters: ?1 cluster_no, ?2 version.
-- Columns: none.
DELETE FROM rate_version
WHERE cluster_no = ?1
    AND version = ?2;

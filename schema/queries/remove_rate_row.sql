-- remove_rate_row: a row of a rate card, by its key; none there is no error.
-- Parameters: ?1 cluster_no, ?2 version, ?3 row_no.
-- Columns: none.
DELETE FROM rate_row
WHERE cluster_no = ?1
    AND version = ?2
    AND row_no = ?3;

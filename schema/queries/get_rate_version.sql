-- get_rate_version: a version of a rate card, by its key.
-- Parameters: ?1 cluster_no, ?2 version.
-- Columns: all of rate_version, in the order of the table; at most one row.
SELECT
    cluster_no, version, effective_from_s, combine, used, row_count, price_micro, created_ms,
    currency
FROM rate_version
WHERE cluster_no = ?1
    AND version = ?2;

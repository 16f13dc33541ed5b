-- select_rate_versions: versions of the rate card of a cluster.
-- Parameters: ?1 cluster_no, ?2 at most so many rows.
-- Columns: all of rate_version, in the order of the table.
SELECT
    cluster_no, version, effective_from_s, combine, used, row_count, price_micro, created_ms,
    currency
FROM rate_version
WHERE cluster_no = ?1
ORDER BY version
LIMIT ?2;

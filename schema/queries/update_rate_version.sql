-- update_rate_version: a version of a rate card that is there, found by its key; no row is
--   changed when it is not.
-- Parameters: ?1 to ?9, the columns in the order of the table.
-- Columns: none.
UPDATE rate_version
SET
    effective_from_s = ?3,
    combine = ?4,
    used = ?5,
    row_count = ?6,
    price_micro = ?7,
    created_ms = ?8,
    currency = ?9
WHERE cluster_no = ?1
    AND version = ?2;

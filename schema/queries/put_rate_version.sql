-- put_rate_version: a version of a rate card, new or in place of the one with its key.
-- Parameters: ?1 to ?9, the columns in the order of the table.
-- Columns: none.
INSERT INTO rate_version (
    cluster_no, version, effective_from_s, combine, used, row_count, price_micro, created_ms,
    currency
)
VALUES (
    ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9
)
ON CONFLICT (cluster_no, version) DO UPDATE SET
    effective_from_s = excluded.effective_from_s,
    combine = excluded.combine,
    used = excluded.used,
    row_count = excluded.row_count,
    price_micro = excluded.price_micro,
    created_ms = excluded.created_ms,
    currency = excluded.currency;

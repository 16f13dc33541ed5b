-- insert_rate_version: a version of a rate card that is new; its key must not be there.
-- Parameters: ?1 to ?9, the columns in the order of the table.
-- Columns: none.
INSERT INTO rate_version (
    cluster_no, version, effective_from_s, combine, used, row_count, price_micro, created_ms,
    currency
)
VALUES (
    ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9
);

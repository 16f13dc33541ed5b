-- put_usage: a row of usage, new or in place of the one with its key.
-- Parameters: ?1 to ?11, the columns in the order of the table.
-- Columns: none.
INSERT INTO usage (
    root_no, month, day, dims_no, kind, outcome, period, used_mcs, mgs, waived_mcs, runs
)
VALUES (
    ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11
)
ON CONFLICT (root_no, month, day, dims_no, kind, outcome, period) DO UPDATE SET
    used_mcs = excluded.used_mcs,
    mgs = excluded.mgs,
    waived_mcs = excluded.waived_mcs,
    runs = excluded.runs;

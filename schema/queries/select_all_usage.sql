-- select_all_usage: the whole table, by key, for the check of the ledger.
-- Parameters: ?1 at most so many rows.
-- Columns: all of usage, in the order of the table.
SELECT
    root_no, month, day, dims_no, kind, outcome, period, used_mcs, mgs, waived_mcs, runs,
    unfrozen_mcs
FROM usage
ORDER BY root_no, month, day, dims_no, kind, outcome, period
LIMIT ?1;

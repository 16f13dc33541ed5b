-- get_usage: a row of usage, by its key.
-- Parameters: ?1 root_no, ?2 month, ?3 day, ?4 dims_no, ?5 kind, ?6 outcome, ?7 period.
-- Columns: all of usage, in the order of the table; at most one row.
SELECT
    root_no, month, day, dims_no, kind, outcome, period, used_mcs, mgs, waived_mcs, runs,
    unfrozen_mcs
FROM usage
WHERE root_no = ?1
    AND month = ?2
    AND day = ?3
    AND dims_no = ?4
    AND kind = ?5
    AND outcome = ?6
    AND period = ?7;

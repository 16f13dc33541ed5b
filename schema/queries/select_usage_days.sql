-- select_usage_days: usage of a root by the days on which it ran.
-- Parameters: ?1 root_no, ?2 day, the first, ?3 day, the last, ?4 at most so many rows.
-- Columns: all of usage, in the order of the table.
SELECT
    root_no, month, day, dims_no, kind, outcome, period, used_mcs, mgs, waived_mcs, runs,
    unfrozen_mcs
FROM usage
WHERE root_no = ?1
    AND day BETWEEN ?2 AND ?3
ORDER BY root_no, month, day, dims_no, kind, outcome, period
LIMIT ?4;

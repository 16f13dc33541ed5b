-- select_usage: usage of a root by the months in which it is booked.
-- Parameters: ?1 root_no, ?2 month, the first, ?3 month, the last, ?4 at most so many rows.
-- Columns: all of usage, in the order of the table.
SELECT
    root_no, month, day, dims_no, kind, outcome, period, used_mcs, mgs, waived_mcs, runs,
    unfrozen_mcs
FROM usage
WHERE root_no = ?1
    AND month BETWEEN ?2 AND ?3
ORDER BY root_no, month, day, dims_no, kind, outcome, period
LIMIT ?4;

-- select_periods: closed months of a root, in order.
-- Parameters: ?1 root_no, ?2 at most so many rows.
-- Columns: all of period, in the order of the table.
SELECT
    root_no, month, closing_month, closed_ms, txn_no, last_seq, last_hold_no, format, sealed,
    row_count, used_mcs, mgs, waived_mcs, runs, digest
FROM period
WHERE root_no = ?1
ORDER BY month
LIMIT ?2;

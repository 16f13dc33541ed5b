-- get_period: a closed month of a root, by its key.
-- Parameters: ?1 root_no, ?2 month.
-- Columns: all of period, in the order of the table; at most one row.
SELECT
    root_no, month, closing_month, closed_ms, txn_no, last_seq, last_hold_no, format, sealed,
    row_count, used_mcs, mgs, waived_mcs, runs, digest
FROM period
WHERE root_no = ?1
    AND month = ?2;

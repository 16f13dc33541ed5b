-- select_all_waiting: the whole table, by key, for the check of the ledger.
-- Parameters: ?1 at most so many rows.
-- Columns: all of waiting, in the order of the table.
SELECT
    root_no, wait_no, hold_no, task, dims_no, limits
FROM waiting
ORDER BY root_no, wait_no
LIMIT ?1;

-- get_adjustment: a refund or correction, by its key.
-- Parameters: ?1 adjustment_no.
-- Columns: all of adjustment, in the order of the table; at most one row.
SELECT
    adjustment_no, root_no, hold_no, task, attempt, is_refund, amount_mcs, at_ms, content, id,
    source, reason
FROM adjustment
WHERE adjustment_no = ?1;

-- select_adjustments: refunds and corrections of a hold.
-- Parameters: ?1 hold_no, ?2 at most so many rows.
-- Columns: all of adjustment, in the order of the table.
SELECT
    adjustment_no, root_no, hold_no, task, attempt, is_refund, amount_mcs, at_ms, content, id,
    source, reason
FROM adjustment
WHERE hold_no = ?1
ORDER BY adjustment_no
LIMIT ?2;

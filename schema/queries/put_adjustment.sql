-- put_adjustment: a refund or correction, new or in place of the one with its key.
-- Parameters: ?1 to ?12, the columns in the order of the table.
-- Columns: none.
INSERT INTO adjustment (
    adjustment_no, root_no, hold_no, task, attempt, is_refund, amount_mcs, at_ms, content, id,
    source, reason
)
VALUES (
    ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12
)
ON CONFLICT (adjustment_no) DO UPDATE SET
    root_no = excluded.root_no,
    hold_no = excluded.hold_no,
    task = excluded.task,
    attempt = excluded.attempt,
    is_refund = excluded.is_refund,
    amount_mcs = excluded.amount_mcs,
    at_ms = excluded.at_ms,
    content = excluded.content,
    id = excluded.id,
    source = excluded.source,
    reason = excluded.reason;

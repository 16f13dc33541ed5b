-- insert_adjustment: a refund or correction that is new; its key must not be there.
-- Parameters: ?1 to ?12, the columns in the order of the table.
-- Columns: none.
INSERT INTO adjustment (
    adjustment_no, root_no, hold_no, task, attempt, is_refund, amount_mcs, at_ms, content, id,
    source, reason
)
VALUES (
    ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12
);

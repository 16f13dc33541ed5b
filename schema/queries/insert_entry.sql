-- insert_entry: a journal entry that is new; its key must not be there.
-- Parameters: ?1 to ?14, the columns in the order of the table.
-- Columns: none.
INSERT INTO entry (
    root_no, seq, kind, from_part, to_part, from_grant_no, to_grant_no, amount_mcs, hold_no, task,
    attempt, month, period, at_ms
)
VALUES (
    ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14
);

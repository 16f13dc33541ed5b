-- insert_period: a closed month of a root that is new; its key must not be there.
-- Parameters: ?1 to ?15, the columns in the order of the table.
-- Columns: none.
INSERT INTO period (
    root_no, month, closing_month, closed_ms, txn_no, last_seq, last_hold_no, format, sealed,
    row_count, used_mcs, mgs, waived_mcs, runs, digest
)
VALUES (
    ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15
);

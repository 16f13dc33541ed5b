-- insert_usage: a row of usage that is new; its key must not be there.
-- Parameters: ?1 to ?12, the columns in the order of the table.
-- Columns: none.
INSERT INTO usage (
    root_no, month, day, dims_no, kind, outcome, period, used_mcs, mgs, waived_mcs, runs,
    unfrozen_mcs
)
VALUES (
    ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12
);

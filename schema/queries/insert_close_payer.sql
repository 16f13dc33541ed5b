-- insert_close_payer: a payer's later month as it stood at a close that is new; its key must not be
--   there.
-- Parameters: ?1 to ?12, the columns in the order of the table.
-- Columns: none.
INSERT INTO close_payer (
    root_no, month, booked_month, node_no, granted_mcs, in_mcs, out_mcs, withdrawn_mcs, used_mcs,
    refunded_mcs, corrected_mcs, expired_mcs
)
VALUES (
    ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12
);

-- insert_payer_month: what a payer's account moved by in a month that is new; its key must not be
--   there.
-- Parameters: ?1 to ?11, the columns in the order of the table.
-- Columns: none.
INSERT INTO payer_month (
    node_no, month, root_no, granted_mcs, in_mcs, out_mcs, withdrawn_mcs, used_mcs, refunded_mcs,
    corrected_mcs, expired_mcs
)
VALUES (
    ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11
);

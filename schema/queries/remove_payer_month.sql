-- remove_payer_month: what a payer's account moved by in a month, by its key; none there is no
--   error.
-- Parameters: ?1 node_no, ?2 month.
-- Columns: none.
DELETE FROM payer_month
WHERE node_no = ?1
    AND month = ?2;

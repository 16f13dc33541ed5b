-- remove_adjustment: a refund or correction, by its key; none there is no error.
-- Parameters: ?1 adjustment_no.
-- Columns: none.
DELETE FROM adjustment
WHERE adjustment_no = ?1;

-- remove_delivery: a delivery, by its key; none there is no error.
-- Parameters: ?1 delivery_no.
-- Columns: none.
DELETE FROM delivery
WHERE delivery_no = ?1;

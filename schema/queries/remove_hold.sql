-- remove_hold: a hold, by its key; none there is no error.
-- Parameters: ?1 hold_no.
-- Columns: none.
DELETE FROM hold
WHERE hold_no = ?1;

-- update_waiting: a place in the queue of a root that is there, found by its key; no row is
--   changed when it is not.
-- Parameters: ?1 to ?6, the columns in the order of the table.
-- Columns: none.
UPDATE waiting
SET
    hold_no = ?3,
    task = ?4,
    dims_no = ?5,
    limits = ?6
WHERE root_no = ?1
    AND wait_no = ?2;

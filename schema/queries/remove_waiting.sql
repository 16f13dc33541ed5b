-- remove_waiting: a place in the queue of a root, by its key; none there is no error.
-- Parameters: ?1 root_no, ?2 wait_no.
-- Columns: none.
DELETE FROM waiting
WHERE root_no = ?1
    AND wait_no = ?2;

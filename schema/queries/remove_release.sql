-- remove_release: what a release gave back, by its key; none there is no error.
-- Parameters: ?1 hold_no, ?2 tasks.
-- Columns: none.
DELETE FROM release
WHERE hold_no = ?1
    AND tasks = ?2;

-- get_release: what a release gave back, by its key.
-- Parameters: ?1 hold_no, ?2 tasks.
-- Columns: all of release, in the order of the table; at most one row.
SELECT
    hold_no, tasks, refunded_mcs, expired_mcs
FROM release
WHERE hold_no = ?1
    AND tasks = ?2;

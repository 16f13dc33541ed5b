-- put_waiting: a place in the queue of a root, new or in place of the one with its key.
-- Parameters: ?1 to ?6, the columns in the order of the table.
-- Columns: none.
INSERT INTO waiting (
    root_no, wait_no, hold_no, task, dims_no, limits
)
VALUES (
    ?1, ?2, ?3, ?4, ?5, ?6
)
ON CONFLICT (root_no, wait_no) DO UPDATE SET
    hold_no = excluded.hold_no,
    task = excluded.task,
    dims_no = excluded.dims_no,
    limits = excluded.limits;

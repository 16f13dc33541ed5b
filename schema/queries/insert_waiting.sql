-- insert_waiting: a place in the queue of a root that is new; its key must not be there.
-- Parameters: ?1 to ?6, the columns in the order of the table.
-- Columns: none.
INSERT INTO waiting (
    root_no, wait_no, hold_no, task, dims_no, limits
)
VALUES (
    ?1, ?2, ?3, ?4, ?5, ?6
);

-- insert_release: what a release gave back, that is new; its key must not be there.
-- Parameters: ?1 to ?4, the columns in the order of the table.
-- Columns: none.
INSERT INTO release (
    hold_no, tasks, refunded_mcs, expired_mcs
)
VALUES (
    ?1, ?2, ?3, ?4
);

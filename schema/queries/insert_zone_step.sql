-- insert_zone_step: an offset of a root's zone that is new; its key must not be there.
-- Parameters: ?1 to ?4, the columns in the order of the table.
-- Columns: none.
INSERT INTO zone_step (
    root_no, step, at_s, offset_s
)
VALUES (
    ?1, ?2, ?3, ?4
);

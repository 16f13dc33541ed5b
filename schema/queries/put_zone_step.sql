-- put_zone_step: an offset of a root's zone, new or in place of the one with its key.
-- Parameters: ?1 to ?4, the columns in the order of the table.
-- Columns: none.
INSERT INTO zone_step (
    root_no, step, at_s, offset_s
)
VALUES (
    ?1, ?2, ?3, ?4
)
ON CONFLICT (root_no, step) DO UPDATE SET
    at_s = excluded.at_s,
    offset_s = excluded.offset_s;

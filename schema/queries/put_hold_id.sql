-- put_hold_id: the id of a hold, new or in place of the one with its key.
-- Parameters: ?1 to ?3, the columns in the order of the table.
-- Columns: none.
INSERT INTO hold_id (
    cluster_no, id, hold_no
)
VALUES (
    ?1, ?2, ?3
)
ON CONFLICT (cluster_no, id) DO UPDATE SET
    hold_no = excluded.hold_no;

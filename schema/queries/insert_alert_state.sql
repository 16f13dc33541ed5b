-- insert_alert_state: what has been told that is new; its key must not be there.
-- Parameters: ?1 to ?6, the columns in the order of the table.
-- Columns: none.
INSERT INTO alert_state (
    type, subject_no, detail_no, epoch, window_s, level
)
VALUES (
    ?1, ?2, ?3, ?4, ?5, ?6
);

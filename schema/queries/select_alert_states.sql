-- select_alert_states: what has been told of one type.
-- Parameters: ?1 type, ?2 at most so many rows.
-- Columns: all of alert_state, in the order of the table.
SELECT
    type, subject_no, detail_no, epoch, window_s, level
FROM alert_state
WHERE type = ?1
ORDER BY type, subject_no, detail_no
LIMIT ?2;

-- get_alert_state: what has been told, by its key.
-- Parameters: ?1 type, ?2 subject_no, ?3 detail_no.
-- Columns: all of alert_state, in the order of the table; at most one row.
SELECT
    type, subject_no, detail_no, epoch, window_s, level
FROM alert_state
WHERE type = ?1
    AND subject_no = ?2
    AND detail_no = ?3;

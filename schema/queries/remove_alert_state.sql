-- remove_alert_state: what has been told, by its key; none there is no error.
-- Parameters: ?1 type, ?2 subject_no, ?3 detail_no.
-- Columns: none.
DELETE FROM alert_state
WHERE type = ?1
    AND subject_no = ?2
    AND detail_no = ?3;

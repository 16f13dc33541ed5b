-- update_alert_state: what has been told that is there, found by its key; no row is changed when it is
--   not.
-- Parameters: ?1 to ?6, the columns in the order of the table.
-- Columns: none.
UPDATE alert_state
SET
    epoch = ?4,
    window_s = ?5,
    level = ?6
WHERE type = ?1
    AND subject_no = ?2
    AND detail_no = ?3;

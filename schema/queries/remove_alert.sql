-- remove_alert: an alert, by its key; none there is no error.
-- Parameters: ?1 alert_no.
-- Columns: none.
DELETE FROM alert
WHERE alert_no = ?1;

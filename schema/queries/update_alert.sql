-- update_alert: an alert that is there, found by its key; no row is changed when it is
--   not.
-- Parameters: ?1 to ?14, the columns in the order of the table.
-- Columns: none.
UPDATE alert
SET
    type = ?2,
    root_no = ?3,
    node_no = ?4,
    other_no = ?5,
    cap_kind = ?6,
    percent = ?7,
    limit_mcs = ?8,
    used_mcs = ?9,
    frozen_mcs = ?10,
    until_s = ?11,
    holds = ?12,
    at_ms = ?13,
    deliveries = ?14
WHERE alert_no = ?1;

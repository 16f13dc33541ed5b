-- get_alert: an alert, by its key.
-- Parameters: ?1 alert_no.
-- Columns: all of alert, in the order of the table; at most one row.
SELECT
    alert_no, type, root_no, node_no, other_no, cap_kind, percent, limit_mcs, used_mcs,
    frozen_mcs, until_s, holds, at_ms, deliveries
FROM alert
WHERE alert_no = ?1;

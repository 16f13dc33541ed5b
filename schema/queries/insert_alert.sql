-- insert_alert: an alert that is new; its key must not be there.
-- Parameters: ?1 to ?14, the columns in the order of the table.
-- Columns: none.
INSERT INTO alert (
    alert_no, type, root_no, node_no, other_no, cap_kind, percent, limit_mcs, used_mcs,
    frozen_mcs, until_s, holds, at_ms, deliveries
)
VALUES (
    ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14
);

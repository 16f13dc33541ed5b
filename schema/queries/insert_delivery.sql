-- insert_delivery: a delivery that is new; its key must not be there.
-- Parameters: ?1 to ?10, the columns in the order of the table.
-- Columns: none.
INSERT INTO delivery (
    delivery_no, webhook_no, alert_no, state, tries, next_ms, at_ms, done_ms, status, error
)
VALUES (
    ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10
);

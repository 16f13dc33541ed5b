-- update_delivery: a delivery that is there, found by its key; no row is changed when it is
--   not.
-- Parameters: ?1 to ?10, the columns in the order of the table.
-- Columns: none.
UPDATE delivery
SET
    webhook_no = ?2,
    alert_no = ?3,
    state = ?4,
    tries = ?5,
    next_ms = ?6,
    at_ms = ?7,
    done_ms = ?8,
    status = ?9,
    error = ?10
WHERE delivery_no = ?1;

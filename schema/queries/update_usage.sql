-- update_usage: a row of usage that is there, found by its key; no row is changed when it is
--   not.
-- Parameters: ?1 to ?12, the columns in the order of the table.
-- Columns: none.
UPDATE usage
SET
    used_mcs = ?8,
    mgs = ?9,
    waived_mcs = ?10,
    runs = ?11,
    unfrozen_mcs = ?12
WHERE root_no = ?1
    AND month = ?2
    AND day = ?3
    AND dims_no = ?4
    AND kind = ?5
    AND outcome = ?6
    AND period = ?7;

-- update_counter: what a node and all below it have now that is there, found by its key; no row
--   is changed when it is not.
-- Parameters: ?1 to ?10, the columns in the order of the table.
-- Columns: none.
UPDATE counter
SET
    used_mcs = ?2,
    frozen_mcs = ?3,
    waiting_mcs = ?4,
    jobs = ?5,
    mcores = ?6,
    mgpus = ?7,
    open_tasks = ?8,
    waiting_tasks = ?9,
    models = ?10
WHERE node_no = ?1;

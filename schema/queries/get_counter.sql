-- get_counter: what a node and all below it have now, by its key.
-- Parameters: ?1 node_no.
-- Columns: all of counter, in the order of the table; at most one row.
SELECT
    node_no, used_mcs, frozen_mcs, waiting_mcs, jobs, mcores, mgpus, open_tasks, waiting_tasks,
    models
FROM counter
WHERE node_no = ?1;

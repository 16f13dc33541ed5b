-- select_all_counters: the whole table, by key, for the check of the ledger.
-- Parameters: ?1 at most so many rows.
-- Columns: all of counter, in the order of the table.
SELECT
    node_no, used_mcs, frozen_mcs, waiting_mcs, jobs, mcores, mgpus, open_tasks, waiting_tasks,
    models
FROM counter
ORDER BY node_no
LIMIT ?1;

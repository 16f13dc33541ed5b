-- put_counter: what a node and all below it have now, new or in place of the one with its key.
-- Parameters: ?1 to ?10, the columns in the order of the table.
-- Columns: none.
INSERT INTO counter (
    node_no, used_mcs, frozen_mcs, waiting_mcs, jobs, mcores, mgpus, open_tasks, waiting_tasks,
    models
)
VALUES (
    ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10
)
ON CONFLICT (node_no) DO UPDATE SET
    used_mcs = excluded.used_mcs,
    frozen_mcs = excluded.frozen_mcs,
    waiting_mcs = excluded.waiting_mcs,
    jobs = excluded.jobs,
    mcores = excluded.mcores,
    mgpus = excluded.mgpus,
    open_tasks = excluded.open_tasks,
    waiting_tasks = excluded.waiting_tasks,
    models = excluded.models;

-- insert_counter: what a node and all below it have now that is new; its key must not be there.
-- Parameters: ?1 to ?10, the columns in the order of the table.
-- Columns: none.
INSERT INTO counter (
    node_no, used_mcs, frozen_mcs, waiting_mcs, jobs, mcores, mgpus, open_tasks, waiting_tasks,
    models
)
VALUES (
    ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10
);

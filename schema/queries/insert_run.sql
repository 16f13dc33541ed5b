-- insert_run: an attempt of a task that is new; its key must not be there.
-- Parameters: ?1 to ?31, the columns in the order of the table.
-- Columns: none.
INSERT INTO run (
    hold_no, task, attempt, root_no, state, outcome, waived, own_resources, frozen_mcs, started_s,
    booked_until_s, ended_s, seen_s, limit_s, charged_mcs, refunded_mcs, flags, settled_frozen_mcs,
    returned_mcs, overrun_mcs, waived_mcs, expired_mcs, settled, cores, memory_mib, gpus, segments,
    suspensions, draws, refunds, run_key
)
VALUES (
    ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21,
    ?22, ?23, ?24, ?25, ?26, ?27, ?28, ?29, ?30, ?31
);

-- put_run: an attempt of a task, new or in place of the one with its key.
-- Parameters: ?1 to ?32, the columns in the order of the table.
-- Columns: none.
INSERT INTO run (
    hold_no, task, attempt, root_no, state, outcome, waived, own_resources, frozen_mcs, started_s,
    booked_until_s, ended_s, seen_s, limit_s, charged_mcs, refunded_mcs, flags, settled_frozen_mcs,
    returned_mcs, overrun_mcs, waived_mcs, expired_mcs, settled, settled, cores, memory_mib, gpus,
    segments, suspensions, draws, refunds, run_key
)
VALUES (
    ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21,
    ?22, ?23, ?24, ?25, ?26, ?27, ?28, ?29, ?30, ?31, ?32
)
ON CONFLICT (hold_no, task, attempt) DO UPDATE SET
    root_no = excluded.root_no,
    state = excluded.state,
    outcome = excluded.outcome,
    waived = excluded.waived,
    own_resources = excluded.own_resources,
    frozen_mcs = excluded.frozen_mcs,
    started_s = excluded.started_s,
    booked_until_s = excluded.booked_until_s,
    ended_s = excluded.ended_s,
    seen_s = excluded.seen_s,
    limit_s = excluded.limit_s,
    charged_mcs = excluded.charged_mcs,
    refunded_mcs = excluded.refunded_mcs,
    flags = excluded.flags,
    settled_frozen_mcs = excluded.settled_frozen_mcs,
    returned_mcs = excluded.returned_mcs,
    overrun_mcs = excluded.overrun_mcs,
    waived_mcs = excluded.waived_mcs,
    expired_mcs = excluded.expired_mcs,
    settled = excluded.settled,
    settled = excluded.settled,
    cores = excluded.cores,
    memory_mib = excluded.memory_mib,
    gpus = excluded.gpus,
    segments = excluded.segments,
    suspensions = excluded.suspensions,
    draws = excluded.draws,
    refunds = excluded.refunds,
    run_key = excluded.run_key;

-- select_runs_of_hold: attempts of all tasks of a hold.
-- Parameters: ?1 hold_no, ?2 at most so many rows.
-- Columns: all of run, in the order of the table.
SELECT
    hold_no, task, attempt, root_no, state, outcome, waived, own_resources, frozen_mcs, started_s,
    booked_until_s, ended_s, seen_s, limit_s, charged_mcs, refunded_mcs, flags, settled_frozen_mcs,
    returned_mcs, overrun_mcs, waived_mcs, expired_mcs, settled, cores, memory_mib, gpus, segments,
    suspensions, draws, refunds, run_key
FROM run
WHERE hold_no = ?1
ORDER BY task, attempt
LIMIT ?2;

-- select_all_runs: the whole table, by key, for the check of the ledger.
-- Parameters: ?1 at most so many rows.
-- Columns: all of run, in the order of the table.
SELECT
    hold_no, task, attempt, root_no, state, outcome, waived, own_resources, frozen_mcs, started_s,
    booked_until_s, ended_s, seen_s, limit_s, charged_mcs, refunded_mcs, flags, settled_frozen_mcs,
    returned_mcs, overrun_mcs, waived_mcs, expired_mcs, settled, cores, memory_mib, gpus, segments,
    suspensions, draws, refunds, run_key
FROM run
ORDER BY hold_no, task, attempt
LIMIT ?1;

-- select_runs_settled: runs that are settled and went on at some time of an interval, from a place
--   in the order of keys on. A walk through the runs behind that place.
-- Parameters: ?1 root_no, 0 any, ?2 from_s, ?3 to_s, exclusive, ?4 hold_no, ?5 task, ?6 attempt, the
--   three exclusive, ?7 at most so many rows.
-- Columns: all of run, in the order of the table.
SELECT
    hold_no, task, attempt, root_no, state, outcome, waived, own_resources, frozen_mcs, started_s,
    booked_until_s, ended_s, seen_s, limit_s, charged_mcs, refunded_mcs, flags, settled_frozen_mcs,
    returned_mcs, overrun_mcs, waived_mcs, expired_mcs, settled, cores, memory_mib, gpus, segments,
    suspensions, draws, refunds, run_key
FROM run
WHERE state = 4
    AND (?1 = 0 OR root_no = ?1)
    AND ended_s > ?2
    AND started_s < ?3
    AND (hold_no, task, attempt) > (?4, ?5, ?6)
ORDER BY hold_no, task, attempt
LIMIT ?7;

-- select_runs_behind: runs that go on and are not charged up to a time, from a place in the
--   order of keys on.
-- Parameters: ?1 root_no, ?2 booked_until_s, exclusive, ?3 hold_no, ?4 task, ?5 attempt, the
--   three exclusive, ?6 at most so many rows.
-- Columns: all of run, in the order of the table.
SELECT
    hold_no, task, attempt, root_no, state, outcome, waived, own_resources, frozen_mcs, started_s,
    booked_until_s, ended_s, seen_s, limit_s, charged_mcs, refunded_mcs, flags, settled_frozen_mcs,
    returned_mcs, overrun_mcs, waived_mcs, expired_mcs, settled, cores, memory_mib, gpus, segments,
    suspensions, draws, refunds, run_key
FROM run
WHERE root_no = ?1
    AND state IN (2, 3)
    AND booked_until_s < ?2
    AND (hold_no, task, attempt) > (?3, ?4, ?5)
ORDER BY hold_no, task, attempt
LIMIT ?6;

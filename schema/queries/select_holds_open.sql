-- select_holds_open: open holds of a project, the largest frozen amount first.
-- Parameters: ?1 project_no, ?2 at most so many rows.
-- Columns: all of hold, in the order of the table.
SELECT
    hold_no, root_no, cluster_no, project_no, member_no, payer_no, dims_no, wait_no, created_ms,
    bound_ms, due_s, seen_s, ttl_s, window_s, time_limit_s, tasks, max_running, mode,
    on_insufficient, untouched_state, last_terminal, untouched, count_waiting, count_frozen,
    count_running, count_suspended, count_settled, count_released, count_expired, own_open,
    card_version, rate_mcores, mgpus, seconds, frozen_mcs, used_mcs, flags, content, cores,
    memory_mib, gpus, draws, id, job_id, job_key, job_name, partition, qos
FROM hold INDEXED BY hold_open
WHERE project_no = ?1
    AND count_waiting + count_frozen + count_running + count_suspended > 0
ORDER BY frozen_mcs DESC, hold_no
LIMIT ?2;

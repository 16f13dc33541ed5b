-- select_holds_of_project: holds of a project, the newest first, by walking back through the
--   narrow index of all holds.
-- Parameters: ?1 hold_no below which, ?2 project_no, ?3 member_no, ?4 cluster_no, ?5 root_no
--   (each 0: any), ?6 1 = only open ones, ?7 at most so many rows.
-- Columns: all of hold, in the order of the table.
SELECT
    hold_no, root_no, cluster_no, project_no, member_no, payer_no, dims_no, wait_no, created_ms,
    bound_ms, due_s, seen_s, ttl_s, window_s, time_limit_s, tasks, max_running, mode,
    on_insufficient, untouched_state, last_terminal, untouched, count_waiting, count_frozen,
    count_running, count_suspended, count_settled, count_released, count_expired, own_open,
    card_version, rate_mcores, mgpus, seconds, frozen_mcs, used_mcs, flags, content, cores,
    memory_mib, gpus, draws, id, job_id, job_key, job_name, partition, qos
FROM hold
WHERE hold_no IN (
        SELECT hold_no
        FROM hold INDEXED BY hold_listed
        WHERE hold_no < ?1
            AND project_no = ?2
            AND (?3 = 0 OR member_no = ?3)
            AND (?4 = 0 OR cluster_no = ?4)
            AND (?5 = 0 OR root_no = ?5)
            AND (?6 = 0 OR count_waiting + count_frozen + count_running + count_suspended > 0)
        ORDER BY hold_no DESC
        LIMIT ?7
    )
ORDER BY hold_no DESC;

-- insert_hold: a hold that is new; its key must not be there.
-- Parameters: ?1 to ?48, the columns in the order of the table.
-- Columns: none.
INSERT INTO hold (
    hold_no, root_no, cluster_no, project_no, member_no, payer_no, dims_no, wait_no, created_ms,
    bound_ms, due_s, seen_s, ttl_s, window_s, time_limit_s, tasks, max_running, mode,
    on_insufficient, untouched_state, last_terminal, untouched, count_waiting, count_frozen,
    count_running, count_suspended, count_settled, count_released, count_expired, own_open,
    card_version, rate_mcores, mgpus, seconds, frozen_mcs, used_mcs, flags, content, cores,
    memory_mib, gpus, draws, id, job_id, job_key, job_name, partition, qos
)
VALUES (
    ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21,
    ?22, ?23, ?24, ?25, ?26, ?27, ?28, ?29, ?30, ?31, ?32, ?33, ?34, ?35, ?36, ?37, ?38, ?39, ?40,
    ?41, ?42, ?43, ?44, ?45, ?46, ?47, ?48
);

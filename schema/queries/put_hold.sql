-- put_hold: a hold, new or in place of the one with its key. root_no, cluster_no, project_no
--   never change and stay as inserted.
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
)
ON CONFLICT (hold_no) DO UPDATE SET
    member_no = excluded.member_no,
    payer_no = excluded.payer_no,
    dims_no = excluded.dims_no,
    wait_no = excluded.wait_no,
    created_ms = excluded.created_ms,
    bound_ms = excluded.bound_ms,
    due_s = excluded.due_s,
    seen_s = excluded.seen_s,
    ttl_s = excluded.ttl_s,
    window_s = excluded.window_s,
    time_limit_s = excluded.time_limit_s,
    tasks = excluded.tasks,
    max_running = excluded.max_running,
    mode = excluded.mode,
    on_insufficient = excluded.on_insufficient,
    untouched_state = excluded.untouched_state,
    last_terminal = excluded.last_terminal,
    untouched = excluded.untouched,
    count_waiting = excluded.count_waiting,
    count_frozen = excluded.count_frozen,
    count_running = excluded.count_running,
    count_suspended = excluded.count_suspended,
    count_settled = excluded.count_settled,
    count_released = excluded.count_released,
    count_expired = excluded.count_expired,
    own_open = excluded.own_open,
    card_version = excluded.card_version,
    rate_mcores = excluded.rate_mcores,
    mgpus = excluded.mgpus,
    seconds = excluded.seconds,
    frozen_mcs = excluded.frozen_mcs,
    used_mcs = excluded.used_mcs,
    flags = excluded.flags,
    content = excluded.content,
    cores = excluded.cores,
    memory_mib = excluded.memory_mib,
    gpus = excluded.gpus,
    draws = excluded.draws,
    id = excluded.id,
    job_id = excluded.job_id,
    job_key = excluded.job_key,
    job_name = excluded.job_name,
    partition = excluded.partition,
    qos = excluded.qos;

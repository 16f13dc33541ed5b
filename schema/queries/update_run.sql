-- update_run: an attempt of a task that is there, found by its key; no row is changed when it is
--   not.
-- Parameters: ?1 to ?31, the columns in the order of the table.
-- Columns: none.
UPDATE run
SET
    root_no = ?4,
    state = ?5,
    outcome = ?6,
    waived = ?7,
    own_resources = ?8,
    frozen_mcs = ?9,
    started_s = ?10,
    booked_until_s = ?11,
    ended_s = ?12,
    seen_s = ?13,
    limit_s = ?14,
    charged_mcs = ?15,
    refunded_mcs = ?16,
    flags = ?17,
    settled_frozen_mcs = ?18,
    returned_mcs = ?19,
    overrun_mcs = ?20,
    waived_mcs = ?21,
    expired_mcs = ?22,
    settled = ?23,
    cores = ?24,
    memory_mib = ?25,
    gpus = ?26,
    segments = ?27,
    suspensions = ?28,
    draws = ?29,
    refunds = ?30,
    run_key = ?31
WHERE hold_no = ?1
    AND task = ?2
    AND attempt = ?3;

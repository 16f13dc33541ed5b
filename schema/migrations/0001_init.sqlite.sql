-- The ledger as it begins. Columns stand in the order of ledger/store/record_type.c; what they mean is told in
-- ledger/core/record.h, in short here where a name does not say it.
--
-- Units are the last word of a name: _mcs milli-core-seconds, _mcores milli-cores, mgpus thousandths of a GPU,
-- mgs milli-GPU-seconds, _s seconds since 1970 UTC (0: not known), _ms milliseconds since 1970 UTC, month = year * 12 + month - 1
-- in the root's zone, day = days since 1970-01-01 there. _no is a number of the ledger's own, 0 = none.
-- Lists are text: elements by comma, their numbers by colon, '' when empty. Zeros and empty texts take no room in a row.
--
-- Rows that are found by a small composite key stand in WITHOUT ROWID tables; what has a number of its own and grows at the
-- end (hold, dims, ...) in rowid tables. Where a record has its root in the key, the root leads, so that the table can be
-- cut by roots. An index of a rowid table ends with the row's number by itself: naming it there would store it twice.
--
-- Foreign keys are declared, and enforced at commit, on tables that change seldom or once a batch. Those that every freeze or
-- settlement appends to (hold, hold_id, job, task, run, entry, waiting, feed_event) have none: each would cost a look-up a row,
-- and the check of the ledger recomputes what hangs together there anyway.

-- Organizations, projects and members: the tree (SPEC 2.1).
CREATE TABLE node (
    node_no           INTEGER PRIMARY KEY,
    root_no           INTEGER NOT NULL,                                -- itself for a root
    parent_no         INTEGER NOT NULL,                                -- 0 for a root
    kind              INTEGER NOT NULL CHECK (kind BETWEEN 0 AND 2),   -- organization, project, member
    state             INTEGER NOT NULL CHECK (state BETWEEN 0 AND 1),  -- open, closed
    funding           INTEGER NOT NULL CHECK (funding BETWEEN 0 AND 2),    -- parent, self, unlimited
    membership        INTEGER NOT NULL CHECK (membership BETWEEN 0 AND 1), -- open, listed
    mode              INTEGER NOT NULL CHECK (mode BETWEEN 0 AND 2),   -- unset, full, window
    on_insufficient   INTEGER NOT NULL CHECK (on_insufficient BETWEEN 0 AND 2), -- unset, reject, wait
    fiscal_year_start INTEGER NOT NULL CHECK (fiscal_year_start BETWEEN 0 AND 12),
    names_visible     INTEGER NOT NULL CHECK (names_visible BETWEEN 0 AND 1),
    window_s          INTEGER NOT NULL,                                -- a duration; 0: the cluster's
    ttl_s             INTEGER NOT NULL,                                -- a duration; 0: the cluster's
    waived_outcomes   INTEGER NOT NULL,                                -- bits, 1 << outcome
    overdraft_mcs     INTEGER NOT NULL CHECK (overdraft_mcs >= 0),
    default_member_no INTEGER NOT NULL,                                -- member *
    version           INTEGER NOT NULL,                                -- the ETag
    created_ms        INTEGER NOT NULL,
    flags             INTEGER NOT NULL,
    name              TEXT NOT NULL,
    contact           TEXT NOT NULL,
    timezone          TEXT NOT NULL,
    caps              TEXT NOT NULL                                    -- kind:model_no:limit:soft
) STRICT;
CREATE INDEX node_by_parent ON node (parent_no);
CREATE INDEX node_by_root ON node (root_no);

-- Names lead to numbers: nodes, clusters, GPU models, mappings, ids of grants and refunds.
CREATE TABLE name (
    space     INTEGER NOT NULL,                                        -- enum name_space
    scope_no  INTEGER NOT NULL,
    name      TEXT NOT NULL,
    target_no INTEGER NOT NULL,
    target    TEXT NOT NULL,
    version   INTEGER NOT NULL,
    PRIMARY KEY (space, scope_no, name)
) STRICT, WITHOUT ROWID;

-- What a node and all below it have now (SPEC 4).
CREATE TABLE counter (
    node_no       INTEGER PRIMARY KEY REFERENCES node DEFERRABLE INITIALLY DEFERRED,
    used_mcs      INTEGER NOT NULL,
    frozen_mcs    INTEGER NOT NULL CHECK (frozen_mcs >= 0),
    waiting_mcs   INTEGER NOT NULL CHECK (waiting_mcs >= 0),
    jobs          INTEGER NOT NULL CHECK (jobs >= 0),
    mcores        INTEGER NOT NULL CHECK (mcores >= 0),
    mgpus         INTEGER NOT NULL CHECK (mgpus >= 0),
    open_tasks    INTEGER NOT NULL CHECK (open_tasks >= 0),
    waiting_tasks INTEGER NOT NULL CHECK (waiting_tasks >= 0),
    models        TEXT NOT NULL                                        -- model_no:mgpus
) STRICT;

-- Usage of a node by the month in which it ran.
CREATE TABLE node_month (
    node_no  INTEGER NOT NULL REFERENCES node DEFERRABLE INITIALLY DEFERRED,
    month    INTEGER NOT NULL,
    used_mcs INTEGER NOT NULL,
    PRIMARY KEY (node_no, month)
) STRICT, WITHOUT ROWID;

-- Scheduler instances (SPEC 2.2).
CREATE TABLE cluster (
    cluster_no      INTEGER PRIMARY KEY,
    kind            INTEGER NOT NULL CHECK (kind BETWEEN 0 AND 2),     -- slurm, kubernetes, other
    mode            INTEGER NOT NULL CHECK (mode BETWEEN 0 AND 2),
    on_insufficient INTEGER NOT NULL CHECK (on_insufficient BETWEEN 0 AND 2),
    on_exhausted    INTEGER NOT NULL CHECK (on_exhausted BETWEEN 0 AND 2), -- continue, notify, stop
    fail_policy     INTEGER NOT NULL CHECK (fail_policy BETWEEN 0 AND 1),  -- closed, open
    state           INTEGER NOT NULL CHECK (state BETWEEN 0 AND 1),
    window_s        INTEGER NOT NULL,                                  -- durations
    stop_grace_s    INTEGER NOT NULL,
    ttl_s           INTEGER NOT NULL,
    heartbeat_s     INTEGER NOT NULL,
    stale_after_s   INTEGER NOT NULL,
    agent_seen_s    INTEGER NOT NULL,                                  -- times
    agent_resumed_s INTEGER NOT NULL,
    feed_seq        INTEGER NOT NULL,
    used_until_s    INTEGER NOT NULL,
    version         INTEGER NOT NULL,
    created_ms      INTEGER NOT NULL,
    name            TEXT NOT NULL,
    roots           TEXT NOT NULL                                      -- root_no; '' all
) STRICT;

-- Versions of a cluster's rate card (SPEC 7.1).
CREATE TABLE rate_version (
    cluster_no       INTEGER NOT NULL REFERENCES cluster DEFERRABLE INITIALLY DEFERRED,
    version          INTEGER NOT NULL,
    effective_from_s INTEGER NOT NULL,
    combine          INTEGER NOT NULL CHECK (combine BETWEEN 0 AND 1), -- sum, max
    used             INTEGER NOT NULL CHECK (used BETWEEN 0 AND 1),
    row_count        INTEGER NOT NULL CHECK (row_count >= 0),
    price_micro      INTEGER NOT NULL,                                 -- per core-hour, 1e-6 of the currency; -1 none
    created_ms       INTEGER NOT NULL,
    currency         TEXT NOT NULL,
    PRIMARY KEY (cluster_no, version)
) STRICT, WITHOUT ROWID;

-- Rows of a version: the first that matches prices a task.
CREATE TABLE rate_row (
    cluster_no         INTEGER NOT NULL,
    version            INTEGER NOT NULL,
    row_no             INTEGER NOT NULL,
    permille           INTEGER NOT NULL,
    core_mcores        INTEGER NOT NULL,                               -- per core
    gib_mcores         INTEGER NOT NULL,                               -- per GiB
    gpu_default_mcores INTEGER NOT NULL,                               -- -1: none
    partition          TEXT NOT NULL,                                  -- '' any
    qos                TEXT NOT NULL,                                  -- '' any
    gpus               TEXT NOT NULL,                                  -- model_no:mcores:memory_mib
    PRIMARY KEY (cluster_no, version, row_no),
    FOREIGN KEY (cluster_no, version) REFERENCES rate_version DEFERRABLE INITIALLY DEFERRED
) STRICT, WITHOUT ROWID;

-- Where core-hours lie: grants, endless grants, overdrafts (SPEC 3, 9.1).
CREATE TABLE "grant" (
    grant_no      INTEGER PRIMARY KEY,
    root_no       INTEGER NOT NULL,
    node_no       INTEGER NOT NULL REFERENCES node DEFERRABLE INITIALLY DEFERRED, -- the payer
    kind          INTEGER NOT NULL CHECK (kind BETWEEN 0 AND 2),       -- timed, endless, overdraft
    ended         INTEGER NOT NULL CHECK (ended BETWEEN 0 AND 1),
    start_s       INTEGER NOT NULL,
    end_s         INTEGER NOT NULL,                                    -- exclusive
    granted_mcs   INTEGER NOT NULL CHECK (granted_mcs >= 0),
    in_mcs        INTEGER NOT NULL CHECK (in_mcs >= 0),
    out_mcs       INTEGER NOT NULL CHECK (out_mcs >= 0),
    withdrawn_mcs INTEGER NOT NULL CHECK (withdrawn_mcs >= 0),
    moved_mcs     INTEGER NOT NULL,                                    -- from rows of the same payer less to them
    available_mcs INTEGER NOT NULL,
    frozen_mcs    INTEGER NOT NULL CHECK (frozen_mcs >= 0),
    used_mcs      INTEGER NOT NULL,
    expired_mcs   INTEGER NOT NULL,
    created_ms    INTEGER NOT NULL,
    id            TEXT NOT NULL,
    note          TEXT NOT NULL
) STRICT;
CREATE INDEX grant_by_node ON "grant" (node_no, end_s);
CREATE INDEX grant_by_end ON "grant" (end_s) WHERE ended = 0;
CREATE INDEX grant_by_start ON "grant" (start_s);

-- Grants, transfers and withdrawals as commanded, for their replays.
CREATE TABLE movement (
    movement_no INTEGER PRIMARY KEY,
    root_no     INTEGER NOT NULL,
    kind        INTEGER NOT NULL CHECK (kind BETWEEN 0 AND 2),         -- grant, transfer, withdrawal
    from_no     INTEGER NOT NULL,                                      -- node
    to_no       INTEGER NOT NULL,                                      -- node
    grant_no    INTEGER NOT NULL,
    amount_mcs  INTEGER NOT NULL,
    at_ms       INTEGER NOT NULL,
    content     BLOB NOT NULL,                                         -- digest of the command
    id          TEXT NOT NULL,
    note        TEXT NOT NULL
) STRICT;

-- Submissions (SPEC 5.1). A hold is open while a task waits, is frozen, runs or is suspended; it stands in one of the two
-- indexes by project: the open ones, by what they have frozen, or the closed ones, by age. Queries say "open" in the same words.
CREATE TABLE hold (
    hold_no         INTEGER PRIMARY KEY,
    root_no         INTEGER NOT NULL,
    cluster_no      INTEGER NOT NULL,
    project_no      INTEGER NOT NULL,
    member_no       INTEGER NOT NULL,
    payer_no        INTEGER NOT NULL,
    dims_no         INTEGER NOT NULL,
    wait_no         INTEGER NOT NULL,
    created_ms      INTEGER NOT NULL,
    bound_ms        INTEGER NOT NULL,
    due_s           INTEGER NOT NULL,                                  -- when it expires unbound; 0 never
    seen_s          INTEGER NOT NULL,
    ttl_s           INTEGER NOT NULL,                                  -- durations
    window_s        INTEGER NOT NULL,
    time_limit_s    INTEGER NOT NULL,
    tasks           INTEGER NOT NULL,
    max_running     INTEGER NOT NULL,
    mode            INTEGER NOT NULL,
    on_insufficient INTEGER NOT NULL,
    untouched_state INTEGER NOT NULL CHECK (untouched_state BETWEEN 0 AND 6), -- of tasks without a row
    last_terminal   INTEGER NOT NULL,
    untouched       INTEGER NOT NULL CHECK (untouched >= 0),           -- tasks without a row
    count_waiting   INTEGER NOT NULL CHECK (count_waiting >= 0),       -- tasks by state
    count_frozen    INTEGER NOT NULL CHECK (count_frozen >= 0),
    count_running   INTEGER NOT NULL CHECK (count_running >= 0),
    count_suspended INTEGER NOT NULL CHECK (count_suspended >= 0),
    count_settled   INTEGER NOT NULL,
    count_released  INTEGER NOT NULL,
    count_expired   INTEGER NOT NULL,
    own_open        INTEGER NOT NULL,
    card_version    INTEGER NOT NULL,
    rate_mcores     INTEGER NOT NULL,
    mgpus           INTEGER NOT NULL,
    seconds         INTEGER NOT NULL,                                  -- frozen per task at first
    frozen_mcs      INTEGER NOT NULL CHECK (frozen_mcs >= 0),
    used_mcs        INTEGER NOT NULL CHECK (used_mcs >= 0),
    flags           INTEGER NOT NULL,
    content         BLOB NOT NULL,                                     -- digest of the command, 16 bytes
    cores           INTEGER NOT NULL,                                  -- of one task
    memory_mib      INTEGER NOT NULL,
    gpus            TEXT NOT NULL,                                     -- model_no:count:cores_percent:memory_mib:mgpus
    draws           TEXT NOT NULL,                                     -- grant_no:mcs, earliest end first
    id              TEXT NOT NULL,
    job_id          TEXT NOT NULL,
    job_key         TEXT NOT NULL,
    job_name        TEXT NOT NULL,
    partition       TEXT NOT NULL,
    qos             TEXT NOT NULL
) STRICT;
-- By number as well, and never touched again: a list of one project's holds walks back through this narrow index.
CREATE INDEX hold_listed ON hold (hold_no, project_no, member_no, cluster_no, root_no);
-- By number, so that freezes append to it whatever their project: a list by project reads through it.
CREATE INDEX hold_open ON hold (hold_no, project_no, frozen_mcs)
    WHERE count_waiting + count_frozen + count_running + count_suspended > 0;
CREATE INDEX hold_due ON hold (due_s) WHERE due_s > 0;

-- Ids of holds and charges, unique in a cluster (SPEC 6.1). hold_no 0: a charge on the unattributed list.
CREATE TABLE hold_id (
    cluster_no INTEGER NOT NULL,
    id         TEXT NOT NULL,
    hold_no    INTEGER NOT NULL,
    PRIMARY KEY (cluster_no, id)
) STRICT, WITHOUT ROWID;

-- The scheduler's names of a hold: its job id (by_key 0, the newest bound wins), its job key (by_key 1).
CREATE TABLE job (
    cluster_no INTEGER NOT NULL,
    by_key     INTEGER NOT NULL,
    job_key    TEXT NOT NULL,
    hold_no    INTEGER NOT NULL,
    PRIMARY KEY (cluster_no, by_key, job_key)
) STRICT, WITHOUT ROWID;

-- Tasks to which something has happened.
CREATE TABLE task (
    hold_no INTEGER NOT NULL,
    task    INTEGER NOT NULL,
    state   INTEGER NOT NULL CHECK (state BETWEEN 0 AND 6),
    attempt INTEGER NOT NULL,                                          -- the newest
    older_open INTEGER NOT NULL,                                       -- attempts before it that go on
    wait_no INTEGER NOT NULL,
    PRIMARY KEY (hold_no, task)
) STRICT, WITHOUT ROWID;

-- Attempts of tasks (SPEC 5.4 to 5.7).
CREATE TABLE run (
    hold_no            INTEGER NOT NULL,
    task               INTEGER NOT NULL,
    attempt            INTEGER NOT NULL,
    root_no            INTEGER NOT NULL,
    state              INTEGER NOT NULL CHECK (state BETWEEN 0 AND 6),
    outcome            INTEGER NOT NULL,
    waived             INTEGER NOT NULL,
    own_resources      INTEGER NOT NULL,
    frozen_mcs         INTEGER NOT NULL CHECK (frozen_mcs >= 0),
    started_s          INTEGER NOT NULL,
    booked_until_s     INTEGER NOT NULL,
    ended_s            INTEGER NOT NULL,
    seen_s             INTEGER NOT NULL,
    limit_s            INTEGER NOT NULL,                               -- a duration
    charged_mcs        INTEGER NOT NULL CHECK (charged_mcs >= 0),
    refunded_mcs       INTEGER NOT NULL CHECK (refunded_mcs >= 0),
    flags              INTEGER NOT NULL,
    settled_frozen_mcs INTEGER NOT NULL,                               -- totals of the settlement
    returned_mcs       INTEGER NOT NULL,
    overrun_mcs        INTEGER NOT NULL,
    waived_mcs         INTEGER NOT NULL,
    expired_mcs        INTEGER NOT NULL,
    settled            BLOB NOT NULL,                                  -- digest of the settle, 16 bytes
    cores              INTEGER NOT NULL,
    memory_mib         INTEGER NOT NULL,
    gpus               TEXT NOT NULL,                                  -- model_no:count:cores_percent:memory_mib:mgpus
    segments           TEXT NOT NULL,                                  -- from_s:rate_mcores:mgpus
    suspensions        TEXT NOT NULL,                                  -- from_s:to_s
    draws              TEXT NOT NULL,                                  -- grant_no:mcs
    refunds            TEXT NOT NULL,                                  -- month:mcs
    run_key            TEXT NOT NULL,
    PRIMARY KEY (hold_no, task, attempt)
) STRICT, WITHOUT ROWID;
CREATE INDEX run_going ON run (root_no, hold_no, task, attempt) WHERE state IN (2, 3); -- running, suspended

-- Where a run ran.
CREATE TABLE run_host (
    hold_no INTEGER NOT NULL,
    task    INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    host    TEXT NOT NULL,
    PRIMARY KEY (hold_no, task, attempt, host)
) STRICT, WITHOUT ROWID;

-- Where alerts are sent to (SPEC 4.6). The secrets sign, so they stand here as they are.
CREATE TABLE webhook (
    webhook_no   INTEGER PRIMARY KEY,
    root_no      INTEGER NOT NULL,
    node_no      INTEGER NOT NULL,
    types        INTEGER NOT NULL,                                     -- bits, 1 << type
    disabled     INTEGER NOT NULL,                                     -- 0 or 1
    grant_days   INTEGER NOT NULL,
    version      INTEGER NOT NULL,
    created_ms   INTEGER NOT NULL,
    old_until_ms INTEGER NOT NULL,
    name         TEXT NOT NULL,
    url          TEXT NOT NULL,
    secret       TEXT NOT NULL,
    old_secret   TEXT NOT NULL,
    pending      INTEGER NOT NULL                                      -- deliveries that wait
) STRICT;

-- What happened, once for all webhooks; written with its cause.
CREATE TABLE alert (
    alert_no   INTEGER PRIMARY KEY,
    type       INTEGER NOT NULL,
    root_no    INTEGER NOT NULL,
    node_no    INTEGER NOT NULL,
    other_no   INTEGER NOT NULL,                                       -- grant, hold, cluster
    cap_kind   INTEGER NOT NULL,
    percent    INTEGER NOT NULL,
    limit_mcs  INTEGER NOT NULL,
    used_mcs   INTEGER NOT NULL,
    frozen_mcs INTEGER NOT NULL,
    until_s    INTEGER NOT NULL,
    holds      INTEGER NOT NULL,
    at_ms      INTEGER NOT NULL,
    deliveries INTEGER NOT NULL                                        -- that are still kept
) STRICT;

-- What has been told.
CREATE TABLE alert_state (
    type       INTEGER NOT NULL,
    subject_no INTEGER NOT NULL,
    detail_no  INTEGER NOT NULL,
    epoch      INTEGER NOT NULL,
    window_s   INTEGER NOT NULL,
    level      INTEGER NOT NULL,
    PRIMARY KEY (type, subject_no, detail_no)
) STRICT, WITHOUT ROWID;

-- One alert on its way to one webhook.
CREATE TABLE delivery (
    delivery_no INTEGER PRIMARY KEY,
    webhook_no  INTEGER NOT NULL,
    alert_no    INTEGER NOT NULL,
    state       INTEGER NOT NULL,                                      -- pending, delivered, dead
    tries       INTEGER NOT NULL,
    next_ms     INTEGER NOT NULL,
    at_ms       INTEGER NOT NULL,
    done_ms     INTEGER NOT NULL,
    status      INTEGER NOT NULL,                                      -- HTTP; 0 none
    error       TEXT NOT NULL
) STRICT;
CREATE INDEX delivery_due ON delivery (webhook_no, next_ms) WHERE state = 0;
CREATE INDEX delivery_done ON delivery (done_ms) WHERE state <> 0;
CREATE INDEX delivery_of_webhook ON delivery (webhook_no);

-- Refunds and corrections: who may be asked why (SPEC 5.10, 5.11).
CREATE TABLE adjustment (
    adjustment_no INTEGER PRIMARY KEY,
    root_no       INTEGER NOT NULL,
    hold_no       INTEGER NOT NULL,
    task          INTEGER NOT NULL,
    attempt       INTEGER NOT NULL,
    is_refund     INTEGER NOT NULL,
    amount_mcs    INTEGER NOT NULL,
    at_ms         INTEGER NOT NULL,
    content       BLOB NOT NULL,
    id            TEXT NOT NULL,
    source        TEXT NOT NULL,
    reason        TEXT NOT NULL
) STRICT;
CREATE INDEX adjustment_by_hold ON adjustment (hold_no);

-- What releases of tasks gave back, for when they are sent again (SPEC 6.1).
CREATE TABLE release (
    hold_no      INTEGER NOT NULL,
    tasks        TEXT NOT NULL,                                        -- as given; '': all
    refunded_mcs INTEGER NOT NULL,
    expired_mcs  INTEGER NOT NULL,
    PRIMARY KEY (hold_no, tasks)
) STRICT, WITHOUT ROWID;

-- What waits for room, in order of arrival (SPEC 5.13).
CREATE TABLE waiting (
    root_no INTEGER NOT NULL,
    wait_no INTEGER NOT NULL,
    hold_no INTEGER NOT NULL,
    task    INTEGER NOT NULL,                                          -- -1: all untouched tasks
    dims_no INTEGER NOT NULL,
    limits  TEXT NOT NULL,                                             -- node_no:kind:model_no, as last failed
    PRIMARY KEY (root_no, wait_no)
) STRICT, WITHOUT ROWID;

-- What adapters are told, by cluster.
CREATE TABLE feed_event (
    cluster_no INTEGER NOT NULL,
    seq        INTEGER NOT NULL,
    type       INTEGER NOT NULL CHECK (type BETWEEN 0 AND 3),          -- frozen, stop, exhausted, released
    hold_no    INTEGER NOT NULL,
    at_ms      INTEGER NOT NULL,
    tasks      TEXT NOT NULL,
    message    TEXT NOT NULL,
    PRIMARY KEY (cluster_no, seq)
) STRICT, WITHOUT ROWID;

-- The journal: append-only transfers between accounts (SPEC 9.1).
CREATE TABLE entry (
    root_no       INTEGER NOT NULL,
    seq           INTEGER NOT NULL,
    kind          INTEGER NOT NULL CHECK (kind BETWEEN 0 AND 10),
    from_part     INTEGER NOT NULL CHECK (from_part BETWEEN 0 AND 4),  -- issued, available, frozen, used, expired
    to_part       INTEGER NOT NULL CHECK (to_part BETWEEN 0 AND 4),
    from_grant_no INTEGER NOT NULL,
    to_grant_no   INTEGER NOT NULL,
    amount_mcs    INTEGER NOT NULL CHECK (amount_mcs > 0),
    hold_no       INTEGER NOT NULL,
    task          INTEGER NOT NULL,
    attempt       INTEGER NOT NULL,
    month         INTEGER NOT NULL,                                    -- booked
    period        INTEGER NOT NULL,                                    -- ran
    at_ms         INTEGER NOT NULL,
    PRIMARY KEY (root_no, seq)
) STRICT, WITHOUT ROWID;

-- The chain over the journal: one link a root and transaction (SPEC 9.2).
CREATE TABLE chain_link (
    root_no     INTEGER NOT NULL,
    txn_no      INTEGER NOT NULL,
    first_seq   INTEGER NOT NULL,
    last_seq    INTEGER NOT NULL,
    at_ms       INTEGER NOT NULL,
    hash        BLOB NOT NULL,
    first_audit INTEGER NOT NULL,
    last_audit  INTEGER NOT NULL,
    PRIMARY KEY (root_no, txn_no)
) STRICT, WITHOUT ROWID;

-- What stands in the chain beside entries, as a digest of what is told elsewhere.
CREATE TABLE chain_note (
    root_no INTEGER NOT NULL,
    txn_no  INTEGER NOT NULL,                                          -- of its link
    note_no INTEGER NOT NULL,
    kind    INTEGER NOT NULL,                                          -- enum note_kind
    subject INTEGER NOT NULL,
    at_ms   INTEGER NOT NULL,
    digest  BLOB NOT NULL,
    PRIMARY KEY (root_no, txn_no, note_no)
) STRICT, WITHOUT ROWID;

-- What a payer's available and frozen together moved by, by the month in which it is booked (SPEC 8.3).
CREATE TABLE payer_month (
    node_no       INTEGER NOT NULL,
    month         INTEGER NOT NULL,
    root_no       INTEGER NOT NULL,
    granted_mcs   INTEGER NOT NULL,
    in_mcs        INTEGER NOT NULL,
    out_mcs       INTEGER NOT NULL,
    withdrawn_mcs INTEGER NOT NULL,
    used_mcs      INTEGER NOT NULL,
    refunded_mcs  INTEGER NOT NULL,
    corrected_mcs INTEGER NOT NULL,
    expired_mcs   INTEGER NOT NULL,
    PRIMARY KEY (node_no, month)
) STRICT, WITHOUT ROWID;
CREATE INDEX payer_month_by_root ON payer_month (root_no, month);

-- Closed months (SPEC 8.2).
CREATE TABLE period (
    root_no       INTEGER NOT NULL REFERENCES node DEFERRABLE INITIALLY DEFERRED,
    month         INTEGER NOT NULL,
    closing_month INTEGER NOT NULL,                                    -- whose close sealed it
    closed_ms     INTEGER NOT NULL,
    txn_no        INTEGER NOT NULL,
    last_seq      INTEGER NOT NULL,
    last_hold_no  INTEGER NOT NULL,
    format        INTEGER NOT NULL,
    sealed        INTEGER NOT NULL CHECK (sealed BETWEEN 0 AND 1),     -- what follows is filled in
    row_count     INTEGER NOT NULL,
    used_mcs      INTEGER NOT NULL,
    mgs           INTEGER NOT NULL,
    waived_mcs    INTEGER NOT NULL,
    runs          INTEGER NOT NULL,
    digest        BLOB NOT NULL,                                       -- of its usage in canonical form
    PRIMARY KEY (root_no, month)
) STRICT, WITHOUT ROWID;

-- The accounts of the root's grants at a close: a check can start here (SPEC 9.2).
CREATE TABLE close_grant (
    root_no       INTEGER NOT NULL,
    month         INTEGER NOT NULL,
    grant_no      INTEGER NOT NULL,
    node_no       INTEGER NOT NULL,
    granted_mcs   INTEGER NOT NULL,
    in_mcs        INTEGER NOT NULL,
    out_mcs       INTEGER NOT NULL,
    withdrawn_mcs INTEGER NOT NULL,
    moved_mcs     INTEGER NOT NULL,
    available_mcs INTEGER NOT NULL,
    frozen_mcs    INTEGER NOT NULL,
    used_mcs      INTEGER NOT NULL,
    expired_mcs   INTEGER NOT NULL,
    PRIMARY KEY (root_no, month, grant_no)
) STRICT, WITHOUT ROWID;

-- The same for what was booked in later months already.
CREATE TABLE close_payer (
    root_no       INTEGER NOT NULL,
    month         INTEGER NOT NULL,
    booked_month  INTEGER NOT NULL,
    node_no       INTEGER NOT NULL,
    granted_mcs   INTEGER NOT NULL,
    in_mcs        INTEGER NOT NULL,
    out_mcs       INTEGER NOT NULL,
    withdrawn_mcs INTEGER NOT NULL,
    used_mcs      INTEGER NOT NULL,
    refunded_mcs  INTEGER NOT NULL,
    corrected_mcs INTEGER NOT NULL,
    expired_mcs   INTEGER NOT NULL,
    PRIMARY KEY (root_no, month, booked_month, node_no)
) STRICT, WITHOUT ROWID;

-- What a root counts on. Root 0 is the service itself: changes by people that belong to no root.
CREATE TABLE root_state (
    root_no           INTEGER PRIMARY KEY,
    last_seq          INTEGER NOT NULL,
    last_txn          INTEGER NOT NULL,
    last_wait         INTEGER NOT NULL,
    last_ms           INTEGER NOT NULL,
    turned_month      INTEGER NOT NULL,
    oldest_open_month INTEGER NOT NULL,
    hash              BLOB NOT NULL,
    last_audit        INTEGER NOT NULL
) STRICT;

-- What does not change in the life of a hold, said once: the columns of reports, and the path of its time.
CREATE TABLE dims (
    dims_no      INTEGER PRIMARY KEY,
    root_no      INTEGER NOT NULL,
    project_no   INTEGER NOT NULL REFERENCES node DEFERRABLE INITIALLY DEFERRED,
    member_no    INTEGER NOT NULL,
    cluster_no   INTEGER NOT NULL REFERENCES cluster DEFERRABLE INITIALLY DEFERRED,
    card_version INTEGER NOT NULL,
    partition    TEXT NOT NULL,
    qos          TEXT NOT NULL,
    gpu_model    TEXT NOT NULL,
    path         TEXT NOT NULL                                         -- node_no, member first
) STRICT;

-- The finest stored rows of usage (SPEC 8).
CREATE TABLE usage (
    root_no    INTEGER NOT NULL,
    month      INTEGER NOT NULL,                                       -- booked
    day        INTEGER NOT NULL,
    dims_no    INTEGER NOT NULL REFERENCES dims DEFERRABLE INITIALLY DEFERRED,
    kind       INTEGER NOT NULL CHECK (kind BETWEEN 0 AND 3),          -- usage, correction, refund, waived
    outcome    INTEGER NOT NULL,
    period     INTEGER NOT NULL,                                       -- ran
    used_mcs   INTEGER NOT NULL,
    mgs        INTEGER NOT NULL,
    waived_mcs INTEGER NOT NULL,
    runs       INTEGER NOT NULL,
    unfrozen_mcs INTEGER NOT NULL,                                     -- of used_mcs
    PRIMARY KEY (root_no, month, day, dims_no, kind, outcome, period)
) STRICT, WITHOUT ROWID;
CREATE INDEX usage_by_day ON usage (root_no, day);

-- Offsets of a root's zone, computed once (SPEC 1.4).
CREATE TABLE zone_step (
    root_no  INTEGER NOT NULL REFERENCES node DEFERRABLE INITIALLY DEFERRED,
    step     INTEGER NOT NULL,
    at_s     INTEGER NOT NULL,
    offset_s INTEGER NOT NULL,
    PRIMARY KEY (root_no, step)
) STRICT, WITHOUT ROWID;

-- Last numbers given out.
CREATE TABLE sequence (
    name    TEXT NOT NULL PRIMARY KEY,
    last_no INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Who may call: tokens, by their SHA-256 (SPEC 10.1).
CREATE TABLE token (
    hash       BLOB NOT NULL PRIMARY KEY,
    token_no   INTEGER NOT NULL,
    role       INTEGER NOT NULL,                                       -- enum token_role
    revoked    INTEGER NOT NULL CHECK (revoked BETWEEN 0 AND 1),
    place_no   INTEGER NOT NULL,
    expires_s  INTEGER NOT NULL,
    used_s     INTEGER NOT NULL,
    created_ms INTEGER NOT NULL,
    id         TEXT NOT NULL,
    name       TEXT NOT NULL,
    place      TEXT NOT NULL,
    old_hash   BLOB NOT NULL,                                          -- good until old_until_s as well
    old_until_s INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX token_id ON token (id);
CREATE INDEX token_over ON token (expires_s) WHERE expires_s > 0;

-- Use of accounts that no project answers to, for a person to assign (SPEC 5.9).
CREATE TABLE unattributed (
    cluster_no  INTEGER NOT NULL,
    id          TEXT NOT NULL,
    rate_mcores INTEGER NOT NULL,
    used_mcs    INTEGER NOT NULL,
    started_s   INTEGER NOT NULL,
    ended_s     INTEGER NOT NULL,
    suspended_s INTEGER NOT NULL,
    at_ms       INTEGER NOT NULL,
    outcome     INTEGER NOT NULL,                                      -- enum outcome, as given
    content     BLOB NOT NULL,
    account     TEXT NOT NULL,
    user_name   TEXT NOT NULL,
    job_key     TEXT NOT NULL,
    run_key     TEXT NOT NULL,
    job_name    TEXT NOT NULL,
    partition   TEXT NOT NULL,
    qos         TEXT NOT NULL,
    hosts       TEXT NOT NULL,                                         -- joined by ","
    cores       INTEGER NOT NULL,
    memory_mib  INTEGER NOT NULL,
    gpus        TEXT NOT NULL,
    PRIMARY KEY (cluster_no, id)
) STRICT, WITHOUT ROWID;

-- Which of these files have been applied, with the SHA-256 of each.
CREATE TABLE schema_migration (
    number   INTEGER PRIMARY KEY,
    name     TEXT NOT NULL,
    checksum TEXT NOT NULL
) STRICT;

-- How often the writer had to start over after an I/O error: written to make sure that what failed stays undone.
CREATE TABLE engine_restart (
    restart_no INTEGER PRIMARY KEY,
    count      INTEGER NOT NULL
) STRICT;
INSERT INTO engine_restart (restart_no, count) VALUES (1, 0);

-- Changes by people (SPEC 10.3). Their texts may be overwritten where a person's name is removed; content stays.
CREATE TABLE audit (
    audit_no     INTEGER PRIMARY KEY,
    root_no      INTEGER NOT NULL,
    seq          INTEGER NOT NULL,
    at_ms        INTEGER NOT NULL,
    node_no      INTEGER NOT NULL,
    other_no     INTEGER NOT NULL,
    token_no     INTEGER NOT NULL,
    role         INTEGER NOT NULL,                                     -- enum token_role
    renamed_no   INTEGER NOT NULL,
    content      BLOB NOT NULL,
    action       TEXT NOT NULL,
    who          TEXT NOT NULL,
    name         TEXT NOT NULL,
    address      TEXT NOT NULL,
    what         TEXT NOT NULL,
    value_before TEXT NOT NULL,
    value_after  TEXT NOT NULL
) STRICT;

CREATE INDEX audit_by_root ON audit (root_no, audit_no);

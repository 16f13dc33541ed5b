/*
 * The rows of the ledger, as plain structs: what an engine stores, what a decision sees.
 *
 * Every struct is fixed in size and holds no pointer, so that it may be copied, compared and logged
 * freely. The first fields are its key, in the order of the primary key. store/record.c describes
 * each struct field by field; an engine needs nothing else.
 *
 * Units: _mcs milli-core-seconds; _mcores milli-cores; mgpus thousandths of a GPU; _s whole seconds
 * since 1970 UTC (0 = not known); _ms milliseconds since 1970 UTC; month = year * 12 + (month - 1)
 * in the root's zone; day = days since 1970-01-01 there. Numbers ending in _no are the ledger's
 * own; 0 means none. Names are bytes of UTF-8 with a NUL. Source: SPEC 1 to 9.
 */
#ifndef LEDGER_CORE_RECORD_H
#define LEDGER_CORE_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "ledger/base/digest.h"
#include "ledger/base/limits.h"

enum {
    RECORD_NAME_BYTES = LIMIT_NAME_BYTES + 1, /* names of people, jobs, partitions, models */
    RECORD_NODE_NAME_BYTES = LIMIT_NODE_NAME_BYTES + 1,
    RECORD_ID_BYTES = LIMIT_ID_BYTES + 1,
    RECORD_KEY_BYTES = 129,  /* job_key, run_key */
    RECORD_NOTE_BYTES = 257, /* reasons, notes, messages */
    RECORD_ZONE_BYTES = 65,
    RECORD_URL_BYTES = LIMIT_WEBHOOK_URL_BYTES + 1,
    RECORD_SECRET_BYTES = 80, /* of a webhook */
    RECORD_PLACE_BYTES =
        RECORD_NAME_BYTES + RECORD_NODE_NAME_BYTES, /* of a token: PROJECT/PERSON at most */
    RECORD_PATH_NODES = LIMIT_LEVELS + 1,           /* member, project, organizations, root */
    RECORD_DRAWS =
        48, /* a freeze draws on LIMIT_DRAWS grants; use may go on to this many, then overdraft */
    RECORD_SEGMENTS = 64,
    RECORD_SUSPENSIONS = 64, /* past this the closest two of one day are joined, their total kept */
    RECORD_REFUND_MONTHS = 140, /* months that a run of LIMIT_RUN_DAYS can touch */
    RECORD_MODELS = 64,         /* GPU models in flight at one node */
    RECORD_CLUSTER_ROOTS = 64,
    RECORD_RATE_MODELS = 32, /* GPU models in one row of a rate card */
    RECORD_RATE_ROWS = 32,
    RECORD_WAIT_LIMITS = 64,
    RECORD_TASKS_TEXT_BYTES = 257,
    RECORD_ACTION_BYTES = 32,  /* of the audit log: "cap.put" */
    RECORD_ADDRESS_BYTES = 48, /* an IPv6 address as text */
    RECORD_WHAT_BYTES = 512,   /* what a change was about, as a path of the API */
    RECORD_AUDIT_BYTES = 1024, /* the values before and after it, a JSON object each */
};

#define RECORD_UNLIMITED INT64_C(-1) /* a limit that is null (SPEC 1.5) */

/* ---- who
 * ----------------------------------------------------------------------------------------------------------------
 */

enum node_kind { NODE_ORGANIZATION, NODE_PROJECT, NODE_MEMBER };
enum node_state { NODE_OPEN, NODE_CLOSED };
enum node_funding { FUNDING_PARENT, FUNDING_SELF, FUNDING_UNLIMITED };
enum node_membership { MEMBERSHIP_OPEN, MEMBERSHIP_LISTED };
enum hold_mode { MODE_UNSET, MODE_FULL, MODE_WINDOW };
enum on_insufficient { INSUFFICIENT_UNSET, INSUFFICIENT_REJECT, INSUFFICIENT_WAIT };

/* In the order of api.md. LIMIT_FUNDS is no cap: it stands for the payer's grants among the limits
 * that failed. */
enum cap_kind {
    CAP_MONTH,
    CAP_QUARTER,
    CAP_YEAR,
    CAP_TOTAL,
    CAP_GPUS, /* model_no 0: all models */
    CAP_CORES,
    CAP_JOBS,
    CAP_JOB_CORE_HOURS,
    CAP_JOB_GPUS,
    CAP_JOB_DURATION,
    CAP_FUNDS,
    CAP__COUNT
};

/* One cap. limit in the unit of its kind: mcs, mgpus, mcores, jobs or s; RECORD_UNLIMITED lifts the
 * default of member `*`. */
struct cap {
    int64_t kind; /* enum cap_kind */
    int64_t model_no;
    int64_t limit;
    int64_t soft; /* 0 or 1: warns, never refuses (SPEC 4.5) */
};

/* An organization, a project, or a member (a person in a project, parent_no = the project; name "*"
 * = the default caps). */
struct node {
    int64_t node_no;
    int64_t root_no; /* the root organization; itself for a root */
    int64_t parent_no;
    enum node_kind kind;
    enum node_state state;
    enum node_funding funding;
    enum node_membership membership;
    enum hold_mode mode; /* MODE_UNSET: the cluster's */
    enum on_insufficient on_insufficient;
    int32_t fiscal_year_start; /* 1..12, roots */
    int32_t names_visible; /* root: holders outside the asker's project appear by name (SPEC 6.3) */
    int64_t window_s;      /* 0: the cluster's */
    int64_t ttl_s;
    int64_t waived_outcomes;   /* root: bit 1 << enum outcome (SPEC 5.7) */
    int64_t overdraft_mcs;     /* payer: how far available may go below zero */
    int64_t default_member_no; /* project: the node of member `*`, 0 = none */
    int64_t version;           /* starts at 1, +1 a change: the ETag */
    int64_t created_ms;
    int64_t flags; /* enum node_flag */
    char name[RECORD_NAME_BYTES];
    char contact[RECORD_NAME_BYTES];
    char timezone[RECORD_ZONE_BYTES]; /* root */
    int32_t cap_count;
    struct cap caps[LIMIT_CAPS_PER_NODE]; /* sorted by kind, model_no */
};

enum node_flag {
    NODE_HAS_USAGE = 1, /* a root's zone is fixed from then on (SPEC 2.4) */
    NODE_GUEST = 2,     /* a member's node made by usage of someone who is no member (SPEC 5.9) */
};

/* A name leads to a number. scope_no: 0, the project (members), the cluster (accounts, users). */
enum name_space {
    NAMES_NODE = 1, /* organizations and projects, one flat space */
    NAMES_MEMBER,   /* scope: project */
    NAMES_CLUSTER,
    NAMES_MODEL,   /* GPU models, in lower case */
    NAMES_ACCOUNT, /* scope: cluster; target_no: the project */
    NAMES_USER,    /* scope: cluster; target: the person's name */
    NAMES_DIMS,    /* scope: root; name: hex digest of the dimensions */
    NAMES_GRANT,   /* grants, transfers, withdrawals: scope: root; target_no: the movement */
    NAMES_REFUND,  /* scope: root */
    NAMES_WEBHOOK,
};

struct name {
    int64_t space; /* enum name_space */
    int64_t scope_no;
    char name[RECORD_NAME_BYTES];
    int64_t target_no;
    char target[RECORD_NAME_BYTES];
    int64_t version;
};

/* What a node and all below it have now. used: charges less refunds and corrections since the node
 * exists. */
struct counter {
    int64_t node_no;
    int64_t used_mcs;
    int64_t frozen_mcs;
    int64_t waiting_mcs;
    int64_t jobs; /* in flight, SPEC 4.4 */
    int64_t mcores;
    int64_t mgpus;
    int64_t open_tasks; /* frozen, running, suspended and waiting: a node may move only at 0 */
    int64_t waiting_tasks;
    int32_t model_count;
    struct counter_model {
        int64_t model_no;
        int64_t mgpus;
    } models[RECORD_MODELS];
};

/* Usage of a node by the month in which it ran; quarters and years are sums of months. */
struct node_month {
    int64_t node_no;
    int64_t month;
    int64_t used_mcs;
};

/* ---- clusters and rates
 * --------------------------------------------------------------------------------------------------
 */

enum cluster_kind { CLUSTER_SLURM, CLUSTER_KUBERNETES, CLUSTER_OTHER };
enum on_exhausted { EXHAUSTED_CONTINUE, EXHAUSTED_NOTIFY, EXHAUSTED_STOP };
enum fail_policy { FAIL_CLOSED, FAIL_OPEN };

struct cluster {
    int64_t cluster_no;
    enum cluster_kind kind;
    enum hold_mode mode;
    enum on_insufficient on_insufficient;
    enum on_exhausted on_exhausted;
    enum fail_policy fail_policy;
    enum node_state state;
    int64_t window_s;
    int64_t stop_grace_s;
    int64_t ttl_s;
    int64_t heartbeat_s;
    int64_t stale_after_s;
    int64_t agent_seen_s;    /* last poll of the feed or heartbeat; 0: no agent has ever polled */
    int64_t agent_resumed_s; /* when an agent came back after more than 120 s of silence */
    int64_t feed_seq;        /* last event's */
    int64_t used_until_s; /* usage of this cluster is booked up to here: no new rates before it */
    int64_t version;
    int64_t created_ms;
    char name[RECORD_NAME_BYTES];
    int32_t root_count; /* 0: all roots */
    struct cluster_root {
        int64_t root_no;
    } roots[RECORD_CLUSTER_ROOTS];
};

enum rate_combine { COMBINE_SUM, COMBINE_MAX };

/* One version of a cluster's rate card; its rows are struct rate_row 0..row_count-1. */
struct rate_version {
    int64_t cluster_no;
    int64_t version;
    int64_t effective_from_s;
    enum rate_combine combine;
    int32_t used; /* 1: a hold was priced by it, so that it never changes (SPEC 7.1) */
    int32_t row_count;
    int64_t price_micro; /* per core-hour, in 1e-6 of the currency; -1: no price */
    int64_t created_ms;
    char currency[8];
};

struct rate_row {
    int64_t cluster_no;
    int64_t version;
    int64_t row;
    int64_t permille;           /* multiplier in thousandths, default 1000 */
    int64_t core_mcores;        /* per core */
    int64_t gib_mcores;         /* per GiB of memory */
    int64_t gpu_default_mcores; /* GPUs of other or no model; -1: none, such a GPU is refused */
    char partition[RECORD_NAME_BYTES]; /* "": any */
    char qos[RECORD_NAME_BYTES];       /* "": any */
    int32_t gpu_count;
    struct rate_gpu {
        int64_t model_no;
        int64_t mcores;
        int64_t memory_mib; /* 0: unknown */
    } gpus[RECORD_RATE_MODELS];
};

/* A version with its rows: what a decision reads. */
struct rate_card {
    struct rate_version version;
    struct rate_row rows[RECORD_RATE_ROWS];
};

/* ---- grants
 * --------------------------------------------------------------------------------------------------------------
 */

/*
 * Where core-hours lie. Each grant is four accounts: available, frozen, used, expired. A payer's
 * overdraft is a grant row as well (drawn last, its available <= 0 always), and so is the endless
 * grant of an unlimited root (its available may go below zero without bound and is shown as null).
 * Always: available = granted + transferred in - out - withdrawn - used - frozen - expired, with
 * what moved between rows of one payer (repayment of overdraft) counted in moved_mcs (SPEC 3, 9.1).
 */
enum grant_kind { GRANT_TIMED, GRANT_ENDLESS, GRANT_OVERDRAFT };

struct grant {
    int64_t grant_no;
    int64_t root_no;
    int64_t node_no; /* the payer */
    enum grant_kind kind;
    int32_t ended; /* 1: its rest has expired */
    int64_t start_s;
    int64_t end_s; /* exclusive; INT64_MAX for endless and overdraft */
    int64_t granted_mcs;
    int64_t in_mcs;  /* transferred in */
    int64_t out_mcs; /* transferred out */
    int64_t withdrawn_mcs;
    int64_t moved_mcs; /* from other rows of the same payer, less what went to them */
    int64_t available_mcs;
    int64_t frozen_mcs;
    int64_t used_mcs;
    int64_t expired_mcs;
    int64_t created_ms;
    char id[RECORD_ID_BYTES];
    char note[RECORD_NOTE_BYTES];
};

/* A grant, transfer or withdrawal as commanded, for replays (NAMES_GRANT leads here). */
enum movement_kind { MOVEMENT_GRANT, MOVEMENT_TRANSFER, MOVEMENT_WITHDRAWAL };

struct movement {
    int64_t movement_no;
    int64_t root_no;
    enum movement_kind kind;
    int64_t from_no; /* node */
    int64_t to_no;   /* node */
    int64_t grant_no;
    int64_t amount_mcs;
    int64_t at_ms;
    struct digest content;
    char id[RECORD_ID_BYTES];
    char note[RECORD_NOTE_BYTES];
};

/* ---- holds, tasks, runs
 * --------------------------------------------------------------------------------------------------
 */

struct gpu_request {
    int64_t model_no; /* 0: no model given */
    int64_t count;
    int64_t cores_percent; /* 0: whole */
    int64_t memory_mib;    /* 0: whole */
    int64_t mgpus; /* of this entry: count x its share, in thousandths; set by rate_price() */
};

struct resources {
    int64_t cores;
    int64_t memory_mib;
    int32_t gpu_count;
    struct gpu_request gpus[LIMIT_GPU_ENTRIES];
};

enum task_state {
    TASK_WAITING,
    TASK_FROZEN,
    TASK_RUNNING,
    TASK_SUSPENDED,
    TASK_SETTLED,
    TASK_RELEASED,
    TASK_EXPIRED,
    TASK__COUNT
};

/* OUTCOME_RUNNING stands for "not known yet" in the usage of runs that still go on. */
enum outcome {
    OUTCOME_RUNNING,
    OUTCOME_COMPLETED,
    OUTCOME_FAILED,
    OUTCOME_TIMEOUT,
    OUTCOME_CANCELLED,
    OUTCOME_NODE_FAIL,
    OUTCOME_BOOT_FAIL,
    OUTCOME_PREEMPTED,
    OUTCOME_OOM,
    OUTCOME_DEADLINE,
    OUTCOME_OTHER,
    OUTCOME__COUNT
};

/* Marks on holds and runs, shown as warnings and flags. */
enum hold_flag {
    FLAG_LATE = 1 << 0,         /* went on after expiry, release, or without room */
    FLAG_UNFROZEN = 1 << 1,     /* a charge: there was no freeze */
    FLAG_OVERRUN = 1 << 2,      /* used more than was frozen */
    FLAG_EXHAUSTED = 1 << 3,    /* a top-up did not fit */
    FLAG_STOPPED = 1 << 4,      /* told to stop */
    FLAG_BY_HEARTBEAT = 1 << 5, /* a run opened by a heartbeat */
    FLAG_RESTARTED = 1 << 6,    /* a second start with another time */
    FLAG_CLOSED_NODE = 1 << 7,
    FLAG_NON_MEMBER = 1 << 8,
    FLAG_UNATTRIBUTED = 1 << 9,
    FLAG_CORRECTED = 1 << 10,
    FLAG_OVERDRAWN = 1 << 11,
    FLAG_OVER_CAP = 1 << 12,
    FLAG_UNPRICED = 1 << 13, /* no price for what was allocated: charged as known before */
    FLAG_ASSIGNED = 1 << 14, /* a charge from the unattributed list, assigned by a person */
};

/* How much of each grant a hold has frozen, earliest end first. */
struct draw {
    int64_t grant_no;
    int64_t mcs;
};

/*
 * One submission. Rows of tasks exist only for tasks something has happened to ("touched"); all
 * others are in untouched_state together, each with frozen seconds x rate_mcores. counts[] counts
 * every task, touched or not.
 */
struct hold {
    int64_t hold_no;
    int64_t root_no;
    int64_t cluster_no;
    int64_t project_no;
    int64_t member_no;
    int64_t payer_no;
    int64_t dims_no; /* names the path that its counters are on */
    int64_t wait_no; /* place in the queue of its untouched tasks; 0: none */
    int64_t created_ms;
    int64_t bound_ms; /* 0: not bound */
    int64_t due_s;    /* when an unbound hold expires; 0: never */
    int64_t seen_s;   /* last word from its job */
    int64_t ttl_s;
    int64_t window_s;
    int64_t time_limit_s; /* 0: none */
    int64_t tasks;
    int64_t max_running; /* 0: none */
    enum hold_mode mode;
    enum on_insufficient on_insufficient;
    enum task_state untouched_state;
    enum task_state last_terminal; /* shown when no task is open */
    int64_t untouched;             /* tasks without a row */
    int64_t counts[TASK__COUNT];
    int64_t own_open;     /* open tasks whose resources a resize made their own (SPEC 4.4) */
    int64_t card_version; /* SPEC 7.4 */
    int64_t rate_mcores;  /* of one task */
    int64_t mgpus;        /* of one task */
    int64_t seconds;      /* that an untouched task freezes */
    int64_t frozen_mcs;   /* now */
    int64_t used_mcs;     /* charges less refunds */
    int64_t flags;        /* enum hold_flag */
    struct digest16
        content; /* of the command as given: tells a replay from another use of the id */
    struct resources resources; /* of one task */
    int32_t draw_count;
    struct draw draws[RECORD_DRAWS];
    char id[RECORD_ID_BYTES];
    char job_id[RECORD_ID_BYTES];
    char job_key[RECORD_KEY_BYTES];
    char job_name[RECORD_NAME_BYTES];
    char partition[RECORD_NAME_BYTES]; /* as given, may be a list */
    char qos[RECORD_NAME_BYTES];
};

struct hold_id { /* ids are unique in a cluster (SPEC 6.1) */
    int64_t cluster_no;
    char id[RECORD_ID_BYTES];
    int64_t hold_no; /* 0: a charge on the unattributed list */
};

/* The scheduler's names of a hold. by_key 0: key is a job_id, the newest bound wins; 1: key is a
 * job_key. */
struct job {
    int64_t cluster_no;
    int64_t by_key;
    char key[RECORD_KEY_BYTES];
    int64_t hold_no;
};

struct task {
    int64_t hold_no;
    int64_t task;
    enum task_state state;
    int32_t attempt;    /* the newest */
    int32_t older_open; /* attempts before it that have started and not ended: they stay open until
                           evidence (SPEC 5.12), and the task with them */
    int64_t wait_no;    /* its own place in the queue after a requeue without room; 0: none */
};

struct segment { /* from this second on, this rate, until the next segment */
    int64_t from_s;
    int64_t rate_mcores;
    int64_t mgpus;
};

struct interval { /* [from_s, to_s); to_s INT64_MAX while it lasts */
    int64_t from_s;
    int64_t to_s;
};

struct month_amount {
    int64_t month;
    int64_t mcs;
};

/*
 * One attempt of a task. What it is charged is a pure function of the facts below (core/charge.h):
 * rate x unsuspended seconds in [started_s, booked_until_s), by segment; nothing where the outcome
 * is waived. Refunds stand beside it.
 */
struct run {
    int64_t hold_no;
    int64_t task;
    int64_t attempt;
    int64_t root_no;
    enum task_state state; /* frozen, running, suspended, settled, released, expired, waiting */
    enum outcome outcome;
    int32_t waived;         /* 1: charged nothing */
    int32_t own_resources;  /* 1: resources below count, else the hold's */
    int64_t frozen_mcs;     /* of the hold's frozen, what is this run's now */
    int64_t started_s;      /* 0: not started */
    int64_t booked_until_s; /* charged up to here (= ended_s when settled) */
    int64_t ended_s;        /* 0: goes on */
    int64_t seen_s;         /* last heartbeat or event */
    int64_t limit_s;        /* the time limit in force, 0: none */
    int64_t charged_mcs;    /* what the facts come to */
    int64_t refunded_mcs;
    int64_t flags;              /* enum hold_flag */
    int64_t settled_frozen_mcs; /* the four totals of the settlement, for its answer and its replay:
                                   frozen at its end, */
    int64_t returned_mcs;       /* refunded = frozen + overrun - charged; */
    int64_t overrun_mcs;
    int64_t waived_mcs;
    int64_t expired_mcs;
    struct digest16 settled;    /* of the settle as given: tells the same again from another one */
    struct resources resources; /* asked for; what was allocated shows in the last segment only */
    int32_t segment_count;
    struct segment segments[RECORD_SEGMENTS];
    int32_t suspension_count;
    struct interval suspensions[RECORD_SUSPENSIONS]; /* ascending, disjoint */
    int32_t draw_count;
    struct draw
        draws[RECORD_DRAWS]; /* where its charge less refunds came from, in the order of use */
    int32_t refund_count;
    struct month_amount refunds[RECORD_REFUND_MONTHS]; /* refunded by period */
    char run_key[RECORD_KEY_BYTES];
};

struct run_host { /* insert only */
    int64_t hold_no;
    int64_t task;
    int64_t attempt;
    char host[RECORD_NAME_BYTES];
};

/* A refund or a correction by a person or by reconciliation: who may be asked why. */
struct adjustment {
    int64_t adjustment_no;
    int64_t root_no;
    int64_t hold_no;
    int64_t task;
    int64_t attempt;
    int64_t is_refund;  /* else a correction */
    int64_t amount_mcs; /* refunded; or the charge after less before */
    int64_t at_ms;
    struct digest16 content;
    char id[RECORD_ID_BYTES]; /* refunds */
    char source[RECORD_NAME_BYTES];
    char reason[RECORD_NOTE_BYTES];
};

/* What a release gave back, for when it is sent again (SPEC 6.1). */
struct release {
    int64_t hold_no;
    char tasks[RECORD_TASKS_TEXT_BYTES]; /* as given; "": all */
    int64_t refunded_mcs;
    int64_t expired_mcs; /* the part of it that went to ended grants */
};

/* ---- waiting, feed
 * -------------------------------------------------------------------------------------------------------
 */

struct limit_ref { /* a limit, named */
    int64_t node_no;
    int64_t kind; /* enum cap_kind */
    int64_t model_no;
};

/* The queue of a root, in order of arrival. task -1: all untouched tasks of the hold; else one
 * requeued task. */
struct waiting {
    int64_t root_no;
    int64_t wait_no;
    int64_t hold_no;
    int64_t task;
    int64_t dims_no;
    int32_t limit_count; /* the limits that failed when last looked at */
    struct limit_ref limits[RECORD_WAIT_LIMITS];
};

enum feed_type { FEED_FROZEN, FEED_STOP, FEED_EXHAUSTED, FEED_RELEASED };

struct feed_event {
    int64_t cluster_no;
    int64_t seq;
    enum feed_type type;
    int64_t hold_no;
    int64_t at_ms;
    char tasks[RECORD_TASKS_TEXT_BYTES]; /* "0", "3-9,12" */
    char message[RECORD_NOTE_BYTES];
};

/* ---- journal, usage
 * ------------------------------------------------------------------------------------------------------
 */

enum account_part { PART_ISSUED, PART_AVAILABLE, PART_FROZEN, PART_USED, PART_EXPIRED };

enum entry_kind {
    ENTRY_GRANT,
    ENTRY_TRANSFER,
    ENTRY_WITHDRAW,
    ENTRY_EXPIRE_GRANT, /* a grant's end */
    ENTRY_FREEZE,
    ENTRY_UNFREEZE, /* back from frozen: the rest at settlement, release, expiry of a hold */
    ENTRY_CHARGE,   /* frozen -> used, or available -> used above the freeze */
    ENTRY_UNCHARGE, /* a provisional charge taken back, waived use */
    ENTRY_REFUND,
    ENTRY_CORRECT,
    ENTRY_REPAY, /* between rows of one payer, to or from its overdraft */
    ENTRY__COUNT
};

/* An append-only transfer of amount_mcs (> 0) from one account to another: (grant, part). grant_no
 * 0 with PART_ISSUED: the root. */
struct entry {
    int64_t root_no;
    int64_t seq; /* from 1, without gaps */
    enum entry_kind kind;
    enum account_part from_part;
    enum account_part to_part;
    int64_t from_grant_no;
    int64_t to_grant_no;
    int64_t amount_mcs;
    int64_t hold_no; /* 0: none */
    int64_t task;
    int64_t attempt;
    int64_t month;  /* in which it is booked */
    int64_t period; /* in which it ran, else = month */
    int64_t at_ms;
};

/* One transaction of a root in its SHA-256 chain (SPEC 9.2): its entries, then its changes by people, then its notes. Any may be none:
 * last is then first - 1. */
struct chain_link {
    int64_t root_no; /* 0: the chain of the service itself, which has changes only */
    int64_t txn_no;
    int64_t first_seq;
    int64_t last_seq;
    int64_t at_ms;
    struct digest hash;
    int64_t first_audit;
    int64_t last_audit;
};

/*
 * A change by a person: who, when, from where, before, after (SPEC 10.3). Texts may hold names of people, which can be
 * overwritten (SPEC 2.4): the chain covers the numbers and `content`, the digest of the texts as they were written.
 */
struct audit {
    int64_t audit_no;
    int64_t root_no; /* 0: of the service itself (clusters, tokens) */
    int64_t seq;     /* in its root, from 1, without gaps */
    int64_t at_ms;
    int64_t node_no;    /* what it is about: the nearest node; 0: none */
    int64_t other_no;   /* a second one, of transfers; 0: none */
    int64_t token_no;   /* who; 0: not by a token of the ledger */
    int64_t role;       /* enum token_role of that token */
    int64_t renamed_no; /* the last change that overwrote a name in the texts; 0: as written */
    struct digest content;
    char action[RECORD_ACTION_BYTES];
    char who
        [RECORD_NOTE_BYTES]; /* the token's id; of the identity provider's people their subject */
    char name[RECORD_NAME_BYTES];
    char address[RECORD_ADDRESS_BYTES];
    char what[RECORD_WHAT_BYTES];
    char before[RECORD_AUDIT_BYTES]; /* a JSON object; "": it did not exist */
    char after[RECORD_AUDIT_BYTES];  /* "": it exists no more */
};

/* What a root counts on; root 0 is the service itself. */
struct root_state {
    int64_t root_no;
    int64_t last_seq;
    int64_t last_txn;
    int64_t last_wait;
    int64_t last_ms;           /* ledger time never runs backwards */
    int64_t turned_month;      /* months before this one have been charged up to their end */
    int64_t oldest_open_month; /* months before this one are closed */
    struct digest hash;
    int64_t last_audit;
};

/* What has its place in a root's chain beside entries: a digest of what is told elsewhere. */
enum note_kind {
    NOTE_CLOSE = 1, /* balances at the close of a month; subject: the month (ledger/period.h) */
    NOTE_SEAL,      /* the usage of a closed month; subject: the month */
};

struct chain_note {
    int64_t root_no;
    int64_t txn_no; /* of the link that it is in */
    int64_t note_no;
    int64_t kind; /* enum note_kind */
    int64_t subject;
    int64_t at_ms;
    struct digest digest;
};

/* What a payer's available and frozen together moved by in a month, as it is booked (SPEC 8.3):
 * granted + in - out - withdrawn - used + refunded - corrected - expired. What is frozen and comes
 * back moves nothing. */
struct payer_flow {
    int64_t granted_mcs;
    int64_t in_mcs;  /* transferred in */
    int64_t out_mcs; /* transferred out */
    int64_t withdrawn_mcs;
    int64_t used_mcs; /* charges, less provisional ones taken back */
    int64_t refunded_mcs;
    int64_t corrected_mcs; /* corrections, and use of an earlier period; above 0: charged more */
    int64_t expired_mcs;
};

struct payer_month {
    int64_t node_no;
    int64_t month; /* booked */
    int64_t root_no;
    struct payer_flow flow;
};

/* A closed month of a root (SPEC 8.2). */
struct period {
    int64_t root_no;
    int64_t month;
    int64_t closing_month; /* the one whose close sealed it: itself, or a later one */
    int64_t closed_ms;
    int64_t txn_no;       /* of the close, in the chain; */
    int64_t last_seq;     /* the last entry before it, */
    int64_t last_hold_no; /* the last hold made before it */
    int64_t format;       /* of its canonical form and of its exports */
    int64_t sealed;       /* 1: the fields below are filled in */
    int64_t row_count;
    int64_t used_mcs;
    int64_t mgs;
    int64_t waived_mcs;
    int64_t runs;
    struct digest digest; /* of its usage in canonical form */
};

/* Where a check can start: the accounts of every grant of the root when a month was closed, */
struct close_grant {
    int64_t root_no;
    int64_t month;
    int64_t grant_no;
    int64_t node_no;
    int64_t granted_mcs;
    int64_t in_mcs;
    int64_t out_mcs;
    int64_t withdrawn_mcs;
    int64_t moved_mcs;
    int64_t available_mcs;
    int64_t frozen_mcs;
    int64_t used_mcs;
    int64_t expired_mcs;
};

/* and what was booked in months after it already. */
struct close_payer {
    int64_t root_no;
    int64_t month;
    int64_t booked_month;
    int64_t node_no;
    struct payer_flow flow;
};

enum usage_kind { USAGE_USAGE, USAGE_CORRECTION, USAGE_REFUND, USAGE_WAIVED };

/* What does not change during the life of a hold, said once: the columns of a report, and the path
 * of its time. */
struct dims {
    int64_t dims_no;
    int64_t root_no;
    int64_t project_no;
    int64_t member_no;
    int64_t cluster_no;
    int64_t card_version;
    char partition[RECORD_NAME_BYTES]; /* the one that was charged */
    char qos[RECORD_NAME_BYTES];
    char gpu_model[RECORD_NAME_BYTES]; /* sorted, joined by "+"; "": no GPU; "gpu": no model */
    int32_t path_count;
    struct path_ref {
        int64_t node_no;
    } path[RECORD_PATH_NODES]; /* member first, root last */
};

/* The finest stored row of usage. */
struct usage {
    int64_t root_no;
    int64_t month; /* booked */
    int64_t day;
    int64_t dims_no;
    int64_t kind;    /* enum usage_kind */
    int64_t outcome; /* enum outcome */
    int64_t period;  /* month in which it ran */
    int64_t used_mcs;
    int64_t mgs;
    int64_t waived_mcs;
    int64_t runs;         /* counted where a run ends */
    int64_t unfrozen_mcs; /* of used_mcs, what had no freeze (SPEC 5.9) */
};

/* ---- the rest
 * ------------------------------------------------------------------------------------------------------------
 */

/* An offset of a root's zone, from at_s on: computed once, stored (SPEC 1.4). */
struct zone_step {
    int64_t root_no;
    int64_t step;
    int64_t at_s;
    int64_t offset_s;
};

struct sequence { /* last number given out: "hold", "node", ... */
    char name[16];
    int64_t last;
};

enum token_role {
    ROLE_ADMIN = 1,
    ROLE_SCHEDULER = 2,
    ROLE_LEAD = 4,
    ROLE_FINANCE = 8,
    ROLE_VIEWER = 16,
    ROLE_MEMBER = 32
};

struct token {
    struct digest hash; /* SHA-256 of the token */
    int64_t token_no;
    enum token_role role;
    int32_t revoked;
    int64_t place_no;  /* cluster of a scheduler, node of the others, 0 for admin */
    int64_t expires_s; /* 0: never */
    int64_t used_s;    /* last use, to the minute */
    int64_t created_ms;
    char id[RECORD_ID_BYTES];
    char name[RECORD_NAME_BYTES];
    char place[RECORD_PLACE_BYTES];
    struct digest old_hash; /* of the secret before the last rotation */
    int64_t old_until_s;    /* until then it is good as well; 0: it never was, or is no more */
};

/* ---- alerts */

enum alert_type {
    ALERT_TEST,
    ALERT_CAP,          /* used and frozen of a window cap have reached a threshold */
    ALERT_GRANT,        /* so have those of a payer's grants */
    ALERT_OVERDRAWN,    /* a payer's overdraft is in use */
    ALERT_GRANT_ENDING, /* a grant with something left ends soon */
    ALERT_STALE,        /* a project has running holds that nobody has heard of lately */
    ALERT_SILENT,       /* a cluster's agent is silent */
    ALERT__COUNT
};

/* Where alerts are sent to. */
struct webhook {
    int64_t webhook_no;
    int64_t root_no;
    int64_t node_no;    /* it hears of this node and all below */
    int64_t types;      /* bits 1 << enum alert_type */
    int64_t disabled;   /* 1: by a person, or because the receiver answered 410 */
    int64_t grant_days; /* ALERT_GRANT_ENDING: so long before */
    int64_t version;
    int64_t created_ms;
    int64_t old_until_ms; /* until then messages are signed with the old secret as well */
    char name[RECORD_NODE_NAME_BYTES];
    char url[RECORD_URL_BYTES];
    char secret[RECORD_SECRET_BYTES];
    char old_secret[RECORD_SECRET_BYTES];
    int64_t pending; /* deliveries that wait; LIMIT_WEBHOOK_PENDING at most */
};

/* What happened, written once for all its webhooks, in the transaction of its cause. It goes with its last delivery. */
struct alert {
    int64_t alert_no;
    int64_t type; /* enum alert_type */
    int64_t root_no;
    int64_t node_no; /* the capped node, the payer, the project; 0: a cluster's */
    int64_t
        other_no; /* ending: the grant; stale: the hold not heard of for longest; silent: the cluster */
    int64_t cap_kind;
    int64_t percent; /* the threshold */
    int64_t limit_mcs;
    int64_t used_mcs;
    int64_t frozen_mcs;
    int64_t until_s; /* the window's or grant's end; stale, silent: last heard of */
    int64_t holds;
    int64_t at_ms;
    int64_t deliveries; /* that are still kept */
};

/* What has been told, so that it is not told twice. */
struct alert_state {
    int64_t type;
    int64_t subject_no; /* node, payer, grant, project, cluster */
    int64_t detail_no;  /* the cap's kind; of an ending grant the webhook */
    int64_t epoch;      /* of another one than now: as if it was not there */
    int64_t window_s;   /* the end of the window for which it holds; overdrawn: when it was told */
    int64_t level;      /* the highest threshold told; 0: none */
};

enum delivery_state { DELIVERY_PENDING, DELIVERY_DELIVERED, DELIVERY_DEAD };

/* One alert on its way to one webhook. */
struct delivery {
    int64_t delivery_no;
    int64_t webhook_no;
    int64_t alert_no;
    int64_t state; /* enum delivery_state */
    int64_t tries;
    int64_t next_ms; /* pending: when it is due */
    int64_t at_ms;
    int64_t done_ms;
    int64_t status; /* HTTP, of the last try; 0: no answer */
    char error[RECORD_NAME_BYTES];
};

/* Use of an account that no project answers to, or without a price, for a person to assign (SPEC
 * 5.9). */
struct unattributed {
    int64_t cluster_no;
    char id[RECORD_ID_BYTES];
    int64_t rate_mcores;
    int64_t used_mcs;
    int64_t started_s;
    int64_t ended_s;
    int64_t suspended_s;
    int64_t at_ms;
    enum outcome outcome; /* as given; OUTCOME_RUNNING: not given */
    struct digest16 content;
    char account[RECORD_NAME_BYTES];
    char user[RECORD_NAME_BYTES];
    char job_key[RECORD_KEY_BYTES];
    char run_key[RECORD_KEY_BYTES];
    char job_name[RECORD_NAME_BYTES];
    char partition[RECORD_NAME_BYTES];
    char qos[RECORD_NAME_BYTES];
    char hosts[LIMIT_HOSTS_BYTES + 1]; /* joined by "," */
    struct resources resources;
};

#endif

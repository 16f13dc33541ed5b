/*
 * Commands: what the ledger can be told to do, decoded and bounded, without pointers.
 *
 * server/decode_commands.c fills them from JSON, timers make their own; ledger/execute.c carries
 * them out. A command holds names (of clusters, accounts, people), not numbers: those are looked up
 * inside the transaction. "Given" flags tell an absent value from a zero one (SPEC 1.5). Amounts
 * are mcs, times whole seconds UTC.
 */
#ifndef LEDGER_CORE_COMMAND_H
#define LEDGER_CORE_COMMAND_H

#include "ledger/core/record.h"

enum command_kind {
    /* the life of a hold, in the order of api.md */
    COMMAND_FREEZE,
    COMMAND_QUOTE, /* a freeze that is only decided */
    COMMAND_BIND,
    COMMAND_START,
    COMMAND_SUSPEND,
    COMMAND_RESUME,
    COMMAND_RESIZE,
    COMMAND_REQUEUE,
    COMMAND_SETTLE,
    COMMAND_RELEASE,
    COMMAND_CORRECT,
    COMMAND_HEARTBEAT, /* one run; a request's are split by the server */
    COMMAND_CHARGE,
    COMMAND_ASSIGN, /* a charge of the unattributed list to a project; its struct is a charge's */
    COMMAND_REFUND,
    /* money */
    COMMAND_GRANT,
    COMMAND_TRANSFER,
    COMMAND_WITHDRAW,
    /* who and where */
    COMMAND_PUT_NODE,   /* organization, project or member: create or replace */
    COMMAND_PATCH_NODE, /* the given fields only; state closes */
    COMMAND_PUT_CAP,
    COMMAND_DELETE_CAP,
    COMMAND_PUT_CLUSTER,
    COMMAND_PATCH_CLUSTER,
    COMMAND_PUT_MAPPING, /* account -> project, user -> person */
    COMMAND_PUT_RATES,
    COMMAND_PUT_TOKEN,
    COMMAND_REVOKE_TOKEN,
    COMMAND_PUT_WEBHOOK,
    COMMAND_DELETE_WEBHOOK,
    COMMAND_CLOSE,         /* a month of a root */
    COMMAND_RENAME_PERSON, /* overwrite a person's name everywhere (SPEC 2.4) */
    COMMAND_ROTATE_TOKEN,  /* a new secret; the old one is good for a while */
    /* the ledger's own clockwork */
    COMMAND_EXPIRE_HOLD, /* an unbound hold whose ttl is over */
    COMMAND_END_GRANT,
    COMMAND_TURN_RUN,     /* charge a run up to a month's start */
    COMMAND_TURN_MONTH,   /* mark the month turned, wake what waits for it */
    COMMAND_TOUCH_AGENT,  /* a poll of the feed: the agent lives */
    COMMAND_TOUCH_TOKEN,  /* last use */
    COMMAND_SEAL,         /* the digest of a closed month, computed by a reader */
    COMMAND_TEST_WEBHOOK, /* a message to see whether it arrives */
    COMMAND_RAISE_ALERT,  /* what time has brought is told, or has passed */
    COMMAND_DELIVERED,    /* a try of a delivery and how it ended */
    COMMAND_OVERWRITE,    /* a person's name, in some changes of the log */
    COMMAND_PRUNE,        /* deliveries and tokens that are over for long are forgotten */
    COMMAND__COUNT
};

/** Whether a command of this kind is written into the audit log when a person gives it (SPEC 10.3): settings, money,
 * tokens, refunds and corrections. What else happens to holds stands in the journal. */
static inline bool command_is_audited(enum command_kind kind)
{
    return kind == COMMAND_CORRECT || kind == COMMAND_ASSIGN ||
           (kind >= COMMAND_REFUND && kind < COMMAND_EXPIRE_HOLD);
}

/* A GPU entry as named by the client. */
struct command_gpu {
    char model[RECORD_NAME_BYTES]; /* lower case; "": none given */
    int64_t count;                 /* 1.. */
    int64_t cores_percent;         /* 1..100; 0: not given */
    int64_t memory_mib;            /* 1..; 0: not given */
};

struct command_resources {
    bool given;
    int64_t cores;
    int64_t memory_mib;
    int32_t gpu_count;
    struct command_gpu gpus[LIMIT_GPU_ENTRIES];
};

struct command_job {
    bool given;
    char name[RECORD_NAME_BYTES];
    char partition[RECORD_NAME_BYTES];
    char qos[RECORD_NAME_BYTES];
};

struct command_freeze {
    char id[RECORD_ID_BYTES];
    char account[RECORD_NAME_BYTES];
    char user[RECORD_NAME_BYTES];
    struct command_job job;
    struct command_resources resources;
    int64_t tasks;        /* 0: 1 */
    int64_t max_running;  /* 0: none */
    int64_t time_limit_s; /* 0: none */
    int64_t ttl_s;        /* 0: the project's, then the cluster's */
    enum hold_mode mode;
    enum on_insufficient on_insufficient;
};

struct command_bind {
    char job_id[RECORD_ID_BYTES];
    char job_key[RECORD_KEY_BYTES]; /* "": as job_id */
};

/* What start, settle, requeue, correct, suspend, resume and resize say of a run; each uses the
 * fields that its shape has. */
struct command_run {
    int64_t at_s;         /* suspend, resume, resize, heartbeat; 0: now */
    int64_t started_at_s; /* 0: not given */
    int64_t ended_at_s;
    bool suspended_given;
    int64_t suspended_s;
    enum outcome outcome; /* OUTCOME_RUNNING: not given = completed */
    struct command_resources
        resources;                   /* allocated (settle, requeue, correct); resources (resize) */
    int64_t time_limit_s;            /* resize; 0: not given */
    struct command_job job;          /* resize */
    char account[RECORD_NAME_BYTES]; /* resize: another one is refused; "": not given */
    char run_key[RECORD_KEY_BYTES];
    char source[RECORD_NAME_BYTES];    /* correct */
    char reason[RECORD_NOTE_BYTES];    /* correct, release */
    char hosts[LIMIT_HOSTS_BYTES + 1]; /* joined by ","; "": not given */
};

struct command_charge {
    char id[RECORD_ID_BYTES];
    char account[RECORD_NAME_BYTES];
    char user[RECORD_NAME_BYTES];
    char job_key[RECORD_KEY_BYTES];
    struct command_job job;
    struct command_run
        run; /* resources, started_at, ended_at, suspended_s, outcome, run_key, hosts */
    char project[RECORD_NODE_NAME_BYTES]; /* ASSIGN: who pays; "": the project of the account */
    bool assigned;           /* set by the ledger on a charge that it takes from the list: */
    struct digest16 content; /* of the charge as it was sent */
};

struct command_refund {
    char id[RECORD_ID_BYTES];
    bool all; /* no amount given: what is left of the charge */
    int64_t amount_mcs;
    char reason[RECORD_NOTE_BYTES];
};

/* grant: to, amount, start, end; transfer: from, to, amount; withdraw: from, amount, note = reason
 */
struct command_movement {
    char id[RECORD_ID_BYTES];
    char from[RECORD_NODE_NAME_BYTES];
    char to[RECORD_NODE_NAME_BYTES];
    int64_t amount_mcs;
    int64_t start_s; /* 0: now */
    int64_t end_s;   /* 0: never */
    char note[RECORD_NOTE_BYTES];
};

/* Settings that may be given: bit 1 << field in `given`. The values stand in the struct of the
 * record itself. */
enum node_field {
    NODE_FIELD_PARENT,
    NODE_FIELD_FUNDING,
    NODE_FIELD_MEMBERSHIP,
    NODE_FIELD_STATE,
    NODE_FIELD_TIMEZONE,
    NODE_FIELD_FISCAL_YEAR_START,
    NODE_FIELD_OVERDRAFT,
    NODE_FIELD_CONTACT,
    NODE_FIELD_WAIVED_OUTCOMES,
    NODE_FIELD_NAMES_VISIBLE,
    NODE_FIELD_MODE,
    NODE_FIELD_WINDOW,
    NODE_FIELD_ON_INSUFFICIENT,
    NODE_FIELD_TTL,
};

struct command_node {
    enum node_kind kind;
    char name[RECORD_NAME_BYTES];        /* organization or project; the person of a member */
    char parent[RECORD_NODE_NAME_BYTES]; /* "parent" of an organization, "organization" of a
                                            project, the project of a member */
    uint32_t given;
    struct node set; /* the values of the given fields */
};

struct command_cap {
    enum node_kind kind;
    char node[RECORD_NAME_BYTES];
    char project[RECORD_NODE_NAME_BYTES]; /* of a member */
    struct cap cap;
    char model[RECORD_NAME_BYTES]; /* gpus:MODEL */
    bool any_kind;                 /* kind is not known: an organization or a project */
};

enum cluster_field {
    CLUSTER_FIELD_KIND,
    CLUSTER_FIELD_ROOTS,
    CLUSTER_FIELD_MODE,
    CLUSTER_FIELD_WINDOW,
    CLUSTER_FIELD_ON_INSUFFICIENT,
    CLUSTER_FIELD_ON_EXHAUSTED,
    CLUSTER_FIELD_STOP_GRACE,
    CLUSTER_FIELD_FAIL_POLICY,
    CLUSTER_FIELD_TTL,
    CLUSTER_FIELD_HEARTBEAT,
    CLUSTER_FIELD_STALE_AFTER,
    CLUSTER_FIELD_STATE,
};

struct command_cluster {
    uint32_t given;
    struct cluster set; /* name in command.cluster */
    int32_t root_count;
    char roots[RECORD_CLUSTER_ROOTS][RECORD_NODE_NAME_BYTES];
};

struct command_mapping {
    bool is_user;
    char name[RECORD_NAME_BYTES];   /* account or user, as the scheduler says */
    char target[RECORD_NAME_BYTES]; /* project or person */
};

struct command_rate_row {
    struct rate_row row; /* model numbers not set */
    char models[RECORD_RATE_MODELS][RECORD_NAME_BYTES];
};

struct command_rates {
    struct rate_version version;
    struct command_rate_row rows[RECORD_RATE_ROWS];
};

struct command_token {
    struct token token;  /* hash, role, name, place, expires_s, id */
    int64_t old_valid_s; /* ROTATE_TOKEN: how long the old secret stays good */
};

struct command_rename {
    char person[RECORD_NAME_BYTES];
    char to[RECORD_ID_BYTES];
    char reason[RECORD_NOTE_BYTES];
    int64_t
        looked_no; /* a reader has looked through the log up to this change; what it found is overwritten after */
    int64_t found; /* so many changes */
};

enum { OVERWRITE_CHANGES = 64 };

/* Changes of the log in which a reader found a person's name that is to be overwritten. */
struct command_overwrite {
    char person[RECORD_NAME_BYTES];
    char to[RECORD_ID_BYTES];
    int64_t by_no; /* the change that says so */
    int64_t count;
    int64_t nos[OVERWRITE_CHANGES];
};

struct command_close {
    char root[RECORD_NODE_NAME_BYTES];
    int64_t month;
};

struct command_webhook {
    char name[RECORD_NODE_NAME_BYTES];
    char node[RECORD_NODE_NAME_BYTES];
    char url[RECORD_URL_BYTES];
    char secret[RECORD_SECRET_BYTES]; /* made by the server, for a new one or a rotation */
    int64_t types;
    int64_t grant_days;
    int64_t disabled;
    bool rotate;
};

struct command_alert {
    struct alert alert;
    int64_t subject_no;
    int64_t webhook_no; /* 0: all that cover it */
    bool clears;        /* it has passed */
};

struct command_delivered {
    int64_t delivery_no;
    int64_t state; /* enum delivery_state */
    int64_t status;
    int64_t next_ms;
    bool gone; /* the receiver wants no more: 410 */
    char error[RECORD_NAME_BYTES];
};

/* What ended up to these times is forgotten, a bounded number at a time. */
struct command_prune {
    int64_t deliveries_ms;
    int64_t tokens_s;
};

/* A clockwork command's subject: EXPIRE_HOLD, TURN_RUN (hold, task, attempt, at), END_GRANT
 * (grant), TURN_MONTH (root, month). */
struct command_due {
    int64_t hold_no;
    int64_t task;
    int64_t attempt;
    int64_t grant_no;
    int64_t root_no;
    int64_t month;
    int64_t at_s;
    struct digest token;
};

/* If-Match of a change (SPEC 10.3). */
enum if_match { MATCH_NONE, MATCH_ANY, MATCH_VERSION };

struct command {
    enum command_kind kind;
    bool dry_run;
    /* who asks: bounds what names lead to (SPEC 6.2, 10.2) */
    enum token_role role;
    int64_t place_no;
    /* which cluster, which hold: by id, by hold_no (clockwork), or by the scheduler's job */
    char cluster[RECORD_NAME_BYTES];   /* "": any */
    char root[RECORD_NODE_NAME_BYTES]; /* "": any; tells apart ids known in several */
    char hold[RECORD_ID_BYTES];
    char job_id[RECORD_ID_BYTES];
    char job_key[RECORD_KEY_BYTES];
    /* which tasks */
    bool all_tasks;                      /* none named: every task (release, resize) */
    int64_t task;                        /* default 0 */
    int64_t attempt;                     /* default 0 */
    char tasks[RECORD_TASKS_TEXT_BYTES]; /* release: "3-9,12"; "": all */
    enum if_match if_match;
    int64_t if_version;
    union {
        struct command_freeze freeze; /* FREEZE, QUOTE */
        struct command_bind bind;
        struct command_run run; /* START .. RELEASE, CORRECT, HEARTBEAT */
        struct command_charge charge;
        struct command_refund refund;
        struct command_movement movement; /* GRANT, TRANSFER, WITHDRAW */
        struct command_node node;
        struct command_cap cap;
        struct command_cluster cluster_set;
        struct command_mapping mapping;
        struct command_token token;
        struct command_close close;
        struct command_rename rename;
        struct command_overwrite overwrite;
        struct command_due due;
        struct period seal; /* root, month and what a seal fills in */
        struct command_webhook webhook;
        struct command_alert alert;
        struct command_delivered delivered;
        struct command_prune prune;
    };
};

/* Rates are the one large command: they ride beside it. */
struct command_with_rates {
    struct command command;
    struct command_rates rates;
};

#endif

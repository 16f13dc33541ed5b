/*
 * What a decision sees and what it leaves behind.
 *
 * ledger/load.c fills a view inside the transaction. A decision (core/decide.h) works on that view
 * as on a sheet of paper: it changes the records of its hold, task, run and grants in place and
 * writes everything else it wants done into the plan. When it returns ERR_OK, ledger/apply.c
 * carries the sheet over into the ledger; when it refuses, the sheet is thrown away. Hence a
 * decision is atomic without any undo, and it can be run on any view that a test makes up.
 */
#ifndef LEDGER_CORE_VIEW_H
#define LEDGER_CORE_VIEW_H

#include "ledger/base/calendar.h"
#include "ledger/base/error.h"
#include "ledger/core/command.h"
#include "ledger/core/record.h"

enum {
    VIEW_GRANTS = 128,   /* LIMIT_GRANTS of a payer, and ended ones that are still drawn on */
    PLAN_ENTRIES = 2048, /* a correction of the longest run: each month returned, repaid, used, and
                            its refund cut and moved */
    /* a run of LIMIT_RUN_DAYS taken back and booked anew, and its refunds cut and moved */
    PLAN_USAGE = 2 * (LIMIT_RUN_DAYS + 1) + 2 * RECORD_REFUND_MONTHS,
    PLAN_FEED = 4,
    PLAN_VIOLATIONS = 320, /* all caps of a path, and funds */
    PLAN_MODELS = 4 * LIMIT_GPU_ENTRIES,
};

/* A node of the path with what its limits are measured against. A member's caps are its own and,
 * cap by cap, those of `*`. */
struct view_node {
    struct node node;
    struct counter counter;
    int64_t window_used_mcs[4]; /* CAP_MONTH .. CAP_TOTAL: used in the window that contains now */
    int64_t window_end_s[4];    /* when it turns; INT64_MAX for total */
    uint32_t waiting_caps; /* bit i: something that waits failed at caps[i] and came before this
                              command */
};

struct view {
    int64_t now_ms; /* ledger time */
    int64_t now_s;
    int64_t month;             /* of now, in the root's zone */
    int64_t oldest_open_month; /* what ran earlier is booked here (SPEC 8.2) */
    int64_t waiting_ahead;     /* holds waiting at any limit of this path */
    bool funds_waiting;        /* something that waits failed for funds of this payer */
    bool new_member; /* nodes[0] was made for this command and is stored only if it passes; whether
                        the project takes new members is decided here */
    struct cluster cluster;
    struct rate_card card; /* the hold's, or for a freeze the one in force now, for a charge the one
                              at started_at */
    bool card_found;
    int32_t node_count;
    struct view_node nodes[RECORD_PATH_NODES]; /* member first, root last */
    /* Payer's rows: timed ones by end, then endless, then overdraft (always there for a `self`
       payer). All that are valid now, and all that the hold or the run draws on. */
    int32_t grant_count;
    struct grant grants[VIEW_GRANTS];
    int64_t next_grant_no; /* TRANSFER: the number of the first row that it makes, then + 1 each */
    /* The resources that the command names (of one task; allocated, new, ...), models as numbers,
       gpus[].mgpus not set. Only where the command says that some are given. */
    struct resources resources;
    /* RESIZE that names an account: the project it leads to on this cluster, -1 when to none. */
    int64_t account_project_no;
    /* For a new hold (DECIDE_NEW): not found and zeroed, but for hold_no, root_no, cluster_no,
       project_no, member_no, payer_no, created_ms and content. dims_no is set when applied. */
    bool hold_found;
    struct hold hold;
    bool task_found; /* false for an untouched task: task is then filled as one would make it */
    struct task task;
    bool run_found; /* the attempt that the command names; not found: run is void */
    struct run run;
    bool previous_found; /* the newest attempt where that is another one */
    struct run previous;
    struct run
        replaced; /* left by a requeue: one that never started and whose freeze the attempt now
                            settled took over */
};

/* One posting to usage: added to the row of its key. */
struct usage_delta {
    int64_t month;
    int64_t day;
    int64_t period;
    enum usage_kind kind;
    enum outcome outcome;
    int64_t used_mcs;
    int64_t mgs;
    int64_t waived_mcs;
    int64_t runs;
};

/* Added to the counter of every node of the path. used_mcs is not here: it follows from the usage.
 */
struct counter_delta {
    int64_t frozen_mcs;
    int64_t waiting_mcs;
    int64_t jobs;
    int64_t mcores;
    int64_t mgpus;
    int64_t open_tasks;
    int64_t waiting_tasks;
    int32_t model_count;
    struct counter_model models[PLAN_MODELS];
};

/* A limit that failed, or a soft one that would have (SPEC 6.3). Figures in the unit of its kind.
 */
struct violation {
    int64_t node_no;
    enum node_kind node_kind;
    enum cap_kind kind;
    int64_t model_no;
    int64_t limit;
    int64_t used;
    int64_t frozen;
    int64_t requested;
    int64_t available;   /* limit - used - frozen, may be negative */
    int64_t missing;     /* > 0, or 0 where only those who wait ahead stand in the way */
    int64_t resets_at_s; /* 0: never */
    bool soft;
    bool beyond; /* the request exceeds the cap by itself: waiting cannot help (SPEC 5.13) */
    char node[RECORD_NAME_BYTES];
    char project[RECORD_NODE_NAME_BYTES]; /* of a member */
};

enum wait_change { WAIT_NONE, WAIT_JOIN, WAIT_LEAVE, WAIT_STAY };

struct plan {
    /* what to store: records of the view that changed */
    bool hold_changed;
    bool task_changed;
    bool run_changed;
    bool previous_changed;
    bool replaced_changed;
    uint64_t grants_changed[2]; /* bit i: grants[i] of the view as left behind */
    struct counter_delta delta;
    int32_t entry_count;
    struct entry entries[PLAN_ENTRIES]; /* seq, root and at_ms are set when applied */
    int32_t usage_count;
    struct usage_delta usage[PLAN_USAGE];
    int32_t feed_count;
    struct feed_event feed[PLAN_FEED]; /* seq set when applied */
    enum wait_change hold_wait;        /* row in the queue of the hold's untouched tasks */
    enum wait_change task_wait; /* row in the queue of view.task; the limits of either are the hard
                                   ones among the violations. wait_no is the shell's: set when
                                   joined, cleared when left */
    bool bound;                 /* job_id and job_key of the hold are to be indexed */
    bool
        dims_changed; /* the hold's dimensions are new or others: find or make them (resize: the path
                          stays) */
    char partition[RECORD_NAME_BYTES]; /* then: the one of the hold's list that is charged */
    bool room_freed;                   /* what waits on this path may now fit */
    bool adjustment_made;
    struct adjustment adjustment;
    /* what to answer */
    bool replayed;
    bool no_effect; /* accepted and ignored (SPEC 5.12) */
    bool left;      /* release: this task has started and is left as it is */
    bool waits;     /* freeze, requeue: accepted, but it waits */
    int64_t run_charged_mcs;
    int64_t run_refunded_mcs;
    int64_t run_overrun_mcs;
    int64_t run_waived_mcs;
    int64_t run_expired_mcs;
    int64_t requested_mcs;
    int64_t requested_mcores; /* rate and seconds of the request, for the formula */
    int64_t requested_s;
    int64_t warnings; /* enum hold_flag */
    enum heartbeat_result {
        HEARTBEAT_OK,
        HEARTBEAT_ENDED,
        HEARTBEAT_OLD,
        HEARTBEAT_UNKNOWN,
        HEARTBEAT_STOP
    } heartbeat;
    int32_t violation_count; /* hard ones when refused; soft ones as warnings when passed */
    struct violation violations[PLAN_VIOLATIONS];
};

#endif

/*
 * The inside of a ledger: what the files of the shell (load, apply, execute, wait, admin, due) share.
 * No other layer includes this.
 */
#ifndef LEDGER_SHELL_H
#define LEDGER_SHELL_H

#include "ledger/core/plan.h"
#include "ledger/core/view.h"
#include "ledger/ledger.h"
#include "ledger/map.h"
#include "ledger/rows.h"
#include "ledger/working_set.h"

/* A root's calendar, and the windows that contain the second at_s. */
struct root_time {
    struct calendar calendar;
    int64_t at_s;
    int64_t month;
    int64_t quarter_first; /* month in which the quarter, the fiscal year began */
    int64_t year_first;
    int64_t window_end_s[4]; /* CAP_MONTH .. CAP_TOTAL */
};

/* The rows of a payer that have not ended, in the order of core/funds.h; good for one generation of
 * the working set. */
struct payer_rows {
    uint64_t generation;
    size_t count;
    size_t capacity;
    struct cell **cells;
};

/* The versions of a cluster's rate card, by effective time, latest first; good for one generation. */
struct card_versions {
    uint64_t generation;
    size_t count;
    size_t capacity;
    struct card_version {
        int64_t effective_from_s;
        int64_t version;
    } * versions;
};

/* Numbers of all clusters, good for one generation. */
struct cluster_list {
    uint64_t generation;
    size_t count;
    size_t capacity;
    int64_t *nos;
};

/* Names of GPU models by number. */
struct model_names {
    bool loaded;
    size_t count; /* models 1 .. count - 1 have names */
    size_t capacity;
    char (*names)[RECORD_NAME_BYTES];
};

/* What the view was filled from, beside the view itself. */
struct subject {
    int64_t root_no;
    const struct root_time *time;
    struct cell *counters[RECORD_PATH_NODES];
    int32_t new_model_count; /* models first named by this command, numbered already */
    char new_models[LIMIT_GPU_ENTRIES][RECORD_NAME_BYTES];
};

/* Where ledger_due() stands in charging the runs of a root up to a month's start. */
struct turn_cursor {
    int64_t root_no;
    int64_t month;
    int64_t hold_no;
    int64_t task;
    int64_t attempt;
};

/* The enabled webhooks, in memory. */
struct alert_hooks {
    bool loaded;
    bool dirty; /* changed since the last commit */
    bool made;  /* deliveries, since ledger_alerts_made() */
    int64_t epoch;
    size_t count;
    size_t capacity;
    struct alert_hook {
        int64_t webhook_no;
        int64_t root_no;
        int64_t node_no;
        int64_t types;
    } * hooks;
};

struct waiting_root;

struct ledger {
    struct store *store;
    struct working_set *set;
    int64_t clock_ms;                 /* of the call */
    const struct ledger_actor *actor; /* of the work being carried out; NULL: not to be audited */
    int64_t first_audit_no;           /* of this transaction; 0: none yet */
    struct root_time utc;             /* stands in when there is no memory for a calendar */
    struct map times;                 /* root_no -> struct root_time */
    struct map payers;                /* node_no -> struct payer_rows */
    struct map cards;                 /* cluster_no -> struct card_versions */
    struct map waiting;               /* root_no -> struct waiting_root */
    bool has_notes; /* perhaps: something of this transaction stands in a chain beside entries */
    struct cluster_list clusters;
    struct model_names models;
    struct subject subject;
    struct turn_cursor turn;
    int64_t next_turn_s; /* no month turns before this, as of next_turn_generation */
    uint64_t next_turn_generation;
    int64_t grants_looked_s; /* grants that start up to here have woken what waits; 0: not yet */
    size_t feed_count;       /* clusters with new feed events since ledger_feed_changed() */
    int64_t feed_clusters[1024];
    struct alert_hooks alerts;
    struct ledger_cap_effect *started; /* who is told of promotions; NULL: nobody */
    struct command_with_rates tried;   /* a command of a work that is only tried */
    struct command assigned;           /* a charge taken from the unattributed list */
    struct view view;
    struct plan plan;
};

#endif

/*
 * The named selections: every list that anyone may ask of an engine.
 * schema/queries/select_<name>.sql on SQL engines, a filter in memory_select.c on that one; rows
 * come in the order said here. At most args.limit rows (0: all).
 */
#ifndef LEDGER_STORE_SELECT_H
#define LEDGER_STORE_SELECT_H

#include <stdint.h>

#include "ledger/store/record_type.h"

enum select_kind {
    SELECT_GRANTS_OF_NODE,  /* struct grant; n[0] node; by end_s, grant_no */
    SELECT_GRANTS_DUE,      /* struct grant; not ended, end_s <= n[0]; by end_s, grant_no */
    SELECT_GRANTS_STARTING, /* struct grant; n[0] < start_s <= n[1]; by start_s: they free room */
    SELECT_MEMBERS_OF_NODE, /* struct node; children of n[0] with node_no > n[1]; by node_no */
    SELECT_ROOTS,           /* struct node; roots; by node_no */
    SELECT_NODES,    /* struct node; of root n[0] (0: all), kind n[1] (-1: all), node_no > n[2]; by
                        node_no */
    SELECT_CLUSTERS, /* struct cluster; by cluster_no */
    SELECT_HOLDS_BY_ID,   /* struct hold_id; s[0] id, any cluster; by cluster_no */
    SELECT_TASKS_OF_HOLD, /* struct task; n[0] hold, task > n[1] (start with -1); by task */
    SELECT_RUNS_OF_HOLD,  /* struct run; n[0] hold; by task, attempt */
    SELECT_RUNS_OF_TASK,  /* struct run; n[0] hold, n[1] task; by attempt */
    SELECT_RUNS_BEHIND,   /* struct run; of root n[0], running or suspended, booked_until_s < n[1],
                             after (hold n[2], task n[3], attempt n[4]) */
    SELECT_HOLDS_DUE,     /* struct hold; due_s > 0 and due_s <= n[0]; by due_s, hold_no */
    SELECT_HOLDS, /* struct hold; hold_no < n[0], newest first; filters: n[1] project (0 any), n[2]
                     member, n[3] cluster, n[4] root, n[5] 1 = only open ones (frozen, running,
                     suspended or waiting tasks); the rest is filtered by the reader. A look-up in an
                     index where a project is given or only open ones are wanted; else a walk
                     through all holds: give a limit */
    SELECT_HOLDS_OPEN,      /* struct hold; of project n[0], open tasks; by frozen_mcs descending,
                               hold_no */
    SELECT_WAITING,         /* struct waiting; of root n[0]; by wait_no */
    SELECT_FEED,            /* struct feed_event; cluster n[0], seq > n[1]; by seq */
    SELECT_ENTRIES,         /* struct entry; root n[0], seq > n[1]; by seq */
    SELECT_ENTRIES_OF_HOLD, /* struct entry; n[0] root, n[1] hold, n[2] < seq <= n[3] (0: to the
                               end); by seq. A walk through that part of the journal: bound it */
    SELECT_CHAIN,           /* struct chain_link; root n[0], txn_no > n[1]; by txn_no */
    SELECT_USAGE,           /* struct usage; root n[0], months n[1]..n[2] (booked); by key */
    SELECT_USAGE_DAYS,      /* struct usage; root n[0], days n[1]..n[2]; by key */
    SELECT_ZONE,            /* struct zone_step; root n[0]; by step */
    SELECT_RATE_VERSIONS,   /* struct rate_version; cluster n[0]; by version */
    SELECT_RATE_ROWS,       /* struct rate_row; cluster n[0], version n[1]; by row */
    SELECT_NAMES,           /* struct name; space n[0], scope n[1], name > s[0]; by name */
    SELECT_TOKENS,          /* struct token; by token_no */
    SELECT_TOKENS_OF_ID,    /* struct token; s[0] id; by hash */
    SELECT_TOKENS_OVER,     /* struct token; 0 < expires_s <= n[0]; by expires_s, hash */
    SELECT_ADJUSTMENTS,     /* struct adjustment; n[0] hold; by adjustment_no */
    SELECT_UNATTRIBUTED,    /* struct unattributed; cluster n[0]; by id */
    SELECT_RUN_HOSTS,       /* struct run_host; n[0] hold; by key */
    SELECT_AUDIT,      /* struct audit; audit_no > n[0], time n[1] <= at_ms < n[2]; by audit_no */
    SELECT_AUDIT_ROOT, /* struct audit; the same of root n[0]: audit_no > n[1], n[2] <= at_ms < n[3] */
    SELECT_GRANTS_OF_ROOT, /* struct grant; root n[0]; by number. A walk through all: for closes */
    SELECT_PAYER_MONTHS,   /* struct payer_month; node n[0]; by month */
    SELECT_PAYER_MONTHS_AFTER, /* struct payer_month; root n[0], month > n[1]; by
                               month, node */
    SELECT_PERIODS,            /* struct period; root n[0]; by month */
    SELECT_CLOSE_GRANTS,       /* struct close_grant; root n[0], month n[1]; by grant */
    SELECT_CLOSE_PAYERS,       /* struct close_payer; root n[0], month n[1]; by key */
    SELECT_CHAIN_NOTES,        /* struct chain_note; root n[0], txn_no > n[1]; by key */
    SELECT_RUNS_SETTLED, /* struct run; of root n[0] (0: all), settled, ended_s > n[1], started_s < n[2], after
                               (hold n[3], task n[4], attempt n[5]); by key. A walk through the runs behind that place */
    SELECT_WEBHOOKS,       /* struct webhook; by webhook_no */
    SELECT_DELIVERIES_DUE, /* struct delivery; of webhook n[0], pending, next_ms <= n[1]; by next_ms,
                              delivery_no */
    SELECT_DELIVERIES_PENDING, /* struct delivery; pending, webhook_no > n[0]; by webhook_no, next_ms,
                                  delivery_no */
    SELECT_DELIVERIES_DONE, /* struct delivery; not pending, done_ms <= n[0]; by done_ms, delivery_no */
    SELECT_DELIVERIES_OF_WEBHOOK, /* struct delivery; webhook n[0], delivery_no < n[1]; newest first */
    SELECT_ALERT_STATES,          /* struct alert_state; type n[0]; by key */
    /* whole tables, for check */
    SELECT_ALL_HOLDS,
    SELECT_ALL_RUNS,
    SELECT_ALL_TASKS,
    SELECT_ALL_GRANTS,
    SELECT_ALL_COUNTERS,
    SELECT_ALL_NODE_MONTHS,
    SELECT_ALL_PAYER_MONTHS,
    SELECT_ALL_USAGE,
    SELECT_ALL_DIMS,
    SELECT_ALL_WAITING,
    SELECT_ALL_ROOT_STATES, /* by key */
    /* how engines answer SELECT_HOLDS, with its arguments; store_select() chooses, nobody else asks */
    SELECT_HOLDS_OF_PROJECT,
    SELECT_HOLDS_STILL_OPEN,
    SELECT__COUNT
};

enum { SELECT_INTEGERS = 6, SELECT_TEXTS = 1 };

struct select_args {
    int64_t n[SELECT_INTEGERS];
    const char *s[SELECT_TEXTS]; /* borrowed */
    int64_t limit;               /* 0: all */
};

/* What a selection takes and gives. */
struct select_type {
    const char *name; /* schema/queries/select_<name>.sql */
    enum record_id record;
    int integers;
    int texts;
};

extern const struct select_type select_types[SELECT__COUNT];

#endif

/*
 * The inside of ledger_check(): what its passes share.
 *
 * Each pass reads one kind of record from the snapshot, recomputes what follows from it and compares.
 * A difference is one line; checking goes on.
 */
#ifndef LEDGER_CHECK_H
#define LEDGER_CHECK_H

#include "ledger/base/check.h"
#include "ledger/map.h"
#include "ledger/reader.h"

/* A grant's accounts as its entries make them, and what holds and runs say of it. */
struct check_grant {
    struct grant sum; /* grant_no and the amounts */
    int64_t draws_frozen_mcs;
    int64_t draws_used_mcs;
    bool seen;
};

/* A hold as entries, runs and tasks make it. */
struct check_hold {
    int64_t entries_frozen_mcs;
    int64_t entries_used_mcs;
    int64_t runs_net_mcs; /* charges less refunds */
    int64_t runs_frozen_mcs;
    int64_t runs_waiting_mcs;
    int32_t task_rows;
    int32_t task_counts[TASK__COUNT];
};

struct check_root {
    struct root_time time;
    struct map months; /* month -> struct check_month */
    struct check_start {
        int64_t month; /* the close that the check starts at; 0: the beginning */
        int64_t seq;   /* the last entry before it */
        int64_t hold_no;
        int64_t frozen_mcs; /* of all grants then, */
        int64_t used_mcs;
        int64_t holds_frozen_mcs; /* and of the holds that there were, by what they are now */
        int64_t holds_used_mcs;
    } start;
};

/* By the month in which it ran. */
struct check_month {
    int64_t month;
    int64_t runs_mcs;
    int64_t usage_mcs;
    int64_t booked_mcs; /* usage by the month in which it is booked, */
    int64_t flow_mcs;   /* and what statements say of it */
};

/* A payer's month as entries make it. */
struct check_flow {
    struct payer_month sum;
    bool seen;
};

/* The closes and notes of the root whose chain is walked, and how far it has come. */
struct check_closes {
    int64_t root_no;
    struct period *periods; /* those closed by themselves, ascending */
    size_t count;
    size_t passed;
    int64_t closed_month; /* of the last that was passed; 0: none */
    struct chain_note *notes;
    size_t note_count;
    size_t note_capacity;
    size_t noted;
};

struct check_counter {
    struct counter sum;
    bool seen;
};

struct check_node_month {
    struct node_month sum;
    bool seen;
};

struct check {
    struct ledger_reader *reader;
    ledger_difference_fn difference;
    void *context;
    int64_t differences;
    enum error_code code; /* not ERR_OK: the check itself failed */
    struct error *err;
    struct map grants;
    struct map dims; /* dims_no -> struct dims */
    struct map counters;
    struct map node_months;
    struct map roots;
    struct map flows;  /* node and month -> struct check_flow */
    struct map payers; /* grant_no -> int64_t node_no */
    int64_t since;     /* a closed month at which to start; 0: the beginning */
    struct check_closes closes;
    struct check_hold *holds; /* by hold_no */
    size_t hold_capacity;
    struct check_chain {
        int64_t root_no;
        int64_t next_seq;
        int64_t next_txn;
        int64_t next_audit;
        int64_t last_audit_no;
        int64_t last_at_ms;
        struct digest hash;
    } chain; /* of the root looked at */
};

/** Report a difference. */
void check_report(struct check *check, const char *format, ...) PRINTF_LIKE(2, 3);

/** Report unless both are equal; @what names the figure, @whose the record. */
void check_equal(struct check *check,
                 const char *what,
                 const char *whose,
                 int64_t stored,
                 int64_t computed);

/** The check cannot go on: remembers why, returns false (for callbacks). */
bool check_fail(struct check *check, enum error_code code);
bool check_fail_memory(struct check *check);

/** A value of a map, made zeroed where there is none; NULL after a failure. */
void *check_value(struct check *check, struct map *map, int64_t key, size_t bytes);

/** What is known of a hold; NULL after a failure. */
struct check_hold *check_hold_of(struct check *check, int64_t hold_no);

/** Calendar and months of a root; NULL after a failure. */
struct check_root *check_root_of(struct check *check, int64_t root_no);

/** Whether the check may go on. */
bool check_select(struct check *check,
                  enum select_kind select,
                  const struct select_args *args,
                  store_row_fn row);

/* check_periods.c, for the other files. */
bool check_payers(struct check *check); /* who pays for which grant */
/* One end of an entry, in its payer's month. False after a failure. */
bool check_entry_flow(struct check *check, const struct entry *entry, bool to);
/* Nothing may be booked in a month after its close. */
void check_entry_month(struct check *check, const struct entry *entry);
/* The closes of a root, read before its chain is walked; compared as the walk passes them. */
bool check_closes_begin(struct check *check, int64_t root_no);
bool check_closes_pass(struct check *check, int64_t next_seq);
void check_closes_end(struct check *check);
/* Add the notes of a link to its hash. Returns how many. */
int64_t check_link_notes(struct check *check,
                         const struct chain_link *link,
                         struct digest_state *state);
/* Set check->chain and the sums to a root's close of check->since, where it has one. */
bool check_start(struct check *check, int64_t root_no);
/* A hold made before the close that the check starts at: only the sum over all such can be compared. */
bool check_hold_is_older(struct check *check, const struct hold *hold);
void check_older_hold(struct check *check, const struct hold *hold, const struct check_hold *sums);

/* The passes, in their order. */
void check_journal(struct check *check);  /* chain; sums by grant and hold */
void check_runs(struct check *check);     /* charges; sums by hold, grant, month */
void check_tasks(struct check *check);    /* states; counts by hold */
void check_holds(struct check *check);    /* against all these; sums by node, grant */
void check_usage(struct check *check);    /* sums by node, month */
void check_grants(struct check *check);   /* against entries, draws */
void check_counters(struct check *check); /* against holds, usage */
void check_names(struct check *check);    /* indexes of nodes, the queue */
void check_flows(struct check *check);    /* months of payers against entries, usage */
void check_periods(struct check *check);  /* balances and digests of closed months */

#endif

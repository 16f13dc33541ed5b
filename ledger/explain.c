/*
 * What a refusal is told afterwards: who holds most at each limit, and when the request would fit
 * (SPEC 6.3, 6.4). From a reader's snapshot and within a budget of time, so that no refusal slows
 * the ledger; what does not come out in time stays unknown.
 *
 * The estimate supposes that open tasks run to their planned ends and that nothing new comes:
 *   in flight   room appears at planned ends, one after the other
 *   windows     at the turn of a window all that was used in it counts no more; what then goes on
 *               counts with the part of its freeze that it still has
 *   funds       at the beginning of grants that are there already
 */
#include <stdlib.h>
#include <string.h>

#include "ledger/base/clock.h"
#include "ledger/core/caps.h"
#include "ledger/core/charge.h"
#include "ledger/core/hold_state.h"
#include "ledger/reader.h"
#include "ledger/zones.h"

enum {
    HOLDS_MOST = 4000, /* open holds looked at for an estimate */
    TURNS_MOST = 24,   /* windows looked ahead */
};

#define NEVER INT64_MAX

struct explain {
    struct ledger_reader *reader;
    struct ledger_refusal *refusal;
    int64_t now_s;
    int64_t deadline_ms; /* monotonic */
    struct node root;
    bool late; /* out of time, or the store failed: what is not known stays so */
};

static bool in_time(struct explain *explain)
{
    explain->late = explain->late || clock_mono_ms() >= explain->deadline_ms;
    return !explain->late;
}

static void note(struct explain *explain, enum error_code code)
{
    explain->late = explain->late || code != ERR_OK;
}

/* ---- the open holds below a node */

typedef bool (*hold_fn)(void *context, const struct hold *hold);

struct scan {
    struct explain *explain;
    const struct node *node;
    hold_fn each;
    void *context;
    int64_t limit; /* of each project; 0: all */
    bool stopped;
};

static bool scan_hold(void *context, const void *record)
{
    struct scan *scan = context;
    const struct hold *hold = record;
    if (scan->node->kind == NODE_MEMBER && hold->member_no != scan->node->node_no) {
        return true;
    }
    scan->stopped = !scan->each(scan->context, hold) || !in_time(scan->explain);
    return !scan->stopped;
}

static void scan_project(struct scan *scan, int64_t project_no)
{
    struct select_args args = {.n = {project_no}, .limit = scan->limit};
    struct error err;
    note(scan->explain, store_select(scan->explain->reader->store, SELECT_HOLDS_OPEN, &args,
                                     scan_hold, scan, &err));
}

/* Whether a project lies at or below a node. */
static bool lies_below(struct explain *explain, const struct node *project, int64_t node_no)
{
    struct node node = *project;
    struct error err;
    for (int i = 0; i < RECORD_PATH_NODES && node.node_no != node_no; i++) {
        if (node.parent_no == 0) {
            return false;
        }
        enum error_code code = ledger_read_node_no(explain->reader, node.parent_no, &node, &err);
        note(explain, code);
        if (code != ERR_OK) {
            return false;
        }
    }
    return node.node_no == node_no;
}

static bool scan_node(void *context, const void *record)
{
    struct scan *scan = context;
    const struct node project = *(const struct node *)record;
    if (scan->node->parent_no == 0 || lies_below(scan->explain, &project, scan->node->node_no)) {
        scan_project(scan, project.node_no);
    }
    return !scan->stopped && in_time(scan->explain);
}

/* Call for each open hold below a node, the largest of each project first. */
static void scan_below(struct scan *scan)
{
    const struct node *node = scan->node;
    if (node->kind != NODE_ORGANIZATION) {
        scan_project(scan, node->kind == NODE_PROJECT ? node->node_no : node->parent_no);
        return;
    }
    struct select_args args = {.n = {node->root_no, NODE_PROJECT, 0}};
    struct error err;
    note(scan->explain,
         store_select(scan->explain->reader->store, SELECT_NODES, &args, scan_node, scan, &err));
}

/* Limits on what is in flight at once (SPEC 4.1). */
static bool is_in_flight(enum cap_kind kind)
{
    return kind >= CAP_GPUS && kind <= CAP_JOBS;
}

/* ---- holders */

struct holders {
    bool in_flight;                    /* of a limit on what is in flight, not on core-hours */
    struct hold holds[LEDGER_HOLDERS]; /* most first */
    int32_t count;
};

static bool keep_holder(void *context, const struct hold *hold)
{
    struct holders *holders = context;
    if (holders->in_flight ? hold_open_tasks(hold) == 0 : hold->frozen_mcs == 0) {
        return true; /* it waits and holds nothing yet */
    }
    int32_t at = holders->count;
    while (at > 0 && holders->holds[at - 1].frozen_mcs < hold->frozen_mcs) {
        at--;
    }
    if (at == LEDGER_HOLDERS) {
        return true;
    }
    if (holders->count < LEDGER_HOLDERS) {
        holders->count++;
    }
    memmove(&holders->holds[at + 1], &holders->holds[at],
            (size_t)(holders->count - at - 1) * sizeof holders->holds[0]);
    holders->holds[at] = *hold;
    return true;
}

/* A run is heard of; what waits to start is not. */
static bool is_stale(struct explain *explain, const struct hold *hold)
{
    struct cluster cluster = {.cluster_no = hold->cluster_no};
    bool found = false;
    struct error err;
    if (hold->counts[TASK_RUNNING] + hold->counts[TASK_SUSPENDED] == 0) {
        return false;
    }
    note(explain, reader_look(explain->reader, RECORD_CLUSTER, &cluster, &found, &err));
    return found && hold->seen_s + cluster.stale_after_s < explain->now_s;
}

static void show_holder(struct explain *explain,
                        const struct hold *hold,
                        struct ledger_holder *holder)
{
    struct node node;
    struct error err;
    bool own = hold->project_no == explain->refusal->project_no;
    memset(holder, 0, sizeof *holder);
    holder->frozen_mcs = hold->frozen_mcs;
    holder->since_s = hold->created_ms / 1000;
    holder->last_seen_s = hold->seen_s;
    holder->stale = is_stale(explain, hold);
    enum error_code code = ledger_read_node_no(explain->reader, hold->project_no, &node, &err);
    note(explain, code);
    if (code == ERR_OK) {
        row_text(holder->project, sizeof holder->project, node.name);
    }
    if (!own && explain->root.names_visible == 0) {
        return;
    }
    row_text(holder->hold, sizeof holder->hold, hold->id);
    code = ledger_read_node_no(explain->reader, hold->member_no, &node, &err);
    note(explain, code);
    if (code == ERR_OK) {
        row_text(holder->user, sizeof holder->user, node.name);
    }
}

static void find_holders(struct explain *explain,
                         const struct node *node,
                         struct ledger_limit *limit)
{
    struct holders holders = {.count = 0};
    holders.in_flight = is_in_flight(limit->violation.kind);
    struct scan scan = {
        .explain = explain,
        .node = node,
        .each = keep_holder,
        .context = &holders,
        .limit = node->kind == NODE_MEMBER ? 0 : LEDGER_HOLDERS,
    };
    scan_below(&scan);
    for (int32_t i = 0; i < holders.count && !explain->late; i++) {
        show_holder(explain, &holders.holds[i], &limit->holders[i]);
    }
    limit->holders_known = !explain->late;
    limit->holder_count = limit->holders_known ? holders.count : 0;
}

/* ---- when it would fit */

/* What an open hold has in a limit now, and when it ends by plan. */
struct share {
    int64_t end_s; /* NEVER: not known */
    int64_t in_flight;
    int64_t frozen_mcs;
};

struct shares {
    struct explain *explain;
    const struct violation *violation;
    struct share *shares;
    size_t count;
    bool failed;
};

/* The planned end of a run; NEVER while it is suspended or has no limit. */
static int64_t planned_end(const struct run *run, int64_t now_s)
{
    if (run->state != TASK_RUNNING || run->limit_s == 0) {
        return NEVER;
    }
    int64_t end_s = run->started_s + run->limit_s + run_suspended_s(run, now_s);
    return end_s > now_s ? end_s : now_s;
}

struct latest_end {
    int64_t now_s;
    int64_t end_s;
};

static bool look_at_run(void *context, const void *record)
{
    struct latest_end *latest = context;
    const struct run *run = record;
    if (run->state == TASK_RUNNING || run->state == TASK_SUSPENDED) {
        int64_t end_s = planned_end(run, latest->now_s);
        latest->end_s = end_s > latest->end_s ? end_s : latest->end_s;
    }
    return true;
}

/* When all of a hold's open tasks have ended: those that run by their limits, the others as if they
 * began now, max_running at a time. */
static int64_t hold_end(struct explain *explain, const struct hold *hold)
{
    struct latest_end latest = {.now_s = explain->now_s, .end_s = explain->now_s};
    struct select_args args = {.n = {hold->hold_no}};
    struct error err;
    if (hold->counts[TASK_RUNNING] + hold->counts[TASK_SUSPENDED] > 0) {
        note(explain, store_select(explain->reader->store, SELECT_RUNS_OF_HOLD, &args, look_at_run,
                                   &latest, &err));
    }
    int64_t queued = hold->counts[TASK_FROZEN];
    if (queued == 0 || latest.end_s == NEVER) {
        return latest.end_s;
    }
    if (hold->time_limit_s == 0) {
        return NEVER;
    }
    int64_t at_once = hold->max_running > 0 ? hold->max_running : queued;
    int64_t rounds = (queued + at_once - 1) / at_once;
    int64_t end_s = explain->now_s + rounds * hold->time_limit_s;
    return end_s > latest.end_s ? end_s : latest.end_s;
}

static int64_t in_flight_of(const struct hold *hold, const struct violation *violation)
{
    struct counter_delta delta;
    memset(&delta, 0, sizeof delta);
    in_flight_difference(NULL, hold, &delta);
    if (violation->kind == CAP_JOBS) {
        return delta.jobs;
    }
    if (violation->kind == CAP_CORES) {
        return delta.mcores;
    }
    if (violation->model_no == 0) {
        return delta.mgpus;
    }
    for (int32_t i = 0; i < delta.model_count; i++) {
        if (delta.models[i].model_no == violation->model_no) {
            return delta.models[i].mgpus;
        }
    }
    return 0;
}

static bool keep_share(void *context, const struct hold *hold)
{
    struct shares *shares = context;
    if (hold_open_tasks(hold) == 0) {
        return true;
    }
    if (shares->count == HOLDS_MOST) {
        shares->failed = true;
        return false;
    }
    shares->shares[shares->count++] = (struct share){
        .end_s = hold_end(shares->explain, hold),
        .in_flight = in_flight_of(hold, shares->violation),
        .frozen_mcs = hold->frozen_mcs,
    };
    return true;
}

static int compare_ends(const void *a, const void *b)
{
    int64_t end_a = ((const struct share *)a)->end_s;
    int64_t end_b = ((const struct share *)b)->end_s;
    return end_a < end_b ? -1 : end_a > end_b;
}

static int64_t in_flight_fits_at(const struct shares *shares)
{
    const struct violation *violation = shares->violation;
    int64_t missing = violation->missing;
    qsort(shares->shares, shares->count, sizeof shares->shares[0], compare_ends);
    for (size_t i = 0; i < shares->count && shares->shares[i].end_s != NEVER; i++) {
        missing -= shares->shares[i].in_flight;
        if (missing <= 0) {
            return shares->shares[i].end_s;
        }
    }
    return 0;
}

/* Of what is frozen for a hold, what it will still need at a time ahead. */
static int64_t frozen_at(const struct share *share, int64_t now_s, int64_t at_s)
{
    if (share->end_s == NEVER) {
        return share->frozen_mcs;
    }
    if (share->end_s <= at_s) {
        return 0;
    }
    __int128 rest = (__int128)share->frozen_mcs * (share->end_s - at_s);
    return (int64_t)(rest / (share->end_s - now_s));
}

static int64_t window_fits_at(const struct shares *shares)
{
    struct explain *explain = shares->explain;
    const struct violation *violation = shares->violation;
    int64_t turn_s = violation->resets_at_s;
    for (int turn = 0; turn < TURNS_MOST && turn_s != 0 && in_time(explain); turn++) {
        int64_t committed_mcs = violation->requested;
        for (size_t i = 0; i < shares->count; i++) {
            committed_mcs += frozen_at(&shares->shares[i], explain->now_s, turn_s);
        }
        if (committed_mcs <= violation->limit) {
            return turn_s;
        }
        const struct root_time *time;
        struct error err;
        enum error_code code = reader_time(explain->reader, &explain->root, turn_s, &time, &err);
        note(explain, code);
        int64_t end_s = code == ERR_OK ? time->window_end_s[violation->kind] : INT64_MAX;
        turn_s = end_s == INT64_MAX ? 0 : end_s;
    }
    return 0;
}

/* Grants of the payer that begin later, in order of their start. */
struct coming {
    const struct violation *violation;
    int64_t now_s;
    int64_t missing_mcs;
    int64_t at_s;
    struct explain *explain;
};

static bool add_coming(void *context, const void *record)
{
    struct coming *coming = context;
    const struct grant *grant = record;
    if (grant->node_no != coming->violation->node_no || grant->ended != 0) {
        return true;
    }
    coming->missing_mcs -= grant->available_mcs;
    coming->at_s = coming->missing_mcs <= 0 ? grant->start_s : 0;
    return coming->missing_mcs > 0;
}

static int64_t funds_fit_at(struct explain *explain, const struct violation *violation)
{
    struct coming coming = {
        .violation = violation,
        .now_s = explain->now_s,
        .missing_mcs = violation->missing,
        .explain = explain,
    };
    struct select_args args = {.n = {explain->now_s, INT64_MAX}};
    struct error err;
    note(explain, store_select(explain->reader->store, SELECT_GRANTS_STARTING, &args, add_coming,
                               &coming, &err));
    return coming.at_s;
}

/* When one limit would let the request pass; 0: not known or never. */
static int64_t limit_fits_at(struct explain *explain,
                             const struct node *node,
                             const struct violation *violation)
{
    bool window = violation->kind < CAP_TOTAL;
    if (violation->missing == 0 || violation->beyond) {
        return 0;
    }
    if (violation->kind == CAP_FUNDS) {
        return funds_fit_at(explain, violation);
    }
    if (!window && !is_in_flight(violation->kind)) {
        return 0;
    }
    struct shares shares = {.explain = explain, .violation = violation};
    shares.shares = malloc(HOLDS_MOST * sizeof shares.shares[0]);
    if (shares.shares == NULL) {
        return 0;
    }
    struct scan scan = {
        .explain = explain,
        .node = node,
        .each = keep_share,
        .context = &shares,
    };
    scan_below(&scan);
    int64_t at_s = 0;
    if (!shares.failed && !explain->late) {
        at_s = window ? window_fits_at(&shares) : in_flight_fits_at(&shares);
    }
    free(shares.shares);
    return explain->late ? 0 : at_s;
}

/* ---- all limits */

static bool load_root(struct explain *explain, const struct node *node)
{
    struct error err;
    enum error_code code =
        ledger_read_node_no(explain->reader, node->root_no, &explain->root, &err);
    note(explain, code);
    return code == ERR_OK;
}

static void explain_limits(struct explain *explain)
{
    struct ledger_refusal *refusal = explain->refusal;
    int64_t latest_s = 0;
    bool known = refusal->count > 0;
    for (int32_t i = 0; i < refusal->count && in_time(explain); i++) {
        struct ledger_limit *limit = &refusal->limits[i];
        struct node node;
        struct error err;
        enum error_code code =
            ledger_read_node_no(explain->reader, limit->violation.node_no, &node, &err);
        note(explain, code);
        if (code != ERR_OK || !load_root(explain, &node)) {
            return;
        }
        find_holders(explain, &node, limit);
        int64_t at_s = known ? limit_fits_at(explain, &node, &limit->violation) : 0;
        known = known && at_s > 0;
        latest_s = at_s > latest_s ? at_s : latest_s;
    }
    refusal->earliest_at_s = known && !explain->late ? latest_s : 0;
}

void ledger_explain(struct ledger_reader *reader,
                    struct ledger_refusal *refusal,
                    int64_t now_ms,
                    int64_t budget_ms)
{
    struct explain explain = {
        .reader = reader,
        .refusal = refusal,
        .now_s = now_ms / 1000,
        .deadline_ms = clock_mono_ms() + budget_ms,
    };
    bool began;
    struct error err;
    if (reader_begin(reader, &began, &err) != ERR_OK) {
        return;
    }
    explain_limits(&explain);
    reader_end(reader, began);
}

/*
 * The statement of a payer's month, and what is still open in a month of a root (SPEC 8.2, 8.3). For
 * readers; see ledger.h.
 */
#include <string.h>

#include "ledger/core/flow.h"
#include "ledger/names.h"
#include "ledger/reader.h"
#include "ledger/zones.h"

/* ---- statements */

struct months {
    struct ledger_statement *statement;
    bool any;
    bool failed;
};

static bool add_month(void *context, const void *record)
{
    struct months *months = context;
    struct ledger_statement *statement = months->statement;
    const struct payer_month *month = record;
    months->any = true;
    if (month->month > statement->month) {
        return false;
    }
    if (month->month == statement->month) {
        statement->flow = month->flow;
    } else {
        statement->opening_mcs += flow_net_mcs(&month->flow);
    }
    return true;
}

static enum error_code read_root(struct ledger_reader *reader,
                                 struct ledger_statement *statement,
                                 struct error *err)
{
    struct node root;
    struct root_state state = {.root_no = statement->node.root_no};
    bool found = false;
    enum error_code code = ledger_read_node_no(reader, statement->node.root_no, &root, err);
    if (code == ERR_OK) {
        code = reader_look(reader, RECORD_ROOT_STATE, &state, &found, err);
    }
    if (code == ERR_OK) {
        row_text(statement->root, sizeof statement->root, root.name);
        statement->closed = found && statement->month < state.oldest_open_month;
    }
    return code;
}

enum error_code ledger_read_statement(struct ledger_reader *reader,
                                      const struct node *node,
                                      int64_t month,
                                      struct ledger_statement *ret_statement,
                                      struct error *err)
{
    memset(ret_statement, 0, sizeof *ret_statement);
    ret_statement->node = *node;
    ret_statement->month = month;
    ret_statement->unlimited = node->funding == FUNDING_UNLIMITED;
    struct months months = {.statement = ret_statement};
    const struct select_args args = {.n = {node->node_no}};
    enum error_code code = read_root(reader, ret_statement, err);
    if (code == ERR_OK) {
        code = store_select(reader->store, SELECT_PAYER_MONTHS, &args, add_month, &months, err);
    }
    if (code == ERR_OK && node->funding == FUNDING_PARENT && !months.any) {
        return error_set_field(err, ERR_NOT_FUNDED_HERE, "node",
                               "%s is funded by its parent: ask for the node that pays for it",
                               node->name);
    }
    ret_statement->closing_mcs = ret_statement->opening_mcs + flow_net_mcs(&ret_statement->flow);
    return code;
}

/* ---- what is still open */

struct open_search {
    struct ledger_reader *reader;
    int64_t root_no;
    int64_t end_s; /* of the month */
    int64_t now_s;
    struct cluster cluster; /* of the last hold */
    struct ledger_still_open *found;
    enum error_code code;
    struct error *err;
};

static bool search_failed(struct open_search *search, enum error_code code)
{
    search->code = code;
    return false;
}

/* The hold of a run, and its cluster. */
static bool look_up_hold(struct open_search *search, int64_t hold_no, struct hold *hold)
{
    *hold = (struct hold){.hold_no = hold_no};
    enum error_code code =
        reader_get(search->reader, RECORD_HOLD, hold, "hold of a run", search->err);
    if (code == ERR_OK && search->cluster.cluster_no != hold->cluster_no) {
        search->cluster = (struct cluster){.cluster_no = hold->cluster_no};
        code = reader_get(search->reader, RECORD_CLUSTER, &search->cluster, "cluster of a hold",
                          search->err);
    }
    return code == ERR_OK || search_failed(search, code);
}

/* Among those shown the stale ones come first. */
static struct ledger_open_run *open_place(struct ledger_still_open *found, bool stale)
{
    if (found->listed < LEDGER_OPEN_RUNS) {
        return &found->run[found->listed++];
    }
    for (int64_t i = found->listed - 1; stale && i >= 0; i--) {
        if (!found->run[i].stale) {
            return &found->run[i];
        }
    }
    return NULL;
}

static bool show_run(struct open_search *search,
                     const struct run *run,
                     const struct hold *hold,
                     bool stale)
{
    struct ledger_open_run *row = open_place(search->found, stale);
    struct node project;
    struct node member;
    if (row == NULL) {
        return true;
    }
    enum error_code code =
        ledger_read_node_no(search->reader, hold->project_no, &project, search->err);
    if (code == ERR_OK) {
        code = ledger_read_node_no(search->reader, hold->member_no, &member, search->err);
    }
    if (code != ERR_OK) {
        return search_failed(search, code);
    }
    *row = (struct ledger_open_run){
        .task = run->task,
        .attempt = run->attempt,
        .started_s = run->started_s,
        .last_seen_s = run->seen_s,
        .stale = stale,
    };
    row_text(row->hold, sizeof row->hold, hold->id);
    row_text(row->project, sizeof row->project, project.name);
    row_text(row->user, sizeof row->user, member.name);
    return true;
}

static bool add_run(void *context, const void *record)
{
    struct open_search *search = context;
    const struct run *run = record;
    struct hold hold;
    if (run->started_s >= search->end_s) {
        return true;
    }
    if (!look_up_hold(search, run->hold_no, &hold)) {
        return false;
    }
    int64_t seen_s = run->seen_s > hold.seen_s ? run->seen_s : hold.seen_s;
    bool stale = search->now_s - seen_s > search->cluster.stale_after_s;
    search->found->runs++;
    search->found->stale_runs += stale;
    return show_run(search, run, &hold, stale);
}

static bool add_unbound(void *context, const void *record)
{
    struct open_search *search = context;
    const struct hold *hold = record;
    bool counts = hold->root_no == search->root_no && hold->created_ms / 1000 < search->end_s;
    search->found->unbound += counts;
    return true;
}

static bool add_unattributed(void *context, const void *record)
{
    struct open_search *search = context;
    const struct unattributed *charge = record;
    if (charge->started_s < search->end_s) {
        search->found->unattributed++;
        search->found->unattributed_mcs += charge->used_mcs;
    }
    return true;
}

static bool add_charges_of(void *context, const void *record)
{
    struct open_search *search = context;
    const struct cluster *cluster = record;
    const struct select_args args = {.n = {cluster->cluster_no}};
    if (!cluster_serves(cluster, search->root_no)) {
        return true;
    }
    search->code = store_select(search->reader->store, SELECT_UNATTRIBUTED, &args, add_unattributed,
                                search, search->err);
    return search->code == ERR_OK;
}

enum error_code ledger_read_still_open(struct ledger_reader *reader,
                                       const struct node *root,
                                       int64_t month,
                                       int64_t now_ms,
                                       struct ledger_still_open *ret_open,
                                       struct error *err)
{
    const struct root_time *time;
    struct open_search search = {
        .reader = reader,
        .root_no = root->node_no,
        .now_s = now_ms / 1000,
        .found = ret_open,
        .err = err,
    };
    memset(ret_open, 0, sizeof *ret_open);
    enum error_code code = reader_time(reader, root, search.now_s, &time, err);
    if (code != ERR_OK) {
        return code;
    }
    search.end_s = calendar_month_start(&time->calendar, (int32_t)month + 1);
    const struct select_args runs = {.n = {root->node_no, INT64_MAX}};
    const struct select_args holds = {.n = {INT64_MAX}};
    code = store_select(reader->store, SELECT_RUNS_BEHIND, &runs, add_run, &search, err);
    if (code == ERR_OK && search.code == ERR_OK) {
        code = store_select(reader->store, SELECT_HOLDS_DUE, &holds, add_unbound, &search, err);
    }
    if (code == ERR_OK && search.code == ERR_OK) {
        code = store_select(reader->store, SELECT_CLUSTERS, NULL, add_charges_of, &search, err);
    }
    return code == ERR_OK ? search.code : code;
}

enum error_code ledger_read_calendar(struct ledger_reader *reader,
                                     const struct node *root,
                                     struct calendar *ret_calendar,
                                     struct error *err)
{
    const struct root_time *time;
    enum error_code code = reader_time(reader, root, 0, &time, err);
    if (code == ERR_OK) {
        *ret_calendar = time->calendar;
    }
    return code;
}

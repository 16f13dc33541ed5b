/* Settled runs by where and when they ran: what a refund of many looks for (SPEC 5.10). */
#include <string.h>

#include "ledger/reader.h"

/* A walk over the runs of a query. */
struct walk {
    struct ledger_reader *reader;
    const struct ledger_run_query *query;
    struct ledger_run_page *page;
    struct ledger_run_place *after;
    int64_t seen_project_no; /* the last one looked at, and whether it lies in the query's place */
    bool seen;
    enum error_code code;
    struct error *err;
};

struct host_match {
    const struct ledger_run_query *query;
    const struct run *run;
    bool matches;
};

/* Is a host among those joined by commas? */
static bool is_listed(const char *hosts, const char *host)
{
    const size_t bytes = strlen(host);
    while (*hosts != '\0') {
        const size_t length = strcspn(hosts, ",");
        if (length == bytes && memcmp(hosts, host, bytes) == 0) {
            return true;
        }
        hosts += length + (hosts[length] == ',' ? 1 : 0);
    }
    return false;
}

static bool match_host(void *context, const void *record)
{
    struct host_match *match = context;
    const struct run_host *row = record;
    if (row->task != match->run->task || row->attempt != match->run->attempt) {
        return true;
    }
    match->matches = is_listed(match->query->hosts, row->host);
    return !match->matches;
}

static bool is_on_hosts(struct walk *walk, const struct run *run)
{
    if (walk->query->hosts[0] == '\0') {
        return true;
    }
    struct host_match match = {.query = walk->query, .run = run};
    const struct select_args args = {.n = {run->hold_no}};
    walk->code =
        store_select(walk->reader->store, SELECT_RUN_HOSTS, &args, match_host, &match, walk->err);
    return walk->code == ERR_OK && match.matches;
}

/* Is a node the query's place, or below it? */
static bool is_in_place(struct walk *walk, int64_t project_no)
{
    const int64_t place_no = walk->query->place_no;
    if (place_no == 0 || walk->seen_project_no == project_no) {
        return place_no == 0 || walk->seen;
    }
    struct node node = {.node_no = 0};
    int64_t node_no = project_no;
    while (walk->code == ERR_OK && node_no != 0 && node_no != place_no) {
        walk->code = ledger_read_node_no(walk->reader, node_no, &node, walk->err);
        node_no = node.parent_no;
    }
    walk->seen_project_no = project_no;
    walk->seen = node_no == place_no;
    return walk->code == ERR_OK && walk->seen;
}

static bool is_of_person(struct walk *walk, const struct hold *hold)
{
    struct node member = {.node_no = 0};
    if (walk->query->user[0] == '\0') {
        return true;
    }
    walk->code = ledger_read_node_no(walk->reader, hold->member_no, &member, walk->err);
    return walk->code == ERR_OK && strcmp(member.name, walk->query->user) == 0;
}

static bool is_wanted(struct walk *walk, const struct run *run, const struct hold *hold)
{
    const struct ledger_run_query *query = walk->query;
    return (query->cluster_no == 0 || query->cluster_no == hold->cluster_no) &&
           (query->project_no == 0 || query->project_no == hold->project_no) &&
           is_in_place(walk, hold->project_no) && is_of_person(walk, hold) &&
           is_on_hosts(walk, run);
}

static void note_found(struct walk *walk, const struct run *run, const struct hold *hold)
{
    struct ledger_run_found *found = &walk->page->runs[walk->page->count++];
    *found = (struct ledger_run_found){
        .hold_no = run->hold_no,
        .task = run->task,
        .attempt = run->attempt,
        .cluster_no = hold->cluster_no,
        .project_no = hold->project_no,
        .member_no = hold->member_no,
        .started_s = run->started_s,
        .ended_s = run->ended_s,
        .outcome = (enum outcome)run->outcome,
        .charged_mcs = run->charged_mcs,
        .refunded_mcs = run->refunded_mcs,
    };
    memcpy(found->hold, hold->id, sizeof found->hold);
}

static bool look_at_run(void *context, const void *record)
{
    struct walk *walk = context;
    const struct run *run = record;
    struct hold hold = {.hold_no = run->hold_no};
    *walk->after = (struct ledger_run_place){run->hold_no, run->task, run->attempt};
    const int64_t outcomes = walk->query->outcomes;
    if (outcomes != 0 && (outcomes >> run->outcome & 1) == 0) {
        return true;
    }
    walk->code = reader_get(walk->reader, RECORD_HOLD, &hold, "hold", walk->err);
    if (walk->code == ERR_OK && is_wanted(walk, run, &hold)) {
        note_found(walk, run, &hold);
    }
    return walk->code == ERR_OK && walk->page->count < LEDGER_RUN_PAGE;
}

enum error_code ledger_read_settled_runs(struct ledger_reader *reader,
                                         const struct ledger_run_query *query,
                                         struct ledger_run_place *after,
                                         struct ledger_run_page *ret_page,
                                         struct error *err)
{
    struct walk walk = {
        .reader = reader,
        .query = query,
        .page = ret_page,
        .after = after,
        .code = ERR_OK,
        .err = err,
    };
    ret_page->count = 0;
    const struct select_args args = {.n = {query->root_no, query->from_s, query->to_s,
                                           after->hold_no, after->task, after->attempt}};
    const enum error_code code =
        store_select(reader->store, SELECT_RUNS_SETTLED, &args, look_at_run, &walk, err);
    return code == ERR_OK ? walk.code : code;
}

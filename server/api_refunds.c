/*
 * POST /v1/refunds/bulk: the charges of an incident returned, found by where and when they ran (SPEC 5.10).
 *
 * On a reader thread: a walk over settled runs, a page of them at a time, each page's refunds in one transaction.
 * The id of each refund follows from the request's id and the run, so a repeat finds what was done and goes on
 * with the rest: nothing is returned twice. Memory is bounded by the page and by the number of projects.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ledger/base/cleanup.h"
#include "ledger/base/text.h"
#include "server/api.h"
#include "server/decode_commands.h"
#include "server/decode_shapes.h"
#include "server/json_in.h"
#include "server/rights.h"
#include "server/service.h"

enum {
    PAGE_RUNS = LEDGER_RUN_PAGE,
    SAMPLE_RUNS = 20,
    PROJECTS_TOLD = 1000,
    BULK_ID_BYTES = 41, /* the refunds' own ids are this, and the numbers of a run */
};

/* The body. */
struct incident {
    char id[RECORD_ID_BYTES];
    char root[RECORD_NODE_NAME_BYTES];
    char cluster[RECORD_NODE_NAME_BYTES];
    char project[RECORD_NODE_NAME_BYTES];
    char user[RECORD_NAME_BYTES];
    char hosts[LIMIT_HOSTS_BYTES + 1];
    char reason[RECORD_NOTE_BYTES];
    int64_t outcomes;
    int64_t from_s;
    int64_t to_s;
};

struct project_sum {
    int64_t project_no;
    int64_t runs;
    int64_t mcs;
};

/* Refunds of one page. */
struct piece {
    const struct command *pointers[PAGE_RUNS];
    struct command commands[PAGE_RUNS];
    struct ledger_result results[PAGE_RUNS];
};

/* The work as it goes. */
struct bulk_refund {
    struct request *request;
    struct ledger_reader *reader;
    struct incident incident;
    struct rights rights;
    struct ledger_run_query query;
    struct ledger_run_place after;
    struct ledger_run_page page;
    struct ledger_run_found sample[SAMPLE_RUNS];
    size_t sample_count;
    int64_t matched;
    int64_t refunded;
    int64_t replayed;
    int64_t nothing_left;
    int64_t mcs;
    struct project_sum *projects; /* owned, by number */
    size_t project_count;
    size_t project_capacity;
    struct piece *piece; /* owned; NULL for a preview */
};

/* ---- the body */

static const struct decode_field incident_fields[] = {
    {.name = "id", .kind = DECODE_ID, DECODE_AT(struct incident, id), .required = true},
    {.name = "root", .kind = DECODE_NODE, DECODE_AT(struct incident, root), .null_is_absent = true},
    {.name = "cluster",
     .kind = DECODE_NODE,
     DECODE_AT(struct incident, cluster),
     .null_is_absent = true},
    {.name = "project",
     .kind = DECODE_NODE,
     DECODE_AT(struct incident, project),
     .null_is_absent = true},
    {.name = "user", .kind = DECODE_NAME, DECODE_AT(struct incident, user), .null_is_absent = true},
    {.name = "hosts",
     .kind = DECODE_OTHER,
     DECODE_AT(struct incident, hosts),
     .other = decode_hosts,
     .null_is_absent = true},
    {.name = "outcomes",
     .kind = DECODE_CHOICES,
     DECODE_AT(struct incident, outcomes),
     .choices = choices_outcome,
     .null_is_absent = true},
    {.name = "from", .kind = DECODE_TIME, DECODE_AT(struct incident, from_s), .required = true},
    {.name = "to", .kind = DECODE_TIME, DECODE_AT(struct incident, to_s), .required = true},
    {.name = "reason", .kind = DECODE_NOTE, DECODE_AT(struct incident, reason), .required = true},
};

static const struct decode_table incident_table = {DECODE_ROWS(incident_fields)};

static enum error_code decode_incident(const struct request *request,
                                       struct incident *incident,
                                       struct error *err)
{
    CLEANUP(json_in_decref) json_t *body = NULL;
    enum error_code code = request_parse_body(request, &body, err);
    if (code == ERR_OK) {
        code = decode_object(body, &incident_table, incident, NULL, err);
    }
    if (code == ERR_OK && strlen(incident->id) >= BULK_ID_BYTES) {
        code = error_set_field(err, ERR_INVALID_FIELD, "id", "longer than %d bytes",
                               BULK_ID_BYTES - 1);
    }
    if (code == ERR_OK && incident->from_s >= incident->to_s) {
        code = error_set_field(err, ERR_INVALID_FIELD, "to", "not after from");
    }
    if (code == ERR_OK && incident->reason[0] == '\0') {
        code = error_set_field(err, ERR_INVALID_FIELD, "reason", "empty: say why");
    }
    return code;
}

/* ---- names -> numbers */

/* A name that leads nowhere, or to what may not be seen, is told as the field that has it. */
static enum error_code look_up(struct bulk_refund *work,
                               enum node_kind kind,
                               const char *name,
                               const char *field,
                               int64_t *ret_no,
                               struct error *err)
{
    struct node node;
    if (name[0] == '\0') {
        return ERR_OK;
    }
    enum error_code code = ledger_read_node(work->reader, kind, name, "", &node, err);
    if (code == ERR_OK) {
        code = rights_see_node(&work->rights, &node, name, err);
    }
    if (code != ERR_OK) {
        return error_set_field(err, code, field, "%s", name);
    }
    *ret_no = node.node_no;
    return ERR_OK;
}

static enum error_code look_up_cluster(struct bulk_refund *work,
                                       struct cluster *ret_cluster,
                                       struct error *err)
{
    const char *name = work->incident.cluster;
    enum error_code code = ledger_read_cluster(work->reader, name, ret_cluster, err);
    if (code == ERR_OK) {
        code = rights_see_cluster(&work->rights, ret_cluster, name, err);
    }
    return code == ERR_OK
               ? ERR_OK
               : error_set_field(err, ERR_UNKNOWN_CLUSTER, "cluster", "no cluster %s", name);
}

static enum error_code make_query(struct bulk_refund *work, struct error *err)
{
    const struct incident *incident = &work->incident;
    const struct principal *principal = &work->request->principal;
    struct cluster cluster = {.cluster_no = 0};
    work->query = (struct ledger_run_query){
        .place_no = principal->role == ROLE_ADMIN ? 0 : principal->place_no,
        .from_s = incident->from_s,
        .to_s = incident->to_s,
        .outcomes = incident->outcomes,
        .hosts = incident->hosts,
        .user = incident->user,
    };
    enum error_code code = rights_begin(principal, work->reader, &work->rights, err);
    if (code != ERR_OK) {
        return code;
    }
    code = look_up(work, NODE_ORGANIZATION, incident->root, "root", &work->query.root_no, err);
    if (code == ERR_OK) {
        code =
            look_up(work, NODE_PROJECT, incident->project, "project", &work->query.project_no, err);
    }
    if (code == ERR_OK && incident->cluster[0] != '\0') {
        code = look_up_cluster(work, &cluster, err);
    }
    work->query.cluster_no = cluster.cluster_no;
    return code;
}

/* ---- sums */

static struct project_sum *sum_of(struct bulk_refund *work, int64_t project_no)
{
    size_t low = 0;
    for (size_t high = work->project_count; low < high;) {
        const size_t middle = low + (high - low) / 2;
        if (work->projects[middle].project_no < project_no) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low < work->project_count && work->projects[low].project_no == project_no) {
        return &work->projects[low];
    }
    if (work->project_count == work->project_capacity) {
        const size_t capacity = work->project_capacity == 0 ? 64 : 2 * work->project_capacity;
        struct project_sum *grown = realloc(work->projects, capacity * sizeof(grown[0]));
        if (grown == NULL) {
            return NULL;
        }
        work->projects = grown;
        work->project_capacity = capacity;
    }
    memmove(&work->projects[low + 1], &work->projects[low],
            (work->project_count - low) * sizeof(work->projects[0]));
    work->project_count++;
    work->projects[low] = (struct project_sum){.project_no = project_no};
    return &work->projects[low];
}

static enum error_code add_refund(struct bulk_refund *work,
                                  const struct ledger_run_found *run,
                                  int64_t mcs,
                                  struct error *err)
{
    struct project_sum *sum = sum_of(work, run->project_no);
    if (sum == NULL || __builtin_add_overflow(work->mcs, mcs, &work->mcs)) {
        return error_set(err, ERR_UNAVAILABLE, "out of memory, or of numbers");
    }
    sum->runs++;
    sum->mcs += mcs;
    if (work->sample_count < SAMPLE_RUNS) {
        work->sample[work->sample_count] = *run;
        work->sample[work->sample_count++].refunded_mcs = mcs;
    }
    return ERR_OK;
}

/* ---- carrying out a page */

static enum error_code make_refund(struct bulk_refund *work,
                                   const struct ledger_run_found *run,
                                   struct command *command,
                                   struct error *err)
{
    const struct request *request = work->request;
    command_reset(command, COMMAND_REFUND);
    command->role = request->principal.role;
    command->place_no = request->principal.place_no;
    command->task = run->task;
    command->attempt = run->attempt;
    memcpy(command->hold, run->hold, sizeof(command->hold));
    const int length = snprintf(command->refund.id, sizeof(command->refund.id),
                                "%.40s.%lld.%lld.%lld", work->incident.id, (long long)run->hold_no,
                                (long long)run->task, (long long)run->attempt);
    if (length < 0 || (size_t)length >= sizeof(command->refund.id)) {
        return error_set_field(err, ERR_INVALID_FIELD, "id", "too long for the number of a run");
    }
    command->refund.all = true;
    memcpy(command->refund.reason, work->incident.reason, sizeof(command->refund.reason));
    return ledger_read_name_of(work->reader, NAMES_CLUSTER, run->cluster_no, command->cluster,
                               sizeof(command->cluster), err);
}

static enum error_code run_piece(struct bulk_refund *work, size_t count, struct error *err)
{
    struct piece *piece = work->piece;
    const struct ledger_work refunds = {
        .commands = piece->pointers,
        .results = piece->results,
        .count = count,
        .actor = &work->request->principal.actor,
    };
    memset(piece->results, 0, count * sizeof(piece->results[0]));
    return batcher_run(work->request->service->batcher, &refunds, err);
}

/* A run of which nothing is left is no fault: another refund was there first. */
static enum error_code take_result(struct bulk_refund *work,
                                   const struct ledger_run_found *run,
                                   const struct ledger_result *result,
                                   struct error *err)
{
    if (result->error.code == ERR_INVALID_STATE) {
        work->nothing_left++;
        return ERR_OK;
    }
    if (result->error.code != ERR_OK) {
        *err = result->error;
        return result->error.code;
    }
    work->refunded += !result->replayed;
    work->replayed += result->replayed;
    return add_refund(work, run, result->requested_mcs, err);
}

static enum error_code carry_out(struct bulk_refund *work, size_t count, struct error *err)
{
    struct piece *piece = work->piece;
    enum error_code code = ERR_OK;
    for (size_t i = 0; i < count && code == ERR_OK; i++) {
        code = make_refund(work, &work->page.runs[i], &piece->commands[i], err);
    }
    ledger_reader_end(work->reader);
    if (code == ERR_OK && count > 0) {
        code = run_piece(work, count, err);
    }
    for (size_t i = 0; i < count && code == ERR_OK; i++) {
        code = take_result(work, &work->page.runs[i], &piece->results[i], err);
        ledger_result_fini(&piece->results[i]);
    }
    return code;
}

static enum error_code preview(struct bulk_refund *work, size_t count, struct error *err)
{
    enum error_code code = ERR_OK;
    ledger_reader_end(work->reader);
    for (size_t i = 0; i < count && code == ERR_OK; i++) {
        const struct ledger_run_found *run = &work->page.runs[i];
        const int64_t left_mcs = run->charged_mcs - run->refunded_mcs;
        work->nothing_left += left_mcs == 0;
        work->refunded += left_mcs > 0;
        code = left_mcs > 0 ? add_refund(work, run, left_mcs, err) : ERR_OK;
    }
    return code;
}

/* A page is read in a snapshot of its own, so that none stays open while refunds are committed. */
static enum error_code run_pages(struct bulk_refund *work, struct error *err)
{
    enum error_code code = ERR_OK;
    do {
        code = ledger_reader_begin(work->reader, err);
        if (code != ERR_OK) {
            return code;
        }
        code = ledger_read_settled_runs(work->reader, &work->query, &work->after, &work->page, err);
        if (code != ERR_OK) {
            ledger_reader_end(work->reader);
            return code;
        }
        const size_t count = work->page.count;
        work->matched += (int64_t)count;
        code = work->piece != NULL ? carry_out(work, count, err) : preview(work, count, err);
    } while (code == ERR_OK && work->page.count == PAGE_RUNS);
    return code;
}

/* ---- the answer */

static int by_amount(const void *a, const void *b)
{
    const struct project_sum *x = a;
    const struct project_sum *y = b;
    if (x->mcs != y->mcs) {
        return x->mcs < y->mcs ? 1 : -1;
    }
    return (x->project_no > y->project_no) - (x->project_no < y->project_no);
}

static enum error_code node_name(struct bulk_refund *work,
                                 int64_t node_no,
                                 struct node *node,
                                 struct error *err)
{
    return ledger_read_node_no(work->reader, node_no, node, err);
}

static enum error_code write_projects(struct bulk_refund *work,
                                      struct json_out *out,
                                      struct error *err)
{
    enum error_code code = ERR_OK;
    json_out_array_open(out, "projects");
    if (work->project_count > 0) {
        qsort(work->projects, work->project_count, sizeof(work->projects[0]), by_amount);
    }
    for (size_t i = 0; i < work->project_count && i < PROJECTS_TOLD && code == ERR_OK; i++) {
        struct node node = {.node_no = 0};
        code = node_name(work, work->projects[i].project_no, &node, err);
        json_out_object_open(out, NULL);
        json_out_text(out, "project", node.name);
        json_out_integer(out, "runs", work->projects[i].runs);
        json_out_amount(out, "refunded", work->projects[i].mcs);
        json_out_object_close(out);
    }
    json_out_array_close(out);
    return code;
}

static enum error_code write_sample(struct bulk_refund *work,
                                    struct json_out *out,
                                    struct error *err)
{
    enum error_code code = ERR_OK;
    json_out_array_open(out, "sample");
    for (size_t i = 0; i < work->sample_count && code == ERR_OK; i++) {
        const struct ledger_run_found *run = &work->sample[i];
        struct node project = {.node_no = 0};
        struct node member = {.node_no = 0};
        code = node_name(work, run->project_no, &project, err);
        code = code == ERR_OK ? node_name(work, run->member_no, &member, err) : code;
        json_out_object_open(out, NULL);
        json_out_text(out, "hold", run->hold);
        json_out_integer(out, "task", run->task);
        json_out_integer(out, "attempt", run->attempt);
        json_out_text(out, "project", project.name);
        json_out_text(out, "user", member.name);
        json_out_time(out, "started_at", run->started_s);
        json_out_time(out, "ended_at", run->ended_s);
        json_out_text(out, "outcome", decode_choice_name(choices_outcome, (int)run->outcome));
        json_out_amount(out, "charged", run->charged_mcs);
        json_out_amount(out, "refunded", run->refunded_mcs);
        json_out_object_close(out);
    }
    json_out_array_close(out);
    return code;
}

static enum error_code write_answer(struct bulk_refund *work,
                                    struct json_out *out,
                                    struct error *err)
{
    json_out_text(out, "id", work->incident.id);
    json_out_integer(out, "matched", work->matched);
    json_out_integer(out, "refunds", work->refunded);
    json_out_integer(out, "replayed", work->replayed);
    json_out_integer(out, "nothing_left", work->nothing_left);
    json_out_amount(out, "refunded", work->mcs);
    json_out_text(out, "reason", work->incident.reason);
    enum error_code code = ledger_reader_begin(work->reader, err);
    if (code != ERR_OK) {
        return code;
    }
    code = write_projects(work, out, err);
    code = code == ERR_OK ? write_sample(work, out, err) : code;
    ledger_reader_end(work->reader);
    return code;
}

/* ---- the work */

static enum error_code make_piece(struct bulk_refund *work, struct error *err)
{
    struct piece *piece = calloc(1, sizeof(*piece));
    work->piece = piece;
    if (piece == NULL) {
        return error_set(err, ERR_UNAVAILABLE, "out of memory");
    }
    for (size_t i = 0; i < PAGE_RUNS; i++) {
        piece->pointers[i] = &piece->commands[i];
    }
    return ERR_OK;
}

static void bulk_refund_fini(struct bulk_refund *work)
{
    free(work->piece);
    free(work->projects);
    free(work);
}

static enum error_code run_bulk_refund(struct bulk_refund *work, struct error *err)
{
    enum error_code code = decode_incident(work->request, &work->incident, err);
    if (code == ERR_OK) {
        code = ledger_reader_begin(work->reader, err);
    }
    if (code != ERR_OK) {
        return code;
    }
    code = make_query(work, err);
    ledger_reader_end(work->reader);
    if (code == ERR_OK && !work->request->dry_run) {
        code = make_piece(work, err);
    }
    return code == ERR_OK ? run_pages(work, err) : code;
}

/* On a reader thread. */
static void read_refunds(struct request *request, struct ledger_reader *reader)
{
    struct error err;
    struct json_out out;
    struct bulk_refund *work = calloc(1, sizeof(*work));
    if (work == NULL) {
        (void)error_set(&err, ERR_UNAVAILABLE, "out of memory");
        request_refuse(request, &err);
        return;
    }
    work->request = request;
    work->reader = reader;
    enum error_code code = run_bulk_refund(work, &err);
    request_answer_begin(request, 200, &out);
    json_out_object_open(&out, NULL);
    if (code == ERR_OK) {
        code = write_answer(work, &out, &err);
    }
    json_out_object_close(&out);
    if (code != ERR_OK) {
        request_refuse(request, &err);
    } else {
        request_answer_end(request);
    }
    bulk_refund_fini(work);
}

void api_refund_many(struct request *request)
{
    struct error err;
    request->is_pending = true;
    (void)request_actor(request); /* fills in the address, which only this thread knows */
    if (request_read_long(request, read_refunds, &err) != ERR_OK) {
        request->is_pending = false;
        request_refuse(request, &err);
    }
}

/*
 * Lists: holds, grants, tokens. Each write_ function runs on a reader thread inside a snapshot.
 *
 * Rows are gathered before anything else is asked of the reader, because they are borrowed from the engine.
 */
#include <stdlib.h>
#include <string.h>

#include "ledger/base/cleanup.h"
#include "ledger/base/text.h"
#include "server/api.h"
#include "server/decode_shapes.h"
#include "server/encode.h"
#include "server/encode_settings.h"
#include "server/holds.h"
#include "server/page.h"
#include "server/rights.h"

/* ---- holds */

enum {
    HOLDS_GATHERED = 128,    /* rows of one selection */
    HOLDS_LOOKED_AT = 20000, /* rows that one page looks at: a page may come out short, or empty */
};

/* What the query asks for. A number of -1 leads to nothing. */
struct hold_filter {
    int64_t project_no;
    int64_t member_no;
    int64_t cluster_no;
    int64_t root_no;
    const char *user;
    const char *job_id;
    const char *job_key;
    int state; /* enum task_state, -1: any */
    bool only_stale;
};

struct gathered {
    struct hold holds[HOLDS_GATHERED];
    size_t count;
};

static bool gather_hold(void *context, const void *record)
{
    struct gathered *gathered = context;
    gathered->holds[gathered->count++] = *(const struct hold *)record;
    return gathered->count < HOLDS_GATHERED;
}

static enum error_code read_state(const struct request *request,
                                  struct hold_filter *filter,
                                  struct error *err)
{
    const char *state = request_query(request, QUERY_STATE);
    filter->state = -1;
    for (const struct decode_choice *choice = choices_task_state;
         state != NULL && choice->name != NULL; choice++) {
        if (strcmp(choice->name, state) == 0) {
            filter->state = choice->value;
        }
    }
    if (state != NULL && filter->state < 0) {
        return error_set_field(err, ERR_MALFORMED, "state", "no state of a hold");
    }
    return request_query_switch(request, QUERY_STALE, &filter->only_stale, err);
}

/* What the place bounds by itself is asked of the index; the rest is looked at hold by hold. */
static void narrow(const struct rights *rights, struct hold_filter *filter)
{
    const struct node *place = &rights->place;
    switch (rights->principal->role) {
    case ROLE_ADMIN:
        break;
    case ROLE_SCHEDULER:
        filter->cluster_no = rights->cluster.cluster_no;
        break;
    case ROLE_MEMBER:
        filter->member_no = place->node_no;
        filter->project_no = place->parent_no;
        break;
    case ROLE_LEAD:
    case ROLE_FINANCE:
    case ROLE_VIEWER:
        filter->root_no = place->root_no;
        if (place->kind == NODE_PROJECT) {
            filter->project_no = place->node_no;
        }
        break;
    }
}

/* Names of the query -> numbers. A project or cluster that cannot be seen is 404. */
static enum error_code read_filter(const struct request *request,
                                   struct ledger_reader *reader,
                                   struct rights *rights,
                                   struct hold_filter *filter,
                                   struct error *err)
{
    filter->user = request_query(request, QUERY_USER);
    filter->job_id = request_query(request, QUERY_JOB_ID);
    filter->job_key = request_query(request, QUERY_JOB_KEY);
    enum error_code code = read_state(request, filter, err);
    const char *project = request_query(request, QUERY_PROJECT);
    if (code == ERR_OK && project != NULL) {
        struct node node;
        code = ledger_read_node(reader, NODE_PROJECT, project, "", &node, err);
        code = code == ERR_OK ? rights_see_project(rights, &node, err) : code;
        code = code == ERR_NOT_FOUND ? error_set(err, code, "no project %s", project) : code;
        filter->project_no = code == ERR_OK ? node.node_no : 0;
    }
    const char *cluster = request_query(request, QUERY_CLUSTER);
    if (code == ERR_OK && cluster != NULL) {
        struct cluster found;
        code = ledger_read_cluster(reader, cluster, &found, err);
        code = code == ERR_UNKNOWN_CLUSTER ? error_set(err, ERR_NOT_FOUND, "no cluster %s", cluster)
                                           : code;
        code = code == ERR_OK ? rights_see_cluster(rights, &found, cluster, err) : code;
        filter->cluster_no = code == ERR_OK ? found.cluster_no : 0;
    }
    narrow(rights, filter);
    return code;
}

static bool is_wanted(const struct hold_filter *filter,
                      const struct ledger_hold *shown,
                      bool is_stale)
{
    const struct hold *hold = &shown->hold;
    return (filter->state < 0 || (int)shown->state == filter->state) &&
           (filter->user == NULL || strcmp(filter->user, shown->user) == 0) &&
           (filter->job_id == NULL || strcmp(filter->job_id, hold->job_id) == 0) &&
           (filter->job_key == NULL || strcmp(filter->job_key, hold->job_key) == 0) &&
           (!filter->only_stale || is_stale);
}

static bool is_open_state(int state)
{
    return state == TASK_WAITING || state == TASK_FROZEN || state == TASK_RUNNING ||
           state == TASK_SUSPENDED;
}

/* A page being written. */
struct holds_page {
    struct request *request;
    struct ledger_reader *reader;
    struct json_out *out;
    const struct hold_filter *filter;
    struct rights *rights;
    struct holds_view view;
    int64_t left;      /* items */
    int64_t looked_at; /* rows */
    int64_t next;      /* hold_no of the last one looked at */
};

static enum error_code write_gathered(struct holds_page *page,
                                      const struct gathered *gathered,
                                      struct error *err)
{
    for (size_t i = 0; i < gathered->count && page->left > 0; i++) {
        struct ledger_hold shown;
        page->next = gathered->holds[i].hold_no;
        page->looked_at++;
        if (!rights_see_hold(page->rights, &gathered->holds[i])) {
            continue;
        }
        const enum error_code code =
            ledger_read_hold_names(page->reader, &gathered->holds[i], &shown, err);
        if (code != ERR_OK) {
            return code;
        }
        const bool is_stale = holds_is_stale(&page->view, &shown);
        if (is_wanted(page->filter, &shown, is_stale)) {
            json_out_object_open(page->out, NULL);
            encode_hold(page->out, &shown);
            encode_hold_rest(page->out, &shown, is_stale);
            json_out_array_open(page->out, "warnings");
            json_out_array_close(page->out);
            json_out_object_close(page->out);
            page->left--;
        }
    }
    return ERR_OK;
}

static enum error_code write_holds_page(struct holds_page *page, struct error *err)
{
    CLEANUP(cleanup_free) struct gathered *gathered = malloc(sizeof(*gathered));
    if (gathered == NULL) {
        return error_set(err, ERR_UNAVAILABLE, "out of memory");
    }
    const struct hold_filter *filter = page->filter;
    const bool only_open = filter->only_stale || is_open_state(filter->state);
    bool is_end = false;
    while (!is_end && page->left > 0 && page->looked_at < HOLDS_LOOKED_AT) {
        const struct select_args args = {
            .n = {page->next, filter->project_no, filter->member_no, filter->cluster_no,
                  filter->root_no, only_open},
            .limit = HOLDS_GATHERED,
        };
        gathered->count = 0;
        enum error_code code =
            ledger_read_list(page->reader, SELECT_HOLDS, &args, gather_hold, gathered, err);
        code = code == ERR_OK ? write_gathered(page, gathered, err) : code;
        if (code != ERR_OK) {
            return code;
        }
        is_end = gathered->count < HOLDS_GATHERED && page->left > 0;
    }
    page->next = is_end ? 0 : page->next;
    return ERR_OK;
}

static enum error_code write_holds(struct request *request,
                                   struct ledger_reader *reader,
                                   struct json_out *out,
                                   struct error *err)
{
    struct page page;
    struct rights rights;
    struct hold_filter filter = {0};
    enum error_code code = page_begin(request, "holds", &page, err);
    if (code == ERR_OK) {
        code = rights_begin(&request->principal, reader, &rights, err);
    }
    if (code == ERR_OK) {
        code = read_filter(request, reader, &rights, &filter, err);
    }
    if (code != ERR_OK) {
        return code;
    }
    struct holds_page holds = {
        .request = request,
        .reader = reader,
        .out = out,
        .filter = &filter,
        .rights = &rights,
        .view = {.reader = reader, .now_s = request->now_ms / 1000},
        .left = page.size,
        .next = page.from > 0 ? page.from : INT64_MAX,
    };
    json_out_array_open(out, "items");
    code = write_holds_page(&holds, err);
    json_out_array_close(out);
    page_write_next(out, "holds", holds.next);
    return code;
}

void api_list_holds(struct request *request)
{
    request_answer_by_reading(request, write_holds);
}

/* ---- grants, tokens, usage of unknown accounts: short lists, paged by their position */

struct short_list {
    struct json_out *out;
    struct ledger_reader *reader; /* where names are to be looked up */
    const char *place;            /* the node or cluster of all */
    int64_t skip;
    int64_t left;
    int64_t position;
    bool has_more;
};

/* Is the next row on this page? */
static bool is_on_page(struct short_list *list)
{
    list->has_more = list->left == 0;
    if (list->has_more || list->position++ < list->skip) {
        return false;
    }
    list->left--;
    return true;
}

static bool write_grant(void *context, const void *record)
{
    struct short_list *list = context;
    const struct grant *grant = record;
    if (grant->kind != GRANT_TIMED) {
        return true; /* the endless grant and the overdraft show in the balance */
    }
    if (is_on_page(list)) {
        json_out_object_open(list->out, NULL);
        encode_grant(list->out, grant, list->place);
        json_out_object_close(list->out);
    }
    return !list->has_more;
}

static bool write_token(void *context, const void *record)
{
    struct short_list *list = context;
    const struct token *token = record;
    if (token->revoked == 0 && is_on_page(list)) {
        json_out_object_open(list->out, NULL);
        encode_token(list->out, token);
        json_out_object_close(list->out);
    }
    return !list->has_more;
}

/* What it has in common with a hold; names of models that cannot be read stay out. */
static void show_unattributed(const struct short_list *list,
                              const struct unattributed *row,
                              struct ledger_hold *shown)
{
    memset(shown, 0, sizeof(*shown));
    memcpy(shown->cluster, list->place, strlen(list->place) + 1);
    memcpy(shown->hold.job_name, row->job_name, sizeof(row->job_name));
    memcpy(shown->hold.partition, row->partition, sizeof(row->partition));
    memcpy(shown->hold.qos, row->qos, sizeof(row->qos));
    shown->hold.resources = row->resources;
    for (int32_t i = 0; i < row->resources.gpu_count; i++) {
        struct error ignored;
        const int64_t model_no = row->resources.gpus[i].model_no;
        if (model_no != 0) {
            (void)!ledger_read_name_of(list->reader, NAMES_MODEL, model_no, shown->models[i],
                                       sizeof(shown->models[i]), &ignored);
        }
    }
}

static bool write_unattributed_row(void *context, const void *record)
{
    struct short_list *list = context;
    const struct unattributed *row = record;
    if (is_on_page(list)) {
        struct ledger_hold shown;
        show_unattributed(list, row, &shown);
        json_out_object_open(list->out, NULL);
        encode_unattributed(list->out, row, &shown);
        json_out_object_close(list->out);
    }
    return !list->has_more;
}

/* Which rows a short list has, and how one is written. */
struct short_list_kind {
    const char *name; /* in page tokens */
    enum select_kind select;
    ledger_row_fn write;
};

static const struct short_list_kind grants_kind = {"grants", SELECT_GRANTS_OF_NODE, write_grant};
static const struct short_list_kind tokens_kind = {"tokens", SELECT_TOKENS, write_token};
static const struct short_list_kind unattributed_kind = {"unattributed", SELECT_UNATTRIBUTED,
                                                         write_unattributed_row};

static enum error_code write_short_list(struct request *request,
                                        struct ledger_reader *reader,
                                        const struct short_list_kind *kind,
                                        const struct select_args *args,
                                        struct short_list *list,
                                        struct error *err)
{
    struct page page;
    enum error_code code = page_begin(request, kind->name, &page, err);
    if (code != ERR_OK) {
        return code;
    }
    list->skip = page.from;
    list->left = page.size;
    json_out_array_open(list->out, "items");
    code = ledger_read_list(reader, kind->select, args, kind->write, list, err);
    json_out_array_close(list->out);
    page_write_next(list->out, kind->name, list->has_more ? list->position : 0);
    return code;
}

static enum error_code write_grants(struct request *request,
                                    struct ledger_reader *reader,
                                    struct json_out *out,
                                    struct error *err)
{
    const char *name = request_query(request, QUERY_NODE);
    if (name == NULL || !text_is_node_name(name)) {
        return error_set_field(err, ERR_MALFORMED, "node", "name the node whose grants are wanted");
    }
    struct node node;
    struct rights rights;
    enum error_code code = rights_begin(&request->principal, reader, &rights, err);
    if (code == ERR_OK) {
        code = ledger_read_node(reader, NODE_ORGANIZATION, name, "", &node, err);
    }
    if (code == ERR_NOT_FOUND) {
        code = ledger_read_node(reader, NODE_PROJECT, name, "", &node, err);
    }
    if (code == ERR_OK) {
        code = rights_see_node(&rights, &node, name, err);
    }
    if (code != ERR_OK) {
        return code == ERR_NOT_FOUND ? error_set(err, code, "no organization or project %s", name)
                                     : code;
    }
    const struct select_args args = {.n = {node.node_no}};
    struct short_list list = {.out = out, .place = node.name};
    return write_short_list(request, reader, &grants_kind, &args, &list, err);
}

void api_list_grants(struct request *request)
{
    request_answer_by_reading(request, write_grants);
}

static enum error_code write_tokens(struct request *request,
                                    struct ledger_reader *reader,
                                    struct json_out *out,
                                    struct error *err)
{
    const struct select_args args = {0};
    struct short_list list = {.out = out};
    return write_short_list(request, reader, &tokens_kind, &args, &list, err);
}

void api_list_tokens(struct request *request)
{
    request_answer_by_reading(request, write_tokens);
}

static enum error_code write_unattributed(struct request *request,
                                          struct ledger_reader *reader,
                                          struct json_out *out,
                                          struct error *err)
{
    struct rights rights;
    struct cluster cluster;
    const char *name = request->path_values[0];
    enum error_code code = rights_begin(&request->principal, reader, &rights, err);
    if (code == ERR_OK) {
        code = ledger_read_cluster(reader, name, &cluster, err);
    }
    if (code == ERR_UNKNOWN_CLUSTER) {
        code = error_set(err, ERR_NOT_FOUND, "no cluster %s", name);
    }
    if (code == ERR_OK) {
        code = rights_see_cluster(&rights, &cluster, name, err);
    }
    if (code != ERR_OK) {
        return code;
    }
    const struct select_args args = {.n = {cluster.cluster_no}};
    struct short_list list = {.out = out, .reader = reader, .place = cluster.name};
    return write_short_list(request, reader, &unattributed_kind, &args, &list, err);
}

/** Usage that no project answers for yet (SPEC 5.9). */
void api_list_unattributed(struct request *request)
{
    request_answer_by_reading(request, write_unattributed);
}

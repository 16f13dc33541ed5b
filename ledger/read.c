/*
 * Looking things up for answers: readers see what has been committed. See ledger.h.
 */
#include <stdlib.h>
#include <string.h>

#include "ledger/base/amount.h"
#include "ledger/core/hold_state.h"
#include "ledger/lists.h"
#include "ledger/reader.h"
#include "ledger/zones.h"

enum error_code ledger_reader_open(const char *url,
                                   struct ledger_reader **ret_reader,
                                   struct error *err)
{
    struct ledger_reader *reader = calloc(1, sizeof *reader);
    if (reader == NULL) {
        return error_set(err, ERR_UNAVAILABLE, "out of memory for a reader");
    }
    enum error_code code = store_open(url, STORE_READ, &reader->store, err);
    if (code != ERR_OK) {
        free(reader);
        return code;
    }
    *ret_reader = reader;
    return ERR_OK;
}

void ledger_reader_close(struct ledger_reader *reader)
{
    if (reader != NULL) {
        store_close(reader->store);
        free(reader->models.names);
        free(reader);
    }
}

enum error_code ledger_reader_begin(struct ledger_reader *reader, struct error *err)
{
    enum error_code code = store_begin(reader->store, err);
    reader->begun = code == ERR_OK;
    return code;
}

void ledger_reader_end(struct ledger_reader *reader)
{
    store_rollback(reader->store);
    reader->begun = false;
}

enum error_code ledger_reader_backup(struct ledger_reader *reader,
                                     const char *to,
                                     struct error *err)
{
    return store_backup(reader->store, to, err);
}

enum error_code reader_begin(struct ledger_reader *reader, bool *ret_began, struct error *err)
{
    *ret_began = !reader->begun;
    return reader->begun ? ERR_OK : ledger_reader_begin(reader, err);
}

void reader_end(struct ledger_reader *reader, bool began)
{
    if (began) {
        ledger_reader_end(reader);
    }
}

enum error_code reader_look(struct ledger_reader *reader,
                            enum record_id type,
                            void *record,
                            bool *ret_found,
                            struct error *err)
{
    return store_get(reader->store, &record_types[type], record, ret_found, err);
}

enum error_code reader_get(struct ledger_reader *reader,
                           enum record_id type,
                           void *record,
                           const char *what,
                           struct error *err)
{
    bool found = false;
    enum error_code code = reader_look(reader, type, record, &found, err);
    if (code == ERR_OK && !found) {
        return error_set(err, ERR_NOT_FOUND, "no %s", what);
    }
    return code;
}

/* ---- names */

/* What a name leads to. ERR_NOT_FOUND with @what. */
static enum error_code find_name(struct ledger_reader *reader,
                                 enum name_space space,
                                 int64_t scope_no,
                                 const char *name,
                                 struct name *ret_name,
                                 struct error *err)
{
    static const char *const whats[] = {
        [NAMES_NODE] = "organization or project",
        [NAMES_MEMBER] = "member",
        [NAMES_CLUSTER] = "cluster",
        [NAMES_MODEL] = "GPU model",
        [NAMES_ACCOUNT] = "mapping of account",
        [NAMES_USER] = "mapping of user",
    };
    memset(ret_name, 0, sizeof *ret_name);
    ret_name->space = space;
    ret_name->scope_no = scope_no;
    bool found = false;
    size_t length = strlen(name);
    enum error_code code = ERR_OK;
    if (length < sizeof ret_name->name) {
        memcpy(ret_name->name, name, length + 1);
        code = reader_look(reader, RECORD_NAME, ret_name, &found, err);
    }
    if (code == ERR_OK && !found) {
        return error_set(err, ERR_NOT_FOUND, "no %s %s", whats[space], name);
    }
    return code;
}

enum error_code ledger_read_node_no(struct ledger_reader *reader,
                                    int64_t node_no,
                                    struct node *ret_node,
                                    struct error *err)
{
    ret_node->node_no = node_no;
    return reader_get(reader, RECORD_NODE, ret_node, "such node", err);
}

static enum error_code read_member(struct ledger_reader *reader,
                                   const char *person,
                                   const char *project,
                                   struct node *ret_node,
                                   struct error *err)
{
    struct node above;
    struct name name;
    enum error_code code = ledger_read_node(reader, NODE_PROJECT, project, NULL, &above, err);
    if (code == ERR_OK) {
        code = find_name(reader, NAMES_MEMBER, above.node_no, person, &name, err);
    }
    return code == ERR_OK ? ledger_read_node_no(reader, name.target_no, ret_node, err) : code;
}

enum error_code ledger_read_node(struct ledger_reader *reader,
                                 enum node_kind kind,
                                 const char *name,
                                 const char *project,
                                 struct node *ret_node,
                                 struct error *err)
{
    struct name row;
    if (kind == NODE_MEMBER) {
        return read_member(reader, name, project, ret_node, err);
    }
    enum error_code code = find_name(reader, NAMES_NODE, 0, name, &row, err);
    if (code == ERR_OK) {
        code = ledger_read_node_no(reader, row.target_no, ret_node, err);
    }
    if (code == ERR_OK && ret_node->kind != kind) {
        return error_set(err, ERR_NOT_FOUND, "no %s %s",
                         kind == NODE_PROJECT ? "project" : "organization", name);
    }
    return code;
}

enum error_code ledger_read_cluster(struct ledger_reader *reader,
                                    const char *name,
                                    struct cluster *ret_cluster,
                                    struct error *err)
{
    struct name row;
    enum error_code code = find_name(reader, NAMES_CLUSTER, 0, name, &row, err);
    if (code == ERR_OK) {
        ret_cluster->cluster_no = row.target_no;
        code = reader_get(reader, RECORD_CLUSTER, ret_cluster, "such cluster", err);
    }
    return code;
}

enum error_code ledger_read_card(struct ledger_reader *reader,
                                 int64_t cluster_no,
                                 int64_t version,
                                 struct rate_card *ret_card,
                                 struct error *err)
{
    ret_card->version.cluster_no = cluster_no;
    ret_card->version.version = version;
    enum error_code code =
        reader_get(reader, RECORD_RATE_VERSION, &ret_card->version, "such version of rates", err);
    for (int32_t i = 0; code == ERR_OK && i < ret_card->version.row_count; i++) {
        ret_card->rows[i].cluster_no = cluster_no;
        ret_card->rows[i].version = version;
        ret_card->rows[i].row = i;
        code = reader_get(reader, RECORD_RATE_ROW, &ret_card->rows[i], "such row of rates", err);
    }
    return code;
}

enum error_code ledger_read_mapping(struct ledger_reader *reader,
                                    int64_t cluster_no,
                                    bool is_user,
                                    const char *name,
                                    struct name *ret_name,
                                    struct error *err)
{
    return find_name(reader, is_user ? NAMES_USER : NAMES_ACCOUNT, cluster_no, name, ret_name, err);
}

static bool collect_model(void *context, const void *record)
{
    const struct name *row = record;
    struct model_names *models = context;
    models->loaded = model_names_put(models, row->target_no, row->name);
    return models->loaded;
}

static enum error_code load_models(struct ledger_reader *reader, struct error *err)
{
    struct model_names *models = &reader->models;
    struct select_args args = {.n = {NAMES_MODEL, 0}, .s = {""}};
    models->loaded = true;
    enum error_code code =
        store_select(reader->store, SELECT_NAMES, &args, collect_model, models, err);
    if (code == ERR_OK && !models->loaded) {
        return error_set(err, ERR_UNAVAILABLE, "out of memory for the names of models");
    }
    return code;
}

enum error_code reader_model(struct ledger_reader *reader,
                             int64_t model_no,
                             const char **ret_name,
                             struct error *err)
{
    const struct model_names *models = &reader->models;
    bool missing = model_no > 0 && (size_t)model_no >= models->count;
    enum error_code code = missing ? load_models(reader, err) : ERR_OK;
    if (code != ERR_OK) {
        return code;
    }
    bool known = model_no > 0 && (size_t)model_no < models->count;
    *ret_name = known ? models->names[model_no] : "";
    return ERR_OK;
}

enum error_code ledger_read_name_of(struct ledger_reader *reader,
                                    enum name_space space,
                                    int64_t target_no,
                                    char *ret_name,
                                    size_t bytes,
                                    struct error *err)
{
    if (space == NAMES_CLUSTER) {
        struct cluster cluster = {.cluster_no = target_no};
        enum error_code code = reader_get(reader, RECORD_CLUSTER, &cluster, "such cluster", err);
        if (code == ERR_OK) {
            row_text(ret_name, bytes, cluster.name);
        }
        return code;
    }
    const char *name;
    assert(space == NAMES_MODEL);
    enum error_code code = reader_model(reader, target_no, &name, err);
    if (code == ERR_OK && name[0] == '\0') {
        return error_set(err, ERR_NOT_FOUND, "no such GPU model");
    }
    if (code == ERR_OK) {
        row_text(ret_name, bytes, name);
    }
    return code;
}

enum error_code ledger_read_node_names(struct ledger_reader *reader,
                                       const struct node *node,
                                       struct ledger_node *ret_node,
                                       struct error *err)
{
    ret_node->node = *node;
    ret_node->parent[0] = '\0';
    if (node->parent_no == 0) {
        return ERR_OK;
    }
    struct node parent;
    enum error_code code = ledger_read_node_no(reader, node->parent_no, &parent, err);
    if (code == ERR_OK) {
        row_text(ret_node->parent, sizeof ret_node->parent, parent.name);
    }
    return code;
}

enum error_code ledger_read_cluster_names(struct ledger_reader *reader,
                                          const struct cluster *cluster,
                                          struct ledger_cluster *ret_cluster,
                                          struct error *err)
{
    ret_cluster->cluster = *cluster;
    for (int32_t i = 0; i < cluster->root_count; i++) {
        struct node root;
        enum error_code code = ledger_read_node_no(reader, cluster->roots[i].root_no, &root, err);
        if (code != ERR_OK) {
            return code;
        }
        row_text(ret_cluster->roots[i], sizeof ret_cluster->roots[i], root.name);
    }
    return ERR_OK;
}

enum error_code ledger_read_grant(struct ledger_reader *reader,
                                  int64_t grant_no,
                                  struct grant *ret_grant,
                                  struct error *err)
{
    ret_grant->grant_no = grant_no;
    return reader_get(reader, RECORD_GRANT, ret_grant, "such grant", err);
}

/* ---- holds */

static enum error_code read_node_name(struct ledger_reader *reader,
                                      int64_t node_no,
                                      char *ret_name,
                                      size_t bytes,
                                      struct error *err)
{
    struct node node;
    enum error_code code = ledger_read_node_no(reader, node_no, &node, err);
    if (code == ERR_OK) {
        row_text(ret_name, bytes, node.name);
    }
    return code;
}

static enum error_code read_model_names(struct ledger_reader *reader,
                                        struct ledger_hold *hold,
                                        struct error *err)
{
    for (int32_t i = 0; i < hold->hold.resources.gpu_count; i++) {
        const char *name;
        enum error_code code =
            reader_model(reader, hold->hold.resources.gpus[i].model_no, &name, err);
        if (code != ERR_OK) {
            return code;
        }
        row_text(hold->models[i], sizeof hold->models[i], name);
    }
    return ERR_OK;
}

enum error_code ledger_read_hold_names(struct ledger_reader *reader,
                                       const struct hold *hold,
                                       struct ledger_hold *ret_hold,
                                       struct error *err)
{
    if (hold != &ret_hold->hold) {
        ret_hold->hold = *hold;
    }
    ret_hold->state = hold_state(&ret_hold->hold);
    enum error_code code = ledger_read_name_of(reader, NAMES_CLUSTER, ret_hold->hold.cluster_no,
                                               ret_hold->cluster, sizeof ret_hold->cluster, err);
    if (code == ERR_OK) {
        code = read_node_name(reader, ret_hold->hold.project_no, ret_hold->project,
                              sizeof ret_hold->project, err);
    }
    if (code == ERR_OK) {
        code = read_node_name(reader, ret_hold->hold.member_no, ret_hold->user,
                              sizeof ret_hold->user, err);
    }
    if (code == ERR_OK) {
        code = read_node_name(reader, ret_hold->hold.payer_no, ret_hold->payer,
                              sizeof ret_hold->payer, err);
    }
    return code == ERR_OK ? read_model_names(reader, ret_hold, err) : code;
}

enum error_code ledger_read_hold_no(struct ledger_reader *reader,
                                    int64_t hold_no,
                                    struct ledger_hold *ret_hold,
                                    struct error *err)
{
    bool found = false;
    ret_hold->hold.hold_no = hold_no;
    enum error_code code = reader_look(reader, RECORD_HOLD, &ret_hold->hold, &found, err);
    if (code == ERR_OK && !found) {
        return error_set(err, ERR_UNKNOWN_HOLD, "no such hold");
    }
    return code == ERR_OK ? ledger_read_hold_names(reader, &ret_hold->hold, ret_hold, err) : code;
}

/* Which holds an id may mean. */
struct hold_search {
    struct ledger_reader *reader;
    int64_t cluster_no; /* 0: any */
    int64_t root_no;    /* 0: any */
    int64_t found_no;
    bool several;
    enum error_code code;
    struct error *err;
};

static bool match_hold(void *context, const void *record)
{
    struct hold_search *search = context;
    const struct hold_id *id = record;
    struct hold hold;
    bool found = false;
    if (search->cluster_no != 0 && id->cluster_no != search->cluster_no) {
        return true;
    }
    hold.hold_no = id->hold_no;
    search->code = reader_look(search->reader, RECORD_HOLD, &hold, &found, search->err);
    if (search->code != ERR_OK) {
        return false;
    }
    if (found && (search->root_no == 0 || hold.root_no == search->root_no)) {
        search->several = search->found_no != 0;
        search->found_no = hold.hold_no;
    }
    return !search->several;
}

/* Cluster and root by name into a search; an unknown one can match nothing. */
static enum error_code search_begin(struct hold_search *search,
                                    const char *cluster,
                                    const char *root)
{
    struct name name;
    enum error_code code = ERR_OK;
    if (cluster[0] != '\0') {
        code = find_name(search->reader, NAMES_CLUSTER, 0, cluster, &name, search->err);
        search->cluster_no = code == ERR_OK ? name.target_no : 0;
    }
    if (code == ERR_OK && root != NULL && root[0] != '\0') {
        code = find_name(search->reader, NAMES_NODE, 0, root, &name, search->err);
        search->root_no = code == ERR_OK ? name.target_no : 0;
    }
    return code;
}

enum error_code ledger_read_hold(struct ledger_reader *reader,
                                 const char *cluster,
                                 const char *root,
                                 const char *id,
                                 struct ledger_hold *ret_hold,
                                 struct error *err)
{
    struct hold_search search = {.reader = reader, .err = err};
    struct select_args args = {.s = {id}};
    enum error_code code = search_begin(&search, cluster, root);
    if (code == ERR_OK) {
        code = store_select(reader->store, SELECT_HOLDS_BY_ID, &args, match_hold, &search, err);
    }
    if (code == ERR_OK) {
        code = search.code;
    }
    if (code == ERR_NOT_FOUND || (code == ERR_OK && search.found_no == 0)) {
        return error_set(err, ERR_UNKNOWN_HOLD, "no hold %s", id);
    }
    if (code == ERR_OK && search.several) {
        return error_set(err, ERR_AMBIGUOUS_ID,
                         "several clusters know hold %s: name one with cluster", id);
    }
    return code == ERR_OK ? ledger_read_hold_no(reader, search.found_no, ret_hold, err) : code;
}

enum error_code ledger_read_job(struct ledger_reader *reader,
                                const char *cluster,
                                const char *key,
                                bool by_key,
                                struct ledger_hold *ret_hold,
                                struct error *err)
{
    struct name name;
    struct job job;
    bool found = false;
    size_t length = strlen(key);
    enum error_code code = find_name(reader, NAMES_CLUSTER, 0, cluster, &name, err);
    if (code == ERR_OK && length < sizeof job.key) {
        job.cluster_no = name.target_no;
        job.by_key = by_key ? 1 : 0;
        memcpy(job.key, key, length + 1);
        code = reader_look(reader, RECORD_JOB, &job, &found, err);
    }
    if (code == ERR_NOT_FOUND || (code == ERR_OK && !found)) {
        return error_set(err, ERR_UNKNOWN_HOLD, "no hold of job %s", key);
    }
    return code == ERR_OK ? ledger_read_hold_no(reader, job.hold_no, ret_hold, err) : code;
}

enum error_code ledger_read_list(struct ledger_reader *reader,
                                 enum select_kind select,
                                 const struct select_args *args,
                                 ledger_row_fn row,
                                 void *context,
                                 struct error *err)
{
    return store_select(reader->store, select, args, row, context, err);
}

/* ---- time */

static bool collect_step(void *context, const void *record)
{
    return zone_step_append(context, record);
}

enum error_code reader_time(struct ledger_reader *reader,
                            const struct node *root,
                            int64_t now_s,
                            const struct root_time **ret_time,
                            struct error *err)
{
    struct root_time *time = &reader->time;
    if (reader->time_root_no != root->node_no || reader->time_version != root->version) {
        struct select_args args = {.n = {root->node_no}};
        reader->time_root_no = 0;
        time->calendar.count = 0;
        enum error_code code =
            store_select(reader->store, SELECT_ZONE, &args, collect_step, &time->calendar, err);
        if (code != ERR_OK) {
            return code;
        }
        if (time->calendar.count == 0) {
            calendar_init_utc(&time->calendar);
        }
        time->calendar.fiscal_year_start = (uint8_t)root->fiscal_year_start;
        reader->time_root_no = root->node_no;
        reader->time_version = root->version;
    }
    root_time_set(time, now_s);
    *ret_time = time;
    return ERR_OK;
}

enum error_code reader_window_used(struct ledger_reader *reader,
                                   const struct counter *counter,
                                   enum cap_kind kind,
                                   const struct root_time *time,
                                   int64_t *ret_used_mcs,
                                   struct error *err)
{
    static const int64_t lengths[] = {[CAP_MONTH] = 1, [CAP_QUARTER] = 3, [CAP_YEAR] = 12};
    if (kind == CAP_TOTAL) {
        *ret_used_mcs = counter->used_mcs;
        return ERR_OK;
    }
    assert(kind < CAP_TOTAL);
    int64_t first = kind == CAP_MONTH     ? time->month
                    : kind == CAP_QUARTER ? time->quarter_first
                                          : time->year_first;
    int64_t sum_mcs = 0;
    for (int64_t i = 0; i < lengths[kind]; i++) {
        struct node_month month = {.node_no = counter->node_no, .month = first + i};
        bool found = false;
        enum error_code code = reader_look(reader, RECORD_NODE_MONTH, &month, &found, err);
        if (code != ERR_OK) {
            return code;
        }
        sum_mcs += found ? month.used_mcs : 0;
    }
    *ret_used_mcs = sum_mcs;
    return ERR_OK;
}

/* ---- webhooks */

enum error_code ledger_read_webhook_no(struct ledger_reader *reader,
                                       int64_t webhook_no,
                                       struct webhook *ret_webhook,
                                       struct error *err)
{
    ret_webhook->webhook_no = webhook_no;
    return reader_get(reader, RECORD_WEBHOOK, ret_webhook, "webhook", err);
}

enum error_code ledger_read_alert(struct ledger_reader *reader,
                                  int64_t alert_no,
                                  struct alert *ret_alert,
                                  struct error *err)
{
    ret_alert->alert_no = alert_no;
    return reader_get(reader, RECORD_ALERT, ret_alert, "alert", err);
}

enum error_code ledger_read_webhook(struct ledger_reader *reader,
                                    const char *name,
                                    struct webhook *ret_webhook,
                                    struct error *err)
{
    struct name row = {.space = NAMES_WEBHOOK};
    row_text(row.name, sizeof row.name, name);
    const enum error_code code = reader_get(reader, RECORD_NAME, &row, "webhook", err);
    return code == ERR_OK ? ledger_read_webhook_no(reader, row.target_no, ret_webhook, err) : code;
}

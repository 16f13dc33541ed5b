/*
 * What time brings that someone wants to be told (SPEC 4.6): grants that end soon, clusters whose agent is silent,
 * holds nobody has heard of. Looked for on a reader; the commands that come of it are judged again by the writer.
 */
#include <stdlib.h>
#include <string.h>

#include "ledger/map.h"
#include "ledger/names.h"
#include "ledger/reader.h"

enum {
    HOLDS_AT_ONCE = 512,
    DAY_S = 86400,
    SILENT_S = 120, /* SPEC 5.3 */
};

struct watch {
    struct ledger_reader *reader;
    int64_t now_s;
    int64_t epoch;
    struct command *commands;
    size_t most;
    size_t count;
    enum error_code code;
    struct error *err;
    int64_t types; /* that any webhook hears */
    size_t hook_count;
    size_t hook_capacity;
    struct watch_hook {
        int64_t webhook_no;
        int64_t root_no;
        int64_t node_no;
        int64_t types;
        int64_t grant_days;
    } * hooks;           /* owned */
    struct map clusters; /* struct cluster by number */
    struct map projects; /* struct watch_project by number */
    struct watch_project {
        struct watch_project *next; /* in the order in which they were met */
        int64_t project_no;
        int64_t root_no;
        int64_t holds;
        int64_t frozen_mcs;
        int64_t hold_no; /* the one not heard of for longest */
        int64_t seen_s;
    } * first, **tail;
    int64_t before; /* holds from here down have not been looked at */
    int64_t looked_at;
};

static bool fail_memory(struct watch *watch)
{
    watch->code = error_set(watch->err, ERR_UNAVAILABLE, "no memory to look for alerts");
    return false;
}

static bool collect_hook(void *context, const void *record)
{
    struct watch *watch = context;
    const struct webhook *row = record;
    if (row->disabled != 0) {
        return true;
    }
    if (watch->hook_count == watch->hook_capacity) {
        const size_t capacity = watch->hook_capacity == 0 ? 16 : 2 * watch->hook_capacity;
        struct watch_hook *grown = realloc(watch->hooks, capacity * sizeof grown[0]);
        if (grown == NULL) {
            return fail_memory(watch);
        }
        watch->hooks = grown;
        watch->hook_capacity = capacity;
    }
    watch->hooks[watch->hook_count++] = (struct watch_hook){
        row->webhook_no, row->root_no, row->node_no, row->types, row->grant_days};
    watch->types |= row->types;
    return true;
}

static bool collect_cluster(void *context, const void *record)
{
    struct watch *watch = context;
    const struct cluster *row = record;
    struct cluster *kept = malloc(sizeof *kept);
    if (kept == NULL || !map_add(&watch->clusters, row->cluster_no, kept)) {
        free(kept);
        return fail_memory(watch);
    }
    *kept = *row;
    return true;
}

static bool hears(const struct watch *watch, int64_t type)
{
    return (watch->types & INT64_C(1) << type) != 0;
}

static bool is_told(struct watch *watch, int64_t type, int64_t subject_no, int64_t webhook_no)
{
    struct alert_state state = {.type = type, .subject_no = subject_no, .detail_no = webhook_no};
    bool found = false;
    watch->code = reader_look(watch->reader, RECORD_ALERT_STATE, &state, &found, watch->err);
    return watch->code == ERR_OK && found && state.epoch == watch->epoch && state.level > 0;
}

static struct command_alert *next_alert(struct watch *watch)
{
    if (watch->count == watch->most) {
        return NULL;
    }
    struct command *command = &watch->commands[watch->count++];
    memset(command, 0, sizeof *command);
    command->kind = COMMAND_RAISE_ALERT;
    command->role = ROLE_ADMIN;
    return &command->alert;
}

/* ---- grants that end */

static bool is_at_or_below(struct watch *watch, int64_t node_no, int64_t top_no)
{
    struct node node = {.node_no = 0};
    while (watch->code == ERR_OK && node_no != 0 && node_no != top_no) {
        watch->code = ledger_read_node_no(watch->reader, node_no, &node, watch->err);
        node_no = node.parent_no;
    }
    return watch->code == ERR_OK && node_no == top_no;
}

static void tell_grant(struct watch *watch,
                       const struct watch_hook *hook,
                       const struct grant *grant)
{
    const bool soon = grant->end_s - watch->now_s <= hook->grant_days * DAY_S;
    const bool wanted = (hook->types & INT64_C(1) << ALERT_GRANT_ENDING) != 0 &&
                        hook->root_no == grant->root_no && soon;
    if (!wanted || !is_at_or_below(watch, grant->node_no, hook->node_no) ||
        is_told(watch, ALERT_GRANT_ENDING, grant->grant_no, hook->webhook_no)) {
        return;
    }
    struct command_alert *made = watch->code == ERR_OK ? next_alert(watch) : NULL;
    if (made != NULL) {
        made->subject_no = grant->grant_no;
        made->webhook_no = hook->webhook_no;
        made->alert = (struct alert){.type = ALERT_GRANT_ENDING,
                                     .root_no = grant->root_no,
                                     .node_no = grant->node_no,
                                     .other_no = grant->grant_no,
                                     .limit_mcs = grant->granted_mcs + grant->in_mcs,
                                     .used_mcs = grant->available_mcs,
                                     .frozen_mcs = grant->frozen_mcs,
                                     .until_s = grant->end_s};
    }
}

static bool look_at_grant(void *context, const void *record)
{
    struct watch *watch = context;
    const struct grant *grant = record;
    if (grant->kind != GRANT_TIMED || grant->end_s <= watch->now_s || grant->available_mcs <= 0) {
        return true;
    }
    for (size_t i = 0; i < watch->hook_count && watch->code == ERR_OK; i++) {
        tell_grant(watch, &watch->hooks[i], grant);
    }
    return watch->code == ERR_OK;
}

static void look_at_grants(struct watch *watch)
{
    int64_t days = 0;
    for (size_t i = 0; i < watch->hook_count; i++) {
        days = watch->hooks[i].grant_days > days ? watch->hooks[i].grant_days : days;
    }
    const struct select_args args = {.n = {watch->now_s + days * DAY_S}};
    const enum error_code code = store_select(watch->reader->store, SELECT_GRANTS_DUE, &args,
                                              look_at_grant, watch, watch->err);
    watch->code = watch->code == ERR_OK ? code : watch->code;
}

/* ---- clusters that are silent */

static bool look_at_cluster(void *context, const void *record)
{
    struct watch *watch = context;
    const struct cluster *cluster = record;
    const bool silent = cluster->agent_seen_s > 0 && cluster->state == NODE_OPEN &&
                        watch->now_s - cluster->agent_seen_s > SILENT_S;
    const bool told = is_told(watch, ALERT_SILENT, cluster->cluster_no, 0);
    struct command_alert *made = watch->code == ERR_OK && silent != told ? next_alert(watch) : NULL;
    if (made != NULL) {
        made->subject_no = cluster->cluster_no;
        made->clears = !silent;
        made->alert = (struct alert){.type = ALERT_SILENT,
                                     .other_no = cluster->cluster_no,
                                     .until_s = cluster->agent_seen_s};
    }
    return watch->code == ERR_OK;
}

static void look_at_clusters(struct watch *watch)
{
    const enum error_code code = store_select(watch->reader->store, SELECT_CLUSTERS, NULL,
                                              look_at_cluster, watch, watch->err);
    watch->code = watch->code == ERR_OK ? code : watch->code;
}

/* ---- holds that nobody has heard of */

static struct watch_project *project_of(struct watch *watch, const struct hold *hold)
{
    struct watch_project *project = map_get(&watch->projects, hold->project_no);
    if (project != NULL) {
        return project;
    }
    project = malloc(sizeof *project);
    if (project == NULL || !map_add(&watch->projects, hold->project_no, project)) {
        free(project);
        (void)fail_memory(watch);
        return NULL;
    }
    *project = (struct watch_project){
        .project_no = hold->project_no, .root_no = hold->root_no, .seen_s = INT64_MAX};
    *watch->tail = project;
    watch->tail = &project->next;
    return project;
}

static bool look_at_hold(void *context, const void *record)
{
    struct watch *watch = context;
    const struct hold *hold = record;
    const struct cluster *cluster = map_get(&watch->clusters, hold->cluster_no);
    watch->before = hold->hold_no;
    watch->looked_at++;
    if (hold->counts[TASK_RUNNING] + hold->counts[TASK_SUSPENDED] == 0 || cluster == NULL ||
        watch->now_s - hold->seen_s <= cluster->stale_after_s) {
        return true;
    }
    struct watch_project *project = project_of(watch, hold);
    if (project != NULL) {
        project->holds++;
        project->frozen_mcs += hold->frozen_mcs;
        project->hold_no = hold->seen_s <= project->seen_s ? hold->hold_no : project->hold_no;
        project->seen_s = hold->seen_s < project->seen_s ? hold->seen_s : project->seen_s;
    }
    return project != NULL;
}

static void walk_holds(struct watch *watch)
{
    const enum error_code code = store_select(watch->reader->store, SELECT_CLUSTERS, NULL,
                                              collect_cluster, watch, watch->err);
    watch->code = watch->code == ERR_OK ? code : watch->code;
    watch->before = INT64_MAX;
    watch->looked_at = HOLDS_AT_ONCE;
    while (watch->code == ERR_OK && watch->looked_at == HOLDS_AT_ONCE) {
        const struct select_args args = {.n = {watch->before, 0, 0, 0, 0, 1},
                                         .limit = HOLDS_AT_ONCE};
        watch->looked_at = 0;
        const enum error_code found = store_select(watch->reader->store, SELECT_HOLDS, &args,
                                                   look_at_hold, watch, watch->err);
        watch->code = watch->code == ERR_OK ? found : watch->code;
    }
}

static void tell_projects(struct watch *watch)
{
    const struct watch_project *project = watch->first;
    for (; project != NULL && watch->code == ERR_OK; project = project->next) {
        if (is_told(watch, ALERT_STALE, project->project_no, 0) || watch->code != ERR_OK) {
            continue;
        }
        struct command_alert *made = next_alert(watch);
        if (made != NULL) {
            made->subject_no = project->project_no;
            made->alert = (struct alert){.type = ALERT_STALE,
                                         .root_no = project->root_no,
                                         .node_no = project->project_no,
                                         .other_no = project->hold_no,
                                         .holds = project->holds,
                                         .frozen_mcs = project->frozen_mcs,
                                         .until_s = project->seen_s};
        }
    }
}

/* Told of once, and heard of again by now. */
static bool clear_project(void *context, const void *record)
{
    struct watch *watch = context;
    const struct alert_state *state = record;
    if (state->level == 0 || state->epoch != watch->epoch ||
        map_get(&watch->projects, state->subject_no) != NULL) {
        return true;
    }
    struct command_alert *made = next_alert(watch);
    if (made != NULL) {
        made->subject_no = state->subject_no;
        made->clears = true;
        made->alert.type = ALERT_STALE;
    }
    return made != NULL;
}

static void look_at_stale(struct watch *watch)
{
    walk_holds(watch);
    if (watch->code == ERR_OK) {
        tell_projects(watch);
    }
    const struct select_args args = {.n = {ALERT_STALE}};
    if (watch->code == ERR_OK) {
        watch->code = store_select(watch->reader->store, SELECT_ALERT_STATES, &args, clear_project,
                                   watch, watch->err);
    }
}

/* ---- all of it */

static enum error_code begin(struct watch *watch)
{
    struct sequence epoch = {.name = "alert_epoch"};
    const struct select_args args = {.limit = 0};
    bool found = false;
    struct store *store = watch->reader->store;
    enum error_code code =
        store_select(store, SELECT_WEBHOOKS, &args, collect_hook, watch, watch->err);
    code = code == ERR_OK ? watch->code : code;
    if (code == ERR_OK) {
        code = reader_look(watch->reader, RECORD_SEQUENCE, &epoch, &found, watch->err);
    }
    watch->epoch = epoch.last + 1; /* as row_next_no() says it */
    return code;
}

static void look(struct watch *watch)
{
    if (watch->code == ERR_OK && hears(watch, ALERT_GRANT_ENDING)) {
        look_at_grants(watch);
    }
    if (watch->code == ERR_OK && hears(watch, ALERT_SILENT)) {
        look_at_clusters(watch);
    }
    if (watch->code == ERR_OK && hears(watch, ALERT_STALE)) {
        look_at_stale(watch);
    }
}

enum error_code ledger_watch(struct ledger_reader *reader,
                             int64_t now_ms,
                             struct command *commands,
                             size_t most,
                             size_t *ret_count,
                             struct error *err)
{
    struct watch watch = {
        .reader = reader,
        .now_s = now_ms / 1000,
        .commands = commands,
        .most = most,
        .err = err,
        .code = ERR_OK,
    };
    watch.tail = &watch.first;
    map_init(&watch.clusters, free);
    map_init(&watch.projects, free);
    watch.code = begin(&watch);
    if (watch.hook_count > 0) {
        look(&watch);
    }
    *ret_count = watch.count;
    map_fini(&watch.clusters);
    map_fini(&watch.projects);
    free(watch.hooks);
    return watch.code;
}

/* See load.h. */
#include "ledger/load.h"

#include <stddef.h>
#include <string.h>

#include "ledger/base/amount.h"
#include "ledger/copy.h"
#include "ledger/lists.h"
#include "ledger/names.h"
#include "ledger/wait.h"
#include "ledger/zones.h"

/* ---- copies of what counts */

static void load_counter(struct counter *to, const struct cell *cell, int64_t node_no)
{
    if (!cell_exists(cell)) {
        memset(to, 0, offsetof(struct counter, models));
        to->node_no = node_no;
        return;
    }
    copy_counter(to, cell_record(cell));
}

/* ---- time */

void load_time(struct ledger *ledger, const struct node *root)
{
    struct view *view = &ledger->view;
    const struct cell *cell = row_find(ledger->set, RECORD_ROOT_STATE, root->node_no);
    int64_t last_ms = 0;
    view->oldest_open_month = 0;
    if (cell_exists(cell)) {
        const struct root_state *state = cell_record(cell);
        last_ms = state->last_ms;
        view->oldest_open_month = state->oldest_open_month;
    }
    view->now_ms = ledger->clock_ms > last_ms ? ledger->clock_ms : last_ms;
    view->now_s = view->now_ms / 1000;
    ledger->subject.root_no = root->node_no;
    ledger->subject.time = zones_at(ledger, root, view->now_s);
    view->month = ledger->subject.time->month;
}

/* ---- the path */

static int64_t month_used(struct ledger *ledger, int64_t node_no, int64_t month)
{
    const struct cell *cell = row_find2(ledger->set, RECORD_NODE_MONTH, node_no, month);
    return cell_exists(cell) ? ((const struct node_month *)cell_record(cell))->used_mcs : 0;
}

static int64_t months_used(struct ledger *ledger, int64_t node_no, int64_t first, int64_t count)
{
    int64_t sum_mcs = 0;
    for (int64_t i = 0; i < count; i++) {
        int64_t used_mcs = month_used(ledger, node_no, first + i);
        if (!i64_add(sum_mcs, used_mcs, &sum_mcs)) {
            return INT64_MAX;
        }
    }
    return sum_mcs;
}

int64_t load_window_used(struct ledger *ledger,
                         const struct root_time *time,
                         const struct counter *counter,
                         int64_t kind)
{
    switch (kind) {
    case CAP_MONTH:
        return month_used(ledger, counter->node_no, time->month);
    case CAP_QUARTER:
        return months_used(ledger, counter->node_no, time->quarter_first, 3);
    case CAP_YEAR:
        return months_used(ledger, counter->node_no, time->year_first, 12);
    case CAP_TOTAL:
        return counter->used_mcs;
    default:
        return 0;
    }
}

/* Used in the windows for which the node has a cap. */
static void load_windows(struct ledger *ledger, struct view_node *node)
{
    const struct root_time *time = ledger->subject.time;
    memset(node->window_used_mcs, 0, sizeof node->window_used_mcs);
    memcpy(node->window_end_s, time->window_end_s, sizeof node->window_end_s);
    for (int32_t i = 0; i < node->node.cap_count; i++) {
        int64_t kind = node->node.caps[i].kind;
        if (kind <= CAP_TOTAL) {
            node->window_used_mcs[kind] = load_window_used(ledger, time, &node->counter, kind);
        }
    }
}

static int compare_caps(const struct cap *a, const struct cap *b)
{
    if (a->kind != b->kind) {
        return a->kind < b->kind ? -1 : 1;
    }
    return a->model_no < b->model_no ? -1 : a->model_no > b->model_no;
}

/* A member's own caps, and those of `*` for which it has none. False when they are too many. */
static bool merge_caps(struct node *member, const struct node *defaults)
{
    struct cap merged[2 * LIMIT_CAPS_PER_NODE];
    int32_t count = 0;
    int32_t own = 0;
    int32_t other = 0;
    while (own < member->cap_count || other < defaults->cap_count) {
        int order = own == member->cap_count ? 1
                    : other == defaults->cap_count
                        ? -1
                        : compare_caps(&member->caps[own], &defaults->caps[other]);
        merged[count++] = order <= 0 ? member->caps[own] : defaults->caps[other];
        own += order <= 0 ? 1 : 0;
        other += order >= 0 ? 1 : 0;
    }
    if (count > LIMIT_CAPS_PER_NODE) {
        return false;
    }
    /* cppcheck-suppress uninitvar ; as many as were merged */
    memcpy(member->caps, merged, (size_t)count * sizeof merged[0]);
    member->cap_count = count;
    return true;
}

static void load_node_figures(struct ledger *ledger, int32_t i)
{
    struct view_node *node = &ledger->view.nodes[i];
    struct cell *counter = row_find(ledger->set, RECORD_COUNTER, node->node.node_no);
    ledger->subject.counters[i] = counter;
    load_counter(&node->counter, counter, node->node.node_no);
    load_windows(ledger, node);
    node->waiting_caps = 0;
}

/* nodes[1..] by numbers, nodes[0] already there; figures of all. */
static enum error_code load_figures(struct ledger *ledger, struct error *err)
{
    struct view *view = &ledger->view;
    struct node *member = &view->nodes[0].node;
    int64_t star_no = view->nodes[1].node.default_member_no;
    bool other = star_no != 0 && star_no != member->node_no;
    const struct node *star = other ? row_get(ledger->set, RECORD_NODE, star_no) : NULL;
    if (star != NULL && !merge_caps(member, star)) {
        return error_set(err, ERR_TOO_MANY_CAPS,
                         "the caps of %s and of member * are more than %d together", member->name,
                         LIMIT_CAPS_PER_NODE);
    }
    for (int32_t i = 0; i < view->node_count; i++) {
        load_node_figures(ledger, i);
    }
    view->waiting_ahead = 0;
    view->funds_waiting = false;
    return ERR_OK;
}

/* ---- grants */

static void append_grant(struct ledger *ledger, struct cell *cell)
{
    struct view *view = &ledger->view;
    view->grants[view->grant_count++] = *(const struct grant *)cell_record(cell);
}

/* Put a row in its place among those of the view. */
static void place_grant(struct view *view, const struct grant *grant)
{
    int32_t at = view->grant_count++;
    while (at > 0 && list_grant_before(grant, &view->grants[at - 1])) {
        view->grants[at] = view->grants[at - 1];
        at--;
    }
    view->grants[at] = *grant;
}

bool load_payer_rows(struct ledger *ledger, int64_t node_no)
{
    const struct payer_rows *rows = list_payer_rows(ledger, node_no);
    for (size_t i = 0; i < rows->count; i++) {
        const struct grant *grant = cell_record(rows->cells[i]);
        if (!cell_exists(rows->cells[i]) || grant->ended) {
            continue;
        }
        if (ledger->view.grant_count == VIEW_GRANTS) {
            return false;
        }
        place_grant(&ledger->view, grant);
    }
    return true;
}

/* A row that is drawn on, unless it is there. */
static void insert_grant(struct ledger *ledger, int64_t grant_no)
{
    struct view *view = &ledger->view;
    for (int32_t i = 0; i < view->grant_count; i++) {
        if (view->grants[i].grant_no == grant_no) {
            return;
        }
    }
    const struct grant *grant = row_get(ledger->set, RECORD_GRANT, grant_no);
    if (grant != NULL) {
        assert(view->grant_count < VIEW_GRANTS);
        place_grant(view, grant);
    }
}

static void insert_draws(struct ledger *ledger, const struct draw *draws, int32_t count)
{
    for (int32_t i = 0; i < count; i++) {
        insert_grant(ledger, draws[i].grant_no);
    }
}

/* The payer's rows from which one may draw now, as many as leave room for those already drawn on. */
static void load_valid_grants(struct ledger *ledger, int64_t payer_no)
{
    struct view *view = &ledger->view;
    const struct payer_rows *rows = list_payer_rows(ledger, payer_no);
    view->grant_count = 0;
    for (size_t i = 0; i < rows->count; i++) {
        const struct grant *grant = cell_record(rows->cells[i]);
        bool valid = !grant->ended && grant->start_s <= view->now_s && view->now_s < grant->end_s;
        if (valid && view->grant_count < LIMIT_GRANTS) {
            append_grant(ledger, rows->cells[i]);
        }
    }
}

/* ---- rates */

void load_card(struct ledger *ledger, int64_t cluster_no, int64_t version)
{
    struct rate_card *card = &ledger->view.card;
    const struct cell *cell = row_find2(ledger->set, RECORD_RATE_VERSION, cluster_no, version);
    ledger->view.card_found = version != 0 && cell_exists(cell);
    if (!ledger->view.card_found) {
        card->version.version = 0;
        card->version.row_count = 0;
        return;
    }
    card->version = *(const struct rate_version *)cell_record(cell);
    for (int32_t i = 0; i < card->version.row_count; i++) {
        cell = row_find3(ledger->set, RECORD_RATE_ROW, cluster_no, version, i);
        if (cell_exists(cell)) {
            copy_rate_row(&card->rows[i], cell_record(cell));
        }
    }
}

/* ---- new holds */

/* A node for somebody first seen: numbered, stored only if the command passes. */
static void make_member(struct ledger *ledger, const struct node *project, const char *person)
{
    struct node *node = &ledger->view.nodes[0].node;
    memset(node, 0, sizeof *node);
    node->node_no = row_next_no(ledger->set, "node");
    node->root_no = project->root_no;
    node->parent_no = project->node_no;
    node->kind = NODE_MEMBER;
    node->version = 1;
    node->created_ms = ledger->view.now_ms;
    row_text(node->name, sizeof node->name, person);
    ledger->view.new_member = true;
}

static enum error_code load_member(struct ledger *ledger,
                                   const struct node *project,
                                   const char *person,
                                   struct error *err)
{
    if (strcmp(person, "*") == 0) {
        return error_set_field(err, ERR_INVALID_FIELD, "user",
                               "* stands for the default caps, nobody may be called so");
    }
    struct cell *cell = names_member(ledger, project->node_no, person);
    ledger->view.new_member = false;
    if (cell == NULL) {
        make_member(ledger, project, person);
        return ERR_OK;
    }
    copy_node(&ledger->view.nodes[0].node, cell_record(cell));
    if ((ledger->view.nodes[0].node.flags & NODE_GUEST) != 0) {
        ledger->view.new_member = true;
    }
    return ERR_OK;
}

/* The project and what lies above it, as it is now. */
static enum error_code load_ancestors(struct ledger *ledger,
                                      const struct node *project,
                                      struct error *err)
{
    struct view *view = &ledger->view;
    const struct node *node = project;
    view->node_count = 1;
    while (node != NULL && view->node_count < RECORD_PATH_NODES) {
        copy_node(&view->nodes[view->node_count++].node, node);
        node = node->parent_no == 0 ? NULL : row_get(ledger->set, RECORD_NODE, node->parent_no);
    }
    if (node != NULL) {
        return error_set(err, ERR_INTERNAL, "the ledger is damaged: %s lies too deep",
                         project->name);
    }
    return ERR_OK;
}

static int64_t payer_in_view(const struct view *view)
{
    for (int32_t i = 1; i < view->node_count; i++) {
        if (view->nodes[i].node.funding != FUNDING_PARENT) {
            return view->nodes[i].node.node_no;
        }
    }
    return view->nodes[view->node_count - 1].node.node_no;
}

/* What a freeze and a charge say of who and what. */
struct who {
    bool is_charge;
    const char *id;
    const char *account;
    const char *user;
    const struct command_resources *resources;
};

static struct who who_of(const struct command *command)
{
    if (command->kind == COMMAND_CHARGE) {
        const struct command_charge *charge = &command->charge;
        return (struct who){true, charge->id, charge->account, charge->user,
                            &charge->run.resources};
    }
    const struct command_freeze *freeze = &command->freeze;
    return (struct who){false, freeze->id, freeze->account, freeze->user, &freeze->resources};
}

/* Is the id known? Then it is a replay, or used for something else. One of the unattributed list
 * (hold_no 0) is taken for freezes; charges look there themselves. */
static enum error_code load_known(struct ledger *ledger,
                                  int64_t cluster_no,
                                  const struct who *who,
                                  const struct digest16 *content,
                                  bool *ret_replayed,
                                  struct error *err)
{
    const struct cell *known = row_find_hold_id(ledger->set, cluster_no, who->id);
    *ret_replayed = false;
    if (!cell_exists(known)) {
        return ERR_OK;
    }
    int64_t hold_no = ((const struct hold_id *)cell_record(known))->hold_no;
    if (hold_no == 0 && who->is_charge) {
        return ERR_OK;
    }
    const struct hold *hold = hold_no == 0 ? NULL : row_get(ledger->set, RECORD_HOLD, hold_no);
    if (hold == NULL || memcmp(&hold->content, content, sizeof *content) != 0) {
        return error_set_field(err, ERR_ID_REUSED, "id", "%s was used before with other content",
                               who->id);
    }
    load_hold(ledger, hold);
    *ret_replayed = true;
    return ERR_OK;
}

static void begin_hold(struct ledger *ledger, const struct digest16 *content)
{
    struct view *view = &ledger->view;
    view->hold_found = false;
    memset(&view->hold, 0, sizeof view->hold);
    view->hold.hold_no = row_next_no(ledger->set, "hold");
    view->hold.root_no = view->nodes[1].node.root_no;
    view->hold.cluster_no = view->cluster.cluster_no;
    view->hold.project_no = view->nodes[1].node.node_no;
    view->hold.member_no = view->nodes[0].node.node_no;
    view->hold.payer_no = payer_in_view(view);
    view->hold.created_ms = view->now_ms;
    view->hold.content = *content;
    view->task_found = false;
    view->run_found = false;
    view->previous_found = false;
}

/* The project that pays: the one that a charge is assigned to, else that of the account. */
static enum error_code load_project(struct ledger *ledger,
                                    const struct command *command,
                                    const struct cluster *cluster,
                                    const char *account,
                                    const struct node **ret_project,
                                    struct error *err)
{
    if (command->kind != COMMAND_CHARGE || command->charge.project[0] == '\0') {
        return names_account(ledger, cluster, account, ret_project, err);
    }
    struct cell *cell;
    enum error_code code = names_node(ledger, NODE_PROJECT, command->charge.project, &cell, err);
    if (code != ERR_OK) {
        return code;
    }
    const struct node *project = cell_record(cell);
    if (!cluster_serves(cluster, project->root_no)) {
        return error_set_field(err, ERR_INVALID_FIELD, "project",
                               "cluster %s does not serve the root of %s", cluster->name,
                               project->name);
    }
    *ret_project = project;
    return ERR_OK;
}

/* Path, figures, card and grants of a new hold. */
static enum error_code load_place(struct ledger *ledger,
                                  const struct command *command,
                                  const struct cluster *cluster,
                                  const struct who *who,
                                  struct error *err)
{
    struct view *view = &ledger->view;
    const struct node *project;
    enum error_code code = load_project(ledger, command, cluster, who->account, &project, err);
    if (command->kind == COMMAND_QUOTE) {
        const enum error_code seen =
            names_check_quote(ledger, command, code == ERR_OK ? project : NULL,
                              names_person(ledger, cluster, who->user), err);
        code = seen == ERR_OK ? code : seen;
    }
    if (code != ERR_OK) {
        return code;
    }
    wait_pass(ledger, project->root_no); /* those who wait come first; it uses the view */
    copy_cluster(&view->cluster, cluster);
    const struct node *root = row_get(ledger->set, RECORD_NODE, project->root_no);
    if (root == NULL) {
        return working_set_failure(ledger->set, err);
    }
    load_time(ledger, root);
    const char *person = names_person(ledger, &view->cluster, who->user);
    code = load_member(ledger, project, person, err);
    if (code == ERR_OK) {
        code = load_ancestors(ledger, project, err);
    }
    if (code == ERR_OK) {
        code = load_figures(ledger, err);
    }
    if (code != ERR_OK) {
        return code;
    }
    bool charge = command->kind == COMMAND_CHARGE;
    int64_t priced_at_s = charge ? command->charge.run.started_at_s : view->now_s;
    load_card(ledger, view->cluster.cluster_no,
              list_card_at(ledger, view->cluster.cluster_no, priced_at_s));
    load_valid_grants(ledger, payer_in_view(view));
    wait_load(ledger);
    return ERR_OK;
}

enum error_code load_new(struct ledger *ledger,
                         const struct command *command,
                         bool *ret_replayed,
                         struct error *err)
{
    struct view *view = &ledger->view;
    struct who who = who_of(command);
    struct cell *cluster;
    ledger->subject.new_model_count = 0;
    enum error_code code = names_cluster(ledger, command, &cluster, err);
    if (code != ERR_OK) {
        return code;
    }
    struct digest16 content = load_content(command);
    int64_t cluster_no = ((const struct cluster *)cell_record(cluster))->cluster_no;
    *ret_replayed = false;
    if (command->kind != COMMAND_QUOTE) {
        code = load_known(ledger, cluster_no, &who, &content, ret_replayed, err);
    }
    if (code != ERR_OK || *ret_replayed) {
        return code;
    }
    code = load_place(ledger, command, cell_record(cluster), &who, err);
    if (code == ERR_OK) {
        names_resources(ledger, who.resources, &view->resources);
        begin_hold(ledger, &content);
        code = working_set_failure(ledger->set, err);
    }
    return code;
}

/* ---- verbs */

static void load_path(struct ledger *ledger, const struct dims *dims)
{
    struct view *view = &ledger->view;
    view->new_member = false;
    view->node_count = 0;
    for (int32_t i = 0; i < dims->path_count; i++) {
        const struct node *node = row_get(ledger->set, RECORD_NODE, dims->path[i].node_no);
        if (node == NULL) {
            return;
        }
        copy_node(&view->nodes[view->node_count++].node, node);
    }
    struct error err = {0};
    if (load_figures(ledger, &err) != ERR_OK) {
        /* Too many caps with those of `*` added later: existing work goes on under its own. */
        for (int32_t i = 0; i < view->node_count; i++) {
            load_node_figures(ledger, i);
        }
        view->waiting_ahead = 0;
        view->funds_waiting = false;
    }
}

void load_hold(struct ledger *ledger, const struct hold *hold)
{
    struct view *view = &ledger->view;
    ledger->subject.new_model_count = 0;
    view->hold_found = true;
    copy_hold(&view->hold, hold);
    view->task_found = false;
    view->run_found = false;
    view->previous_found = false;
    view->node_count = 0;
    view->grant_count = 0;
    const struct node *root = row_get(ledger->set, RECORD_NODE, hold->root_no);
    const struct cluster *cluster = row_get(ledger->set, RECORD_CLUSTER, hold->cluster_no);
    const struct dims *dims = row_get(ledger->set, RECORD_DIMS, hold->dims_no);
    if (root == NULL || cluster == NULL || dims == NULL) {
        return;
    }
    load_time(ledger, root);
    copy_cluster(&view->cluster, cluster);
    load_path(ledger, dims);
    load_card(ledger, hold->cluster_no, hold->card_version);
    load_valid_grants(ledger, hold->payer_no);
    insert_draws(ledger, hold->draws, hold->draw_count);
}

/* A hold to which nothing has happened has no rows of tasks and runs: they need not be looked for. */
static bool is_untouched(const struct hold *hold)
{
    return hold->untouched == hold->tasks;
}

static bool load_run(struct ledger *ledger, int64_t task, int64_t attempt, struct run *run)
{
    const struct hold *hold = &ledger->view.hold;
    const int64_t key[] = {hold->hold_no, task, attempt};
    const struct cell *cell = is_untouched(hold)
                                  ? working_set_find_new(ledger->set, RECORD_RUN, key)
                                  : working_set_find(ledger->set, RECORD_RUN, key);
    if (!cell_exists(cell)) {
        return false;
    }
    copy_run(run, cell_record(cell));
    insert_draws(ledger, run->draws, run->draw_count);
    return true;
}

void load_task(struct ledger *ledger, int64_t task, int64_t attempt)
{
    struct view *view = &ledger->view;
    view->run_found = false;
    view->previous_found = false;
    view->task_found = false;
    view->task = (struct task){
        .hold_no = view->hold.hold_no,
        .task = task,
        .state = view->hold.untouched_state,
    };
    if (task < 0) {
        return;
    }
    const int64_t key[] = {view->hold.hold_no, task};
    const struct cell *cell = is_untouched(&view->hold)
                                  ? working_set_find_new(ledger->set, RECORD_TASK, key)
                                  : working_set_find(ledger->set, RECORD_TASK, key);
    view->task_found = cell_exists(cell);
    if (view->task_found) {
        view->task = *(const struct task *)cell_record(cell);
    }
    int64_t named = attempt < 0 ? view->task.attempt : attempt;
    view->run_found = load_run(ledger, task, named, &view->run);
    if (view->task_found && view->task.attempt != named) {
        view->previous_found = load_run(ledger, task, view->task.attempt, &view->previous);
    }
}

void load_command(struct ledger *ledger, const struct command *command)
{
    struct view *view = &ledger->view;
    const struct command_run *run = &command->run;
    bool about_run = command->kind >= COMMAND_START && command->kind <= COMMAND_HEARTBEAT;
    view->account_project_no = 0;
    if (!about_run) {
        return;
    }
    if (run->resources.given) {
        names_resources(ledger, &run->resources, &view->resources);
    }
    if (command->kind == COMMAND_RESIZE && run->account[0] != '\0') {
        const struct node *project;
        struct error ignored = {0};
        enum error_code code =
            names_account(ledger, &view->cluster, run->account, &project, &ignored);
        view->account_project_no = code == ERR_OK ? project->node_no : -1;
    }
}

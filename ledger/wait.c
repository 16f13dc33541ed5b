/* See wait.h. */
#include "ledger/wait.h"

#include <stdlib.h>
#include <string.h>

#include "ledger/apply.h"
#include "ledger/cap_effect.h"
#include "ledger/core/decide.h"
#include "ledger/core/rate.h"
#include "ledger/limit_table.h"
#include "ledger/load.h"

enum { FREED_NODES = 64 };

/* One row of the queue. */
struct waiting_item {
    int64_t wait_no;
    int64_t hold_no;
    int64_t task;
    bool gone;
    int32_t limit_count;
    struct limit_ref *limits; /* owned */
};

struct waiting_root {
    int64_t root_no;
    bool loaded;
    bool failed; /* out of memory while loading */
    bool woken;
    bool woken_all; /* room may be anywhere, else at freed[] */
    size_t freed_count;
    int64_t freed[FREED_NODES];
    struct waiting_item *items; /* by wait_no */
    size_t count;
    size_t capacity;
    size_t gone_count;
    struct limit_table limits; /* of all items */
};

static void fail_memory(struct ledger *ledger)
{
    working_set_fail_memory(ledger->set, "the queue");
}

/* ---- the queue in memory */

static void unload(struct waiting_root *root)
{
    for (size_t i = 0; i < root->count; i++) {
        free(root->items[i].limits);
    }
    root->count = 0;
    root->gone_count = 0;
    root->loaded = false;
    limit_table_clear(&root->limits);
}

void waiting_root_destroy(void *value)
{
    struct waiting_root *root = value;
    unload(root);
    limit_table_fini(&root->limits);
    free(root->items);
    free(root);
}

static bool count_limits(struct waiting_root *root, const struct waiting_item *item, int64_t more)
{
    for (int32_t i = 0; i < item->limit_count; i++) {
        if (!limit_table_add(&root->limits, &item->limits[i], more)) {
            return false;
        }
    }
    return true;
}

static bool set_limits(struct waiting_item *item, const struct waiting *row)
{
    size_t bytes = (size_t)row->limit_count * sizeof row->limits[0];
    struct limit_ref *limits = malloc(bytes > 0 ? bytes : 1);
    if (limits == NULL) {
        return false;
    }
    memcpy(limits, row->limits, bytes);
    free(item->limits);
    item->limits = limits;
    item->limit_count = row->limit_count;
    return true;
}

static bool append_item(struct waiting_root *root, const struct waiting *row)
{
    if (root->count == root->capacity) {
        size_t capacity = root->capacity == 0 ? 16 : root->capacity * 2;
        struct waiting_item *items = realloc(root->items, capacity * sizeof *items);
        if (items == NULL) {
            return false;
        }
        root->items = items;
        root->capacity = capacity;
    }
    struct waiting_item *item = &root->items[root->count];
    *item = (struct waiting_item){
        .wait_no = row->wait_no,
        .hold_no = row->hold_no,
        .task = row->task,
    };
    if (!set_limits(item, row)) {
        return false;
    }
    root->count++;
    return count_limits(root, item, 1);
}

static bool collect_item(void *context, const void *record)
{
    struct waiting_root *root = context;
    root->failed = !append_item(root, record);
    return !root->failed;
}

/* Drop the items that are gone, once they are the greater part. */
static void compact(struct waiting_root *root)
{
    if (root->gone_count * 2 <= root->count || root->count < 32) {
        return;
    }
    size_t kept = 0;
    for (size_t i = 0; i < root->count; i++) {
        if (root->items[i].gone) {
            free(root->items[i].limits);
        } else {
            root->items[kept++] = root->items[i];
        }
    }
    root->count = kept;
    root->gone_count = 0;
}

static struct waiting_item *item_of(struct waiting_root *root, int64_t wait_no)
{
    size_t low = 0;
    size_t high = root->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (root->items[middle].wait_no < wait_no) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    bool found = low < root->count && root->items[low].wait_no == wait_no && !root->items[low].gone;
    return found ? &root->items[low] : NULL;
}

static struct waiting_root *root_of(struct ledger *ledger, int64_t root_no)
{
    struct waiting_root *root = map_get(&ledger->waiting, root_no);
    if (root == NULL) {
        root = calloc(1, sizeof *root);
        if (root == NULL || !map_add(&ledger->waiting, root_no, root)) {
            free(root);
            fail_memory(ledger);
            return NULL;
        }
        root->root_no = root_no;
    }
    return root;
}

/* The queue of a root, read from the store where it is not in memory; NULL after a failure. */
static struct waiting_root *queue_of(struct ledger *ledger, int64_t root_no)
{
    struct waiting_root *root = root_of(ledger, root_no);
    if (root == NULL || root->loaded) {
        return root;
    }
    unload(root);
    root->failed = false;
    struct select_args args = {.n = {root_no}};
    working_set_select(ledger->set, SELECT_WAITING, &args, collect_item, root);
    if (root->failed) {
        fail_memory(ledger);
    }
    if (working_set_failure(ledger->set, NULL) != ERR_OK) {
        unload(root);
        return NULL;
    }
    root->loaded = true;
    return root;
}

void wait_forget(struct ledger *ledger)
{
    size_t position = 0;
    for (;;) {
        struct waiting_root *root = map_next(&ledger->waiting, &position);
        if (root == NULL) {
            return;
        }
        unload(root);
        root->woken = false; /* what woke it has been undone */
        root->woken_all = false;
        root->freed_count = 0;
    }
}

/* ---- what it holds back */

static int64_t root_waiting_tasks(const struct ledger *ledger)
{
    const struct cell *cell = ledger->subject.counters[ledger->view.node_count - 1];
    return cell_exists(cell) ? ((const struct counter *)cell_record(cell))->waiting_tasks : 0;
}

static int64_t count_at(const struct limit_table *table, int64_t node_no, const struct cap *cap)
{
    struct limit_ref limit = {.node_no = node_no, .kind = cap->kind, .model_no = cap->model_no};
    return limit_table_count(table, &limit);
}

void wait_load(struct ledger *ledger)
{
    struct view *view = &ledger->view;
    if (root_waiting_tasks(ledger) == 0) {
        return;
    }
    struct waiting_root *root = queue_of(ledger, ledger->subject.root_no);
    if (root == NULL) {
        return;
    }
    int64_t most = 0;
    for (int32_t i = 0; i < view->node_count; i++) {
        struct view_node *node = &view->nodes[i];
        for (int32_t j = 0; j < node->node.cap_count; j++) {
            int64_t count = count_at(&root->limits, node->node.node_no, &node->node.caps[j]);
            node->waiting_caps |= count > 0 ? UINT32_C(1) << j : 0;
            most = count > most ? count : most;
        }
    }
    const struct cap funds = {.kind = CAP_FUNDS};
    int64_t payer_no = view->grant_count > 0 ? view->grants[0].node_no : 0;
    int64_t count = payer_no == 0 ? 0 : count_at(&root->limits, payer_no, &funds);
    view->funds_waiting = count > 0;
    view->waiting_ahead = count > most ? count : most;
}

int64_t wait_ahead(struct ledger *ledger)
{
    const struct plan *plan = &ledger->plan;
    int64_t most = 0;
    if (root_waiting_tasks(ledger) == 0) {
        return 0;
    }
    struct waiting_root *root = queue_of(ledger, ledger->subject.root_no);
    for (int32_t i = 0; root != NULL && i < plan->violation_count; i++) {
        const struct violation *violation = &plan->violations[i];
        const struct cap cap = {.kind = violation->kind, .model_no = violation->model_no};
        int64_t count =
            violation->node_no == 0 ? 0 : count_at(&root->limits, violation->node_no, &cap);
        most = count > most ? count : most;
    }
    return most;
}

/* ---- joining, staying, leaving */

static void fill_limits(const struct plan *plan, struct waiting *row)
{
    row->limit_count = 0;
    for (int32_t i = 0; i < plan->violation_count; i++) {
        const struct violation *violation = &plan->violations[i];
        if (violation->soft || violation->node_no == 0 || row->limit_count == RECORD_WAIT_LIMITS) {
            continue;
        }
        row->limits[row->limit_count++] = (struct limit_ref){
            .node_no = violation->node_no,
            .kind = violation->kind,
            .model_no = violation->model_no,
        };
    }
}

static void join(struct ledger *ledger, struct waiting_root *root, int64_t task, int64_t *wait_no)
{
    const struct hold *hold = &ledger->view.hold;
    struct root_state *state = apply_root_state(ledger, hold->root_no);
    *wait_no = ++state->last_wait;
    struct cell *cell = row_find2(ledger->set, RECORD_WAITING, hold->root_no, *wait_no);
    struct waiting *row = working_set_make(ledger->set, cell);
    row->hold_no = hold->hold_no;
    row->task = task;
    row->dims_no = hold->dims_no;
    fill_limits(&ledger->plan, row);
    if (root->loaded && !append_item(root, row)) {
        fail_memory(ledger);
    }
}

static bool same_limits(const struct waiting *a, const struct waiting *b)
{
    return a->limit_count == b->limit_count &&
           memcmp(a->limits, b->limits, (size_t)a->limit_count * sizeof a->limits[0]) == 0;
}

static void stay(struct ledger *ledger, struct waiting_root *root, int64_t wait_no)
{
    struct cell *cell = row_find2(ledger->set, RECORD_WAITING, ledger->view.hold.root_no, wait_no);
    if (!cell_exists(cell)) {
        return;
    }
    struct waiting now = *(const struct waiting *)cell_record(cell);
    fill_limits(&ledger->plan, &now);
    if (same_limits(&now, cell_record(cell))) {
        return;
    }
    struct waiting *row = working_set_change(ledger->set, cell);
    *row = now;
    struct waiting_item *item = root->loaded ? item_of(root, wait_no) : NULL;
    if (item != NULL) {
        bool done = count_limits(root, item, -1) && set_limits(item, row);
        if (!done || !count_limits(root, item, 1)) {
            fail_memory(ledger);
        }
    }
}

static void leave(struct ledger *ledger, struct waiting_root *root, int64_t *wait_no)
{
    struct cell *cell = row_find2(ledger->set, RECORD_WAITING, ledger->view.hold.root_no, *wait_no);
    if (cell_exists(cell)) {
        working_set_remove(ledger->set, cell);
    }
    struct waiting_item *item = root->loaded ? item_of(root, *wait_no) : NULL;
    if (item != NULL) {
        item->gone = true;
        root->gone_count++;
        if (!count_limits(root, item, -1)) {
            fail_memory(ledger);
        }
    }
    *wait_no = 0;
}

static void change(struct ledger *ledger, enum wait_change what, int64_t task, int64_t *wait_no)
{
    struct waiting_root *root = root_of(ledger, ledger->view.hold.root_no);
    if (root == NULL) {
        return;
    }
    switch (what) {
    case WAIT_NONE:
        break;
    case WAIT_JOIN:
        if (*wait_no != 0) {
            leave(ledger, root, wait_no); /* a next attempt comes after those who wait now */
        }
        join(ledger, root, task, wait_no);
        break;
    case WAIT_STAY:
        stay(ledger, root, *wait_no);
        break;
    case WAIT_LEAVE:
        leave(ledger, root, wait_no);
        break;
    }
}

void wait_apply(struct ledger *ledger)
{
    struct plan *plan = &ledger->plan;
    struct view *view = &ledger->view;
    if (plan->hold_wait != WAIT_NONE) {
        change(ledger, plan->hold_wait, -1, &view->hold.wait_no);
        plan->hold_changed = true;
    }
    if (plan->task_wait != WAIT_NONE) {
        change(ledger, plan->task_wait, view->task.task, &view->task.wait_no);
        plan->task_changed = true;
    }
    /* Those behind one that has left, or asks for less, may fit now. */
    if (plan->hold_wait > WAIT_JOIN || plan->task_wait > WAIT_JOIN) {
        plan->room_freed = true;
    }
}

/* ---- promoting */

void wait_wake_root(struct ledger *ledger, int64_t root_no)
{
    struct waiting_root *root = root_of(ledger, root_no);
    if (root != NULL) {
        root->woken = true;
        root->woken_all = true;
    }
}

static void wake_node(struct waiting_root *root, int64_t node_no)
{
    for (size_t i = 0; i < root->freed_count; i++) {
        if (root->freed[i] == node_no) {
            return;
        }
    }
    if (root->freed_count == FREED_NODES) {
        root->woken_all = true;
        return;
    }
    root->freed[root->freed_count++] = node_no;
}

void wait_wake_node(struct ledger *ledger, int64_t root_no, int64_t node_no)
{
    struct waiting_root *root = root_of(ledger, root_no);
    if (root != NULL) {
        root->woken = true;
        wake_node(root, node_no);
    }
}

void wait_wake_path(struct ledger *ledger)
{
    if (root_waiting_tasks(ledger) == 0) {
        return;
    }
    struct waiting_root *root = root_of(ledger, ledger->subject.root_no);
    if (root == NULL) {
        return;
    }
    root->woken = true;
    for (int32_t i = 0; i < ledger->view.node_count; i++) {
        wake_node(root, ledger->view.nodes[i].node.node_no);
    }
}

/* Room that a pass found freed, and limits at which an earlier item goes on waiting. */
struct pass {
    bool all;
    size_t freed_count;
    int64_t freed[FREED_NODES];
    struct limit_table blocked;
};

static bool is_freed(const struct pass *pass, int64_t node_no)
{
    for (size_t i = 0; i < pass->freed_count; i++) {
        if (pass->freed[i] == node_no) {
            return true;
        }
    }
    return false;
}

/* One without limits asked for less while it waited, and nothing stood in its way then. */
static bool touches_freed(const struct pass *pass, const struct waiting_item *item)
{
    bool touches = pass->all || item->limit_count == 0;
    for (int32_t i = 0; i < item->limit_count && !touches; i++) {
        touches = is_freed(pass, item->limits[i].node_no);
    }
    return touches;
}

static bool is_blocked(const struct pass *pass, const struct waiting_item *item)
{
    for (int32_t i = 0; i < item->limit_count; i++) {
        if (limit_table_count(&pass->blocked, &item->limits[i]) > 0) {
            return true;
        }
    }
    return false;
}

/* Does the hold in the view ask anything of a limit of this kind? */
static bool asks(const struct hold *hold, const struct cap *cap)
{
    if (cap->kind == CAP_GPUS) {
        return resources_mgpus(&hold->resources, cap->model_no) > 0;
    }
    if (cap->kind == CAP_JOBS) {
        return true;
    }
    return cap->kind <= CAP_CORES && hold->rate_mcores > 0;
}

static bool goes_ahead_at(const struct hold *hold, const struct node *node, const struct pass *pass)
{
    for (int32_t i = 0; i < node->cap_count; i++) {
        const struct cap *cap = &node->caps[i];
        if (cap->soft == 0 && asks(hold, cap) && count_at(&pass->blocked, node->node_no, cap) > 0) {
            return true;
        }
    }
    return false;
}

/* Would it take room at a limit for which an earlier one waits? */
static bool goes_ahead(const struct ledger *ledger, const struct pass *pass)
{
    const struct view *view = &ledger->view;
    for (int32_t i = 0; i < view->node_count; i++) {
        if (goes_ahead_at(&view->hold, &view->nodes[i].node, pass)) {
            return true;
        }
    }
    const struct cap funds = {.kind = CAP_FUNDS};
    return view->hold.rate_mcores > 0 && count_at(&pass->blocked, view->hold.payer_no, &funds) > 0;
}

/* Decide on one item. True when it was promoted (or has left otherwise). */
static bool promote(struct ledger *ledger, const struct pass *pass, const struct waiting_item *item)
{
    struct error err = {0};
    int64_t wait_no = item->wait_no;
    const struct hold *hold = row_get(ledger->set, RECORD_HOLD, item->hold_no);
    if (hold == NULL) {
        return false;
    }
    load_hold(ledger, hold);
    load_task(ledger, item->task, -1);
    if (goes_ahead(ledger, pass)) {
        return false;
    }
    plan_reset(&ledger->plan);
    enum error_code code =
        decide_promote(&ledger->view, &ledger->subject.time->calendar, &ledger->plan, &err);
    if (code == ERR_OK) {
        code = apply_plan(ledger, NULL, &err);
        if (code == ERR_OK && ledger->started != NULL) {
            cap_effect_note_started(ledger);
        }
        return code == ERR_OK;
    }
    if (code == ERR_QUOTA_INSUFFICIENT && ledger->plan.violation_count > 0) {
        struct waiting_root *root = root_of(ledger, ledger->subject.root_no);
        if (root != NULL) {
            stay(ledger, root, wait_no);
        }
    }
    return false;
}

static bool block(struct pass *pass, const struct waiting_item *item)
{
    for (int32_t i = 0; i < item->limit_count; i++) {
        if (!limit_table_add(&pass->blocked, &item->limits[i], 1)) {
            return false;
        }
    }
    return true;
}

/* Items may leave and the array may not move: nothing joins during a pass. */
static void pass_over(struct ledger *ledger, struct waiting_root *root, struct pass *pass)
{
    for (size_t i = 0; i < root->count; i++) {
        struct waiting_item *item = &root->items[i];
        if (item->gone) {
            continue;
        }
        bool tried = touches_freed(pass, item) && !is_blocked(pass, item);
        if (tried && promote(ledger, pass, item)) {
            continue;
        }
        if (working_set_failure(ledger->set, NULL) != ERR_OK) {
            return;
        }
        if (!block(pass, item)) {
            fail_memory(ledger);
            return;
        }
    }
}

static void run_pass(struct ledger *ledger, struct waiting_root *root)
{
    struct pass pass = {.all = root->woken_all, .freed_count = root->freed_count};
    memcpy(pass.freed, root->freed, sizeof pass.freed);
    root->woken = false;
    root->woken_all = false;
    root->freed_count = 0;
    if (queue_of(ledger, root->root_no) == NULL) {
        return;
    }
    pass_over(ledger, root, &pass);
    limit_table_fini(&pass.blocked);
    compact(root);
    root->woken = false; /* what a promotion itself frees is nothing new */
    root->freed_count = 0;
}

void wait_pass(struct ledger *ledger, int64_t root_no)
{
    struct waiting_root *root = map_get(&ledger->waiting, root_no);
    if (root != NULL && root->woken) {
        run_pass(ledger, root);
    }
}

void wait_pass_all(struct ledger *ledger)
{
    size_t position = 0;
    for (;;) {
        struct waiting_root *root = map_next(&ledger->waiting, &position);
        if (root == NULL) {
            return;
        }
        if (root->woken) {
            run_pass(ledger, root);
        }
    }
}

/* ---- nodes that close */

static bool is_below(struct ledger *ledger, const struct waiting_item *item, int64_t node_no)
{
    const struct hold *hold = row_get(ledger->set, RECORD_HOLD, item->hold_no);
    const struct dims *dims =
        hold == NULL ? NULL : row_get(ledger->set, RECORD_DIMS, hold->dims_no);
    for (int32_t i = 0; dims != NULL && i < dims->path_count; i++) {
        if (dims->path[i].node_no == node_no) {
            return true;
        }
    }
    return false;
}

size_t wait_below(struct ledger *ledger,
                  int64_t root_no,
                  int64_t node_no,
                  int64_t after,
                  struct wait_place *places,
                  size_t most)
{
    struct waiting_root *root = queue_of(ledger, root_no);
    size_t count = 0;
    for (size_t i = 0; root != NULL && i < root->count && count < most; i++) {
        const struct waiting_item *item = &root->items[i];
        if (item->gone || item->wait_no <= after || !is_below(ledger, item, node_no)) {
            continue;
        }
        places[count++] = (struct wait_place){item->wait_no, item->hold_no, item->task};
    }
    return count;
}

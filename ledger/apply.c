/* See apply.h. */
#include "ledger/apply.h"

#include <stddef.h>
#include <string.h>

#include "ledger/alerts.h"
#include "ledger/audit_describe.h"
#include "ledger/copy.h"
#include "ledger/counters.h"
#include "ledger/dims.h"
#include "ledger/flows.h"
#include "ledger/load.h"
#include "ledger/names.h"
#include "ledger/wait.h"

struct root_state *apply_root_state(struct ledger *ledger, int64_t root_no)
{
    return working_set_put(ledger->set, row_find(ledger->set, RECORD_ROOT_STATE, root_no));
}

/* ---- who */

/* Someone first seen becomes a member where the project is open, else a guest (SPEC 2.3, 5.9). */
static void store_member(struct ledger *ledger)
{
    const struct node *node = &ledger->view.nodes[0].node;
    bool listed = ledger->view.nodes[1].node.membership == MEMBERSHIP_LISTED;
    struct cell *cell = row_find(ledger->set, RECORD_NODE, node->node_no);
    if (!cell_exists(cell)) {
        (void)row_take_no(ledger->set, "node");
        row_add_name(ledger->set, NAMES_MEMBER, node->parent_no, node->name, node->node_no);
        struct node *made = working_set_make(ledger->set, cell);
        memcpy(made, node, offsetof(struct node, caps)); /* the caps there are those of `*` */
        made->cap_count = 0;
    }
    struct node *stored = working_set_change(ledger->set, cell);
    stored->flags = listed ? stored->flags | NODE_GUEST : stored->flags & ~(int64_t)NODE_GUEST;
}

/* ---- the hold and its parts */

static void index_job(struct ledger *ledger, bool by_key, const char *key)
{
    if (key[0] != '\0') {
        struct cell *cell = row_find_job(ledger->set, ledger->view.hold.cluster_no, by_key, key);
        struct job *job = working_set_put(ledger->set, cell);
        job->hold_no = ledger->view.hold.hold_no;
    }
}

static void store_hold(struct ledger *ledger)
{
    const struct hold *hold = &ledger->view.hold;
    const bool is_new = !ledger->view.hold_found;
    struct cell *cell = is_new ? working_set_find_new(ledger->set, RECORD_HOLD, &hold->hold_no)
                               : row_find(ledger->set, RECORD_HOLD, hold->hold_no);
    if (is_new) {
        (void)row_take_no(ledger->set, "hold");
        /* The list of the unattributed may have it already. */
        struct hold_id *id =
            working_set_put(ledger->set, row_find_hold_id(ledger->set, hold->cluster_no, hold->id));
        id->hold_no = hold->hold_no;
    }
    copy_hold(working_set_write(ledger->set, cell), hold);
    if (ledger->plan.bound) {
        index_job(ledger, false, hold->job_id);
        index_job(ledger, true, hold->job_key);
    }
}

static void store_run(struct ledger *ledger, const struct run *run)
{
    struct cell *cell = row_find3(ledger->set, RECORD_RUN, run->hold_no, run->task, run->attempt);
    copy_run(working_set_write(ledger->set, cell), run);
}

static void store_parts(struct ledger *ledger)
{
    const struct view *view = &ledger->view;
    const struct plan *plan = &ledger->plan;
    if (plan->hold_changed || !view->hold_found) {
        store_hold(ledger);
    }
    if (plan->task_changed) {
        struct cell *cell =
            row_find2(ledger->set, RECORD_TASK, view->task.hold_no, view->task.task);
        *(struct task *)working_set_write(ledger->set, cell) = view->task;
    }
    if (plan->run_changed) {
        store_run(ledger, &view->run);
    }
    if (plan->previous_changed) {
        store_run(ledger, &view->previous);
    }
    if (plan->replaced_changed) {
        store_run(ledger, &view->replaced);
    }
}

static void store_grants(struct ledger *ledger)
{
    const struct view *view = &ledger->view;
    for (int32_t i = 0; i < view->grant_count; i++) {
        if ((ledger->plan.grants_changed[i / 64] >> (i % 64) & 1) == 0) {
            continue;
        }
        struct cell *cell = row_find(ledger->set, RECORD_GRANT, view->grants[i].grant_no);
        *(struct grant *)working_set_write(ledger->set, cell) = view->grants[i];
    }
}

/* ---- journal, feed */

static void store_entries(struct ledger *ledger)
{
    const struct plan *plan = &ledger->plan;
    if (plan->entry_count == 0) {
        return;
    }
    struct root_state *state = apply_root_state(ledger, ledger->subject.root_no);
    for (int32_t i = 0; i < plan->entry_count; i++) {
        struct entry *entry = working_set_append(ledger->set, RECORD_ENTRY);
        *entry = plan->entries[i];
        entry->root_no = state->root_no;
        entry->seq = ++state->last_seq;
        entry->at_ms = ledger->view.now_ms;
        if (entry->kind != ENTRY_FREEZE) {
            flows_add(ledger, entry);
        }
    }
}

void apply_feed(struct ledger *ledger, const struct feed_event *event)
{
    struct cluster *cluster =
        working_set_change(ledger->set, row_find(ledger->set, RECORD_CLUSTER, event->cluster_no));
    struct feed_event *row = working_set_append(ledger->set, RECORD_FEED_EVENT);
    *row = *event;
    row->seq = ++cluster->feed_seq;
    for (size_t i = 0; i < ledger->feed_count; i++) {
        if (ledger->feed_clusters[i] == event->cluster_no) {
            return;
        }
    }
    /* A long poll that is not woken finds the event when its wait is over. */
    if (ledger->feed_count < ARRAY_LEN(ledger->feed_clusters)) {
        ledger->feed_clusters[ledger->feed_count++] = event->cluster_no;
    }
}

static void store_adjustment(struct ledger *ledger, const struct command *command)
{
    const struct adjustment *made = &ledger->plan.adjustment;
    int64_t no = row_take_no(ledger->set, "adjustment");
    struct adjustment *row =
        working_set_make(ledger->set, row_find(ledger->set, RECORD_ADJUSTMENT, no));
    *row = *made;
    row->adjustment_no = no;
    if (made->is_refund != 0) {
        row->content = load_refund_content(command, made->hold_no);
        row_add_name(ledger->set, NAMES_REFUND, made->root_no, made->id, no);
    }
    audit_adjustment(ledger);
}

/* ---- what else the command brought */

static void store_host(struct ledger *ledger,
                       const struct run *run,
                       const char *name,
                       size_t length)
{
    struct run_host key = {.hold_no = run->hold_no, .task = run->task, .attempt = run->attempt};
    size_t bytes = length < sizeof key.host ? length : sizeof key.host - 1;
    memcpy(key.host, name, bytes);
    key.host[bytes] = '\0';
    struct cell *cell = working_set_find(ledger->set, RECORD_RUN_HOST, &key);
    if (!cell_exists(cell)) {
        (void)working_set_make(ledger->set, cell);
    }
}

static void store_hosts(struct ledger *ledger, const struct run *run, const char *hosts)
{
    while (*hosts != '\0') {
        size_t length = strcspn(hosts, ",");
        if (length > 0) {
            store_host(ledger, run, hosts, length);
        }
        hosts += length + (hosts[length] == ',' ? 1 : 0);
    }
}

static const char *hosts_of(const struct command *command)
{
    switch ((int)command->kind) {
    case COMMAND_START:
    case COMMAND_SETTLE:
    case COMMAND_REQUEUE:
        return command->run.hosts;
    case COMMAND_CHARGE:
        return command->charge.run.hosts;
    default:
        return "";
    }
}

/* Marks that make settings and rates permanent once there is usage (SPEC 2.4, 7.1). */
static void mark_used(struct ledger *ledger)
{
    struct view *view = &ledger->view;
    if ((view->nodes[view->node_count - 1].node.flags & NODE_HAS_USAGE) == 0) {
        struct node *root = working_set_change(
            ledger->set, row_find(ledger->set, RECORD_NODE, ledger->subject.root_no));
        root->flags |= NODE_HAS_USAGE;
    }
    int64_t until_s = 0;
    if (ledger->plan.run_changed) {
        until_s = view->run.booked_until_s;
    }
    if (ledger->plan.previous_changed && view->previous.booked_until_s > until_s) {
        until_s = view->previous.booked_until_s;
    }
    if (until_s > view->cluster.used_until_s) {
        struct cluster *cluster = working_set_change(
            ledger->set, row_find(ledger->set, RECORD_CLUSTER, view->hold.cluster_no));
        cluster->used_until_s = until_s;
    }
}

static void mark_card(struct ledger *ledger)
{
    const struct hold *hold = &ledger->view.hold;
    if (ledger->view.card_found && ledger->view.card.version.used == 0) {
        struct rate_version *version =
            working_set_change(ledger->set, row_find2(ledger->set, RECORD_RATE_VERSION,
                                                      hold->cluster_no, hold->card_version));
        version->used = 1;
    }
}

enum error_code apply_plan(struct ledger *ledger, const struct command *command, struct error *err)
{
    struct view *view = &ledger->view;
    const struct plan *plan = &ledger->plan;
    enum error_code code = counters_fit(ledger, err);
    if (code != ERR_OK) {
        return code;
    }
    if (view->new_member) {
        store_member(ledger);
    }
    names_store_models(ledger);
    if (plan->dims_changed) {
        view->hold.dims_no = dims_intern(ledger, plan->partition);
    }
    if (!view->hold_found) {
        mark_card(ledger);
    }
    wait_apply(ledger);
    store_parts(ledger);
    store_grants(ledger);
    store_entries(ledger);
    counters_add(ledger);
    alerts_after_plan(ledger);
    if (plan->usage_count > 0) {
        mark_used(ledger);
    }
    for (int32_t i = 0; i < plan->feed_count; i++) {
        apply_feed(ledger, &plan->feed[i]);
    }
    if (plan->adjustment_made) {
        store_adjustment(ledger, command);
    }
    if (command != NULL && !plan->replayed && plan->run_changed) {
        /* After a requeue, view.run is the next attempt, which has no hosts yet. */
        bool next = command->kind == COMMAND_REQUEUE && view->run.attempt != command->attempt;
        store_hosts(ledger, next ? &view->previous : &view->run, hosts_of(command));
    }
    if (plan->room_freed) {
        wait_wake_path(ledger);
    }
    return ERR_OK;
}

void apply_money(struct ledger *ledger)
{
    store_grants(ledger);
    store_entries(ledger);
    alerts_look_at_money(ledger);
}

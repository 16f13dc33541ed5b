/* See cap_effect.h. */
#include "ledger/cap_effect.h"

#include <string.h>

#include "ledger/load.h"
#include "ledger/wait.h"
#include "ledger/zones.h"

static int64_t model_mgpus(const struct counter *counter, int64_t model_no)
{
    if (model_no == 0) {
        return counter->mgpus;
    }
    for (int32_t i = 0; i < counter->model_count; i++) {
        if (counter->models[i].model_no == model_no) {
            return counter->models[i].mgpus;
        }
    }
    return 0;
}

static int64_t in_flight(const struct counter *counter, const struct cap *cap)
{
    switch (cap->kind) {
    case CAP_GPUS:
        return model_mgpus(counter, cap->model_no);
    case CAP_CORES:
        return counter->mcores;
    case CAP_JOBS:
        return counter->jobs;
    default:
        return 0; /* caps of one job have nothing in flight */
    }
}

/* A root's state, its time and windows at the ledger's now. */
static const struct root_time *time_of(struct ledger *ledger, int64_t root_no)
{
    const struct node *root = row_get(ledger->set, RECORD_NODE, root_no);
    if (root == NULL) {
        return &ledger->utc;
    }
    const struct cell *cell = row_find(ledger->set, RECORD_ROOT_STATE, root_no);
    int64_t last_ms =
        cell_exists(cell) ? ((const struct root_state *)cell_record(cell))->last_ms : 0;
    int64_t now_ms = ledger->clock_ms > last_ms ? ledger->clock_ms : last_ms;
    return zones_at(ledger, root, now_ms / 1000);
}

void cap_effect_measure(struct ledger *ledger,
                        const struct node *node,
                        const struct cap *cap,
                        struct ledger_cap_effect *effect)
{
    if (strcmp(node->name, "*") == 0) {
        return;
    }
    const struct cell *cell = row_find(ledger->set, RECORD_COUNTER, node->node_no);
    const struct counter none = {.node_no = node->node_no};
    const struct counter *counter = cell_exists(cell) ? cell_record(cell) : &none;
    effect->measured = true;
    if (cap->kind <= CAP_TOTAL) {
        const struct root_time *time = time_of(ledger, node->root_no);
        int64_t end_s = time->window_end_s[cap->kind];
        effect->frozen = counter->frozen_mcs;
        effect->resets_at_s = end_s == INT64_MAX ? 0 : end_s;
        effect->used = load_window_used(ledger, time, counter, cap->kind);
    } else {
        effect->frozen = in_flight(counter, cap);
    }
    effect->available = cap->limit - effect->used - effect->frozen;
    effect->over_cap = cap->limit != RECORD_UNLIMITED && effect->available < 0;
}

void cap_effect_start(struct ledger *ledger,
                      const struct node *node,
                      struct ledger_cap_effect *effect)
{
    int64_t root_no = node->root_no;
    if (strcmp(node->name, "*") == 0) {
        wait_wake_root(ledger, root_no);
    } else {
        wait_wake_node(ledger, root_no, node->node_no);
    }
    ledger->started = effect;
    wait_pass(ledger, root_no);
    ledger->started = NULL;
}

void cap_effect_note_started(struct ledger *ledger)
{
    struct ledger_cap_effect *effect = ledger->started;
    const struct hold *hold = &ledger->view.hold;
    int64_t tasks = -ledger->plan.delta.waiting_tasks;
    int64_t frozen_mcs = ledger->plan.delta.frozen_mcs;
    effect->started_count++;
    effect->started_tasks += tasks;
    effect->started_mcs += frozen_mcs;
    if (effect->shown == LEDGER_STARTED) {
        return;
    }
    struct ledger_started *shown = &effect->started[effect->shown++];
    row_text(shown->hold, sizeof shown->hold, hold->id);
    row_text(shown->user, sizeof shown->user, ledger->view.nodes[0].node.name);
    row_text(shown->project, sizeof shown->project, ledger->view.nodes[1].node.name);
    shown->tasks = tasks;
    shown->frozen_mcs = frozen_mcs;
}

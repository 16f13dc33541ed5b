/* See result.h. */
#include "ledger/result.h"

#include <stdlib.h>
#include <string.h>

#include "ledger/copy.h"
#include "ledger/core/hold_state.h"
#include "ledger/core/new_hold.h"
#include "ledger/core/rate.h"
#include "ledger/lists.h"
#include "ledger/load.h"
#include "ledger/wait.h"

static const struct node *node_in_view(const struct view *view, int64_t node_no)
{
    for (int32_t i = 0; i < view->node_count; i++) {
        if (view->nodes[i].node.node_no == node_no) {
            return &view->nodes[i].node;
        }
    }
    return NULL;
}

static const char *node_name(struct ledger *ledger, int64_t node_no)
{
    const struct node *node = node_in_view(&ledger->view, node_no);
    if (node == NULL) {
        node = row_get(ledger->set, RECORD_NODE, node_no);
    }
    return node == NULL ? "" : node->name;
}

/* The name of a model, also of one that is new with this command. */
static const char *model_name(struct ledger *ledger, int64_t model_no)
{
    const struct subject *subject = &ledger->subject;
    if (subject->new_model_count > 0) {
        int64_t first = row_next_no(ledger->set, "model");
        if (model_no >= first && model_no < first + subject->new_model_count) {
            return subject->new_models[model_no - first];
        }
    }
    return list_model_name(ledger, model_no);
}

static void show_hold(struct ledger *ledger, struct ledger_hold *to)
{
    const struct view *view = &ledger->view;
    copy_hold(&to->hold, &view->hold);
    to->state = hold_state(&view->hold);
    row_text(to->cluster, sizeof to->cluster, view->cluster.name);
    row_text(to->project, sizeof to->project, node_name(ledger, view->hold.project_no));
    row_text(to->user, sizeof to->user, node_name(ledger, view->hold.member_no));
    row_text(to->payer, sizeof to->payer, node_name(ledger, view->hold.payer_no));
    for (int32_t i = 0; i < view->hold.resources.gpu_count; i++) {
        row_text(to->models[i], sizeof to->models[i],
                 model_name(ledger, view->hold.resources.gpus[i].model_no));
    }
}

static void copy_soft(const struct plan *plan, struct ledger_result *result)
{
    result->soft_count = 0;
    for (int32_t i = 0; i < plan->violation_count; i++) {
        const struct violation *violation = &plan->violations[i];
        if (violation->soft && result->soft_count < (int32_t)ARRAY_LEN(result->soft)) {
            result->soft[result->soft_count++] = *violation;
        }
    }
}

void result_of_hold(struct ledger *ledger, struct ledger_result *result)
{
    const struct plan *plan = &ledger->plan;
    show_hold(ledger, &result->hold);
    result->replayed = plan->replayed;
    result->no_effect = plan->no_effect;
    result->waiting = plan->waits;
    result->charged_mcs = plan->run_charged_mcs;
    result->refunded_mcs = plan->run_refunded_mcs;
    result->overrun_mcs = plan->run_overrun_mcs;
    result->waived_mcs = plan->run_waived_mcs;
    result->expired_mcs = plan->run_expired_mcs;
    result->requested_mcs = plan->requested_mcs;
    result->warnings = plan->warnings;
    copy_soft(plan, result);
}

void result_refresh_hold(struct ledger *ledger, struct ledger_result *result)
{
    const struct hold *hold = row_get(ledger->set, RECORD_HOLD, result->hold.hold.hold_no);
    if (hold != NULL) {
        load_hold(ledger, hold);
        show_hold(ledger, &result->hold);
        result->waiting = result->waiting && hold->counts[TASK_WAITING] > 0;
    }
}

void result_of_price(struct ledger *ledger, struct ledger_result *result)
{
    const struct rate_version *card = &ledger->view.card.version;
    result->card_version = ledger->view.card_found ? card->version : 0;
    result->cost_known = result->card_version != 0 && card->price_micro >= 0;
    if (result->cost_known) {
        result->cost_micro = rate_cost_micro(ledger->plan.requested_mcs, card->price_micro);
        row_text(result->currency, sizeof result->currency, card->currency);
    }
}

static int64_t asked_tasks(const struct command *command)
{
    bool freeze = command->kind == COMMAND_FREEZE || command->kind == COMMAND_QUOTE;
    return freeze && command->freeze.tasks > 0 ? command->freeze.tasks : 1;
}

static void copy_asked(const struct command *command, struct ledger_refusal *refusal)
{
    bool freeze = command->kind == COMMAND_FREEZE || command->kind == COMMAND_QUOTE;
    bool run = command->kind >= COMMAND_START && command->kind <= COMMAND_HEARTBEAT;
    refusal->requested_tasks = asked_tasks(command);
    refusal->resources.given = false;
    if (freeze) {
        refusal->resources = command->freeze.resources;
    } else if (run) {
        refusal->resources = command->run.resources;
    }
}

/* Of the first failing node that leads to a contact. */
static void copy_contact(const struct ledger *ledger, struct ledger_refusal *refusal)
{
    refusal->contact[0] = '\0';
    for (int32_t i = 0; i < refusal->count && refusal->contact[0] == '\0'; i++) {
        row_text(refusal->contact, sizeof refusal->contact,
                 view_contact(&ledger->view, refusal->limits[i].violation.node_no));
    }
}

static void copy_limits(struct ledger *ledger, struct ledger_refusal *refusal)
{
    const struct plan *plan = &ledger->plan;
    for (int32_t i = 0; i < plan->violation_count; i++) {
        if (plan->violations[i].soft) {
            continue;
        }
        struct ledger_limit *limit = &refusal->limits[refusal->count++];
        limit->violation = plan->violations[i];
        limit->holders_known = false;
        limit->holder_count = 0;
        row_text(limit->model, sizeof limit->model,
                 model_name(ledger, plan->violations[i].model_no));
    }
}

void result_of_refusal(struct ledger *ledger,
                       const struct command *command,
                       struct ledger_result *result)
{
    const struct plan *plan = &ledger->plan;
    size_t bytes =
        sizeof(struct ledger_refusal) + (size_t)plan->violation_count * sizeof(struct ledger_limit);
    struct ledger_refusal *refusal = calloc(1, bytes);
    if (refusal == NULL) {
        return;
    }
    refusal->requested_mcs = plan->requested_mcs;
    refusal->requested_mcores = plan->requested_mcores;
    refusal->requested_s = plan->requested_s;
    refusal->project_no = ledger->view.hold.project_no;
    refusal->waiting_ahead = command->kind < COMMAND_GRANT ? wait_ahead(ledger) : 0;
    copy_asked(command, refusal);
    copy_limits(ledger, refusal);
    copy_contact(ledger, refusal);
    free(result->refusal);
    result->refusal = refusal;
}

void result_of_node(struct ledger *ledger, const struct node *node, struct ledger_result *result)
{
    result->node.node = *node;
    result->node.parent[0] = '\0';
    result->version = node->version;
    if (node->parent_no != 0) {
        const struct node *parent = row_get(ledger->set, RECORD_NODE, node->parent_no);
        if (parent != NULL) {
            row_text(result->node.parent, sizeof result->node.parent, parent->name);
        }
    }
}

void result_of_cluster(struct ledger *ledger,
                       const struct cluster *cluster,
                       struct ledger_result *result)
{
    result->cluster.cluster = *cluster;
    result->version = cluster->version;
    for (int32_t i = 0; i < cluster->root_count; i++) {
        const struct node *root = row_get(ledger->set, RECORD_NODE, cluster->roots[i].root_no);
        row_text(result->cluster.roots[i], sizeof result->cluster.roots[i],
                 root == NULL ? "" : root->name);
    }
}

void ledger_result_fini(struct ledger_result *result)
{
    if (result != NULL) {
        free(result->refusal);
        result->refusal = NULL;
    }
}

/*
 * What freeze and charge have in common. Pure.
 */
#include "ledger/core/new_hold.h"

#include <string.h>

#include "ledger/core/rate.h"

static const char *const NODE_KINDS[] = {
    [NODE_ORGANIZATION] = "organization",
    [NODE_PROJECT] = "project",
    [NODE_MEMBER] = "member",
};

enum error_code new_hold_check_resources(const struct resources *resources,
                                         const char *field,
                                         struct error *err)
{
    if (resources->cores <= 0 && resources->memory_mib <= 0 && resources->gpu_count == 0) {
        return error_set_field(
            err, ERR_INVALID_FIELD, field,
            "nothing is asked for: at least one of cores, memory_mib and gpus is "
            "above 0");
    }
    return ERR_OK;
}

/* Every freeze comes by here: no printf. */
static void copy_text(char *to, size_t bytes, const char *from)
{
    size_t length = strnlen(from, bytes - 1);
    memcpy(to, from, length);
    to[length] = '\0';
}

void new_hold_name(struct view *view, const char *id, const struct command_job *job)
{
    struct hold *hold = &view->hold;
    copy_text(hold->id, sizeof hold->id, id);
    if (job->given) {
        copy_text(hold->job_name, sizeof hold->job_name, job->name);
        copy_text(hold->partition, sizeof hold->partition, job->partition);
        copy_text(hold->qos, sizeof hold->qos, job->qos);
    }
}

const struct node *view_closed_node(const struct view *view)
{
    for (int32_t i = 0; i < view->node_count; i++) {
        if (view->nodes[i].node.state == NODE_CLOSED) {
            return &view->nodes[i].node;
        }
    }
    return NULL;
}

const char *view_contact(const struct view *view, int64_t node_no)
{
    bool reached = false;
    for (int32_t i = 0; i < view->node_count; i++) {
        const struct node *node = &view->nodes[i].node;
        reached = reached || node->node_no == node_no;
        if (reached && node->contact[0] != '\0') {
            return node->contact;
        }
    }
    return "";
}

enum error_code new_hold_check_open(const struct view *view, struct error *err)
{
    if (view->cluster.state == NODE_CLOSED) {
        return error_set(err, ERR_NODE_CLOSED,
                         "cluster %s is closed to new freezes: submit to another one",
                         view->cluster.name);
    }
    const struct node *node = view_closed_node(view);
    if (node == NULL) {
        return ERR_OK;
    }
    const char *contact = view_contact(view, node->node_no);
    return error_set(
        err, ERR_NODE_CLOSED, "%s %s is closed to new freezes: use another account%s%s",
        NODE_KINDS[node->kind], node->name, contact[0] != '\0' ? ", or ask: " : "", contact);
}

bool new_hold_is_guest(const struct view *view)
{
    return view->nodes[1].node.membership == MEMBERSHIP_LISTED &&
           (view->new_member || (view->nodes[0].node.flags & NODE_GUEST) != 0);
}

enum error_code new_hold_price(struct view *view, struct plan *plan, struct error *err)
{
    struct hold *hold = &view->hold;
    if (!view->card_found) {
        return error_set(
            err, ERR_NO_RATE,
            "cluster %s has no rate card in force at that time: put one with an earlier "
            "effective_from",
            view->cluster.name);
    }
    struct rate_price price;
    enum error_code code =
        rate_price(&view->card, hold->partition, hold->qos, &hold->resources, &price, err);
    if (code != ERR_OK) {
        return code;
    }
    hold->card_version = view->card.version.version;
    hold->rate_mcores = price.rate_mcores;
    hold->mgpus = price.mgpus;
    copy_text(plan->partition, sizeof plan->partition, price.partition);
    plan->dims_changed = true;
    return ERR_OK;
}

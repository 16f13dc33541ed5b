/* Caps of nodes (SPEC 4.1, 4.5, 2.3). */
#include <string.h>

#include "ledger/admin.h"
#include "ledger/admin_tree.h"
#include "ledger/alerts.h"
#include "ledger/audit_describe.h"
#include "ledger/cap_effect.h"
#include "ledger/names.h"
#include "ledger/result.h"

/* The number of a model, given to it now where it has none. */
static int64_t intern_model(struct ledger *ledger, const char *name)
{
    if (name[0] == '\0') {
        return 0;
    }
    int64_t no = row_name_target(ledger->set, NAMES_MODEL, 0, name);
    if (no == 0) {
        no = row_take_no(ledger->set, "model");
        row_add_name(ledger->set, NAMES_MODEL, 0, name, no);
    }
    return no;
}

/* A member of a project, made where a put may make it: in an open project, and `*` in any. */
static enum error_code find_member(struct ledger *ledger,
                                   const struct command *command,
                                   const struct node *project,
                                   struct cell **ret_cell,
                                   struct error *err)
{
    const char *person = command->cap.node;
    struct cell *cell = names_member(ledger, project->node_no, person);
    if (cell == NULL && command->kind == COMMAND_PUT_CAP) {
        bool may = project->membership == MEMBERSHIP_OPEN || strcmp(person, "*") == 0;
        const struct node *made = may ? tree_add_member(ledger, project, person) : NULL;
        cell = made == NULL ? NULL : row_find(ledger->set, RECORD_NODE, made->node_no);
    }
    if (cell == NULL) {
        return error_set(err, ERR_NOT_FOUND, "no member %s in project %s", person, project->name);
    }
    *ret_cell = cell;
    return ERR_OK;
}

static enum error_code find_node(struct ledger *ledger,
                                 const struct command *command,
                                 struct cell **ret_cell,
                                 struct error *err)
{
    const struct command_cap *given = &command->cap;
    bool member = given->kind == NODE_MEMBER;
    struct cell *cell;
    enum node_kind kind = member ? NODE_PROJECT : given->kind;
    enum error_code code = names_seen_node(ledger, command, given->any_kind ? NODE_MEMBER : kind,
                                           member ? given->project : given->node, &cell, err);
    if (code == ERR_OK && !member && !names_is_below_place(command, cell_record(cell))) {
        code = error_set(err, ERR_NOT_ALLOWED, "%s is your own place: a lead sets caps below it",
                         given->node);
    }
    if (code == ERR_OK && member) {
        code = find_member(ledger, command, cell_record(cell), &cell, err);
    }
    if (code == ERR_OK) {
        *ret_cell = cell;
    }
    return code;
}

/* Where a cap stands or would stand among those of a node. */
static int32_t cap_place(const struct node *node, const struct cap *cap, bool *ret_found)
{
    int32_t i = 0;
    while (i < node->cap_count &&
           (node->caps[i].kind < cap->kind ||
            (node->caps[i].kind == cap->kind && node->caps[i].model_no < cap->model_no))) {
        i++;
    }
    *ret_found = i < node->cap_count && node->caps[i].kind == cap->kind &&
                 node->caps[i].model_no == cap->model_no;
    return i;
}

static void insert_cap(struct node *node, int32_t at, const struct cap *cap)
{
    memmove(&node->caps[at + 1], &node->caps[at],
            (size_t)(node->cap_count - at) * sizeof node->caps[0]);
    node->caps[at] = *cap;
    node->cap_count++;
}

/* It holds from the next decision on; those who waited for it are seen to at once. */
static void finish(struct ledger *ledger, struct node *node, struct ledger_result *result)
{
    node->version++;
    working_set_touch(ledger->set);
    result->version = node->version;
    cap_effect_start(ledger, node, &result->cap);
}

enum error_code admin_put_cap(struct ledger *ledger,
                              const struct command *command,
                              struct ledger_result *ret_result,
                              struct error *err)
{
    struct cell *cell;
    struct cap cap = command->cap.cap;
    if (cap.kind < 0 || cap.kind >= CAP_FUNDS || cap.limit < RECORD_UNLIMITED) {
        return error_set_field(err, ERR_INVALID_FIELD, "limit", "no such cap, or below 0");
    }
    enum error_code code = find_node(ledger, command, &cell, err);
    if (code != ERR_OK) {
        return code;
    }
    cap.model_no = intern_model(ledger, command->cap.model);
    const struct node *node = cell_record(cell);
    bool found;
    int32_t at = cap_place(node, &cap, &found);
    if (found && node->caps[at].limit == cap.limit && node->caps[at].soft == cap.soft) {
        ret_result->no_effect = true;
        ret_result->version = node->version;
        cap_effect_measure(ledger, node, &cap, &ret_result->cap);
        return ERR_OK;
    }
    if (found) {
        code = admin_match(command, node->version, err);
    } else if (command->if_match == MATCH_VERSION) {
        code = error_set(err, ERR_PRECONDITION_FAILED, "%s has no such cap", node->name);
    } else if (node->cap_count == LIMIT_CAPS_PER_NODE) {
        code = error_set(err, ERR_TOO_MANY_CAPS, "%s has %d caps already", node->name,
                         LIMIT_CAPS_PER_NODE);
    }
    if (code != ERR_OK) {
        return code;
    }
    struct node *row = working_set_change(ledger->set, cell);
    const struct cap before = row->caps[found ? at : 0];
    if (found) {
        row->caps[at] = cap;
    } else {
        insert_cap(row, at, &cap);
    }
    ret_result->created = !found;
    audit_cap(ledger, row, command->cap.model, found ? &before : NULL, &cap);
    finish(ledger, row, ret_result);
    cap_effect_measure(ledger, row, &cap, &ret_result->cap);
    alerts_cap_set(ledger, row, &cap, &ret_result->cap);
    return ERR_OK;
}

enum error_code admin_delete_cap(struct ledger *ledger,
                                 const struct command *command,
                                 struct ledger_result *ret_result,
                                 struct error *err)
{
    struct cell *cell;
    enum error_code code = find_node(ledger, command, &cell, err);
    if (code != ERR_OK) {
        return code;
    }
    const struct node *node = cell_record(cell);
    const char *model = command->cap.model;
    struct cap cap = command->cap.cap;
    cap.model_no = model[0] == '\0' ? 0 : row_name_target(ledger->set, NAMES_MODEL, 0, model);
    bool found;
    int32_t at = cap_place(node, &cap, &found);
    if (!found || (model[0] != '\0' && cap.model_no == 0)) {
        return error_set(err, ERR_NOT_FOUND, "%s has no such cap", node->name);
    }
    code = admin_match(command, node->version, err);
    if (code != ERR_OK) {
        return code;
    }
    struct node *row = working_set_change(ledger->set, cell);
    audit_cap(ledger, row, model, &row->caps[at], NULL);
    row->cap_count--;
    memmove(&row->caps[at], &row->caps[at + 1],
            (size_t)(row->cap_count - at) * sizeof row->caps[0]);
    finish(ledger, row, ret_result);
    return ERR_OK;
}

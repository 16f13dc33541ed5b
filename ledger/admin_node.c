/*
 * Organizations, projects, members: putting, patching, moving, closing (SPEC 2.1 to 2.4, 3.1, 3.3).
 */
#include <stdlib.h>
#include <string.h>

#include "ledger/admin.h"
#include "ledger/admin_tree.h"
#include "ledger/audit_describe.h"
#include "ledger/base/text.h"
#include "ledger/base/zone.h"
#include "ledger/names.h"
#include "ledger/result.h"
#include "ledger/wait.h"
#include "ledger/zones.h"

#define BIT(field) (UINT32_C(1) << (field))

/* Settings that a node of a kind has; the last is a root. */
enum { ROOT = 3, KINDS = 4 };

static const uint32_t has_fields[KINDS] = {
    [NODE_ORGANIZATION] = BIT(NODE_FIELD_PARENT) | BIT(NODE_FIELD_FUNDING) | BIT(NODE_FIELD_STATE) |
                          BIT(NODE_FIELD_OVERDRAFT) | BIT(NODE_FIELD_CONTACT),
    [NODE_PROJECT] = BIT(NODE_FIELD_PARENT) | BIT(NODE_FIELD_FUNDING) | BIT(NODE_FIELD_MEMBERSHIP) |
                     BIT(NODE_FIELD_STATE) | BIT(NODE_FIELD_OVERDRAFT) | BIT(NODE_FIELD_CONTACT) |
                     BIT(NODE_FIELD_MODE) | BIT(NODE_FIELD_WINDOW) |
                     BIT(NODE_FIELD_ON_INSUFFICIENT) | BIT(NODE_FIELD_TTL),
    [NODE_MEMBER] = BIT(NODE_FIELD_PARENT) | BIT(NODE_FIELD_STATE) | BIT(NODE_FIELD_CONTACT),
    [ROOT] = BIT(NODE_FIELD_FUNDING) | BIT(NODE_FIELD_STATE) | BIT(NODE_FIELD_TIMEZONE) |
             BIT(NODE_FIELD_FISCAL_YEAR_START) | BIT(NODE_FIELD_OVERDRAFT) |
             BIT(NODE_FIELD_CONTACT) | BIT(NODE_FIELD_WAIVED_OUTCOMES) |
             BIT(NODE_FIELD_NAMES_VISIBLE),
};

static const char *const kind_names[KINDS] = {"an organization below a root", "a project",
                                              "a member", "a root organization"};

static const char *const field_names[] = {
    [NODE_FIELD_PARENT] = "parent",
    [NODE_FIELD_FUNDING] = "funding",
    [NODE_FIELD_MEMBERSHIP] = "membership",
    [NODE_FIELD_STATE] = "state",
    [NODE_FIELD_TIMEZONE] = "timezone",
    [NODE_FIELD_FISCAL_YEAR_START] = "fiscal_year_start",
    [NODE_FIELD_OVERDRAFT] = "overdraft_mcs",
    [NODE_FIELD_CONTACT] = "contact",
    [NODE_FIELD_WAIVED_OUTCOMES] = "waived_outcomes",
    [NODE_FIELD_NAMES_VISIBLE] = "names_visible",
    [NODE_FIELD_MODE] = "mode",
    [NODE_FIELD_WINDOW] = "window_s",
    [NODE_FIELD_ON_INSUFFICIENT] = "on_insufficient",
    [NODE_FIELD_TTL] = "ttl_s",
};

static int kind_of(const struct node *node)
{
    return node->kind == NODE_ORGANIZATION && node->parent_no == 0 ? ROOT : (int)node->kind;
}

/* ---- values */

static void set_defaults(struct node *node)
{
    bool root = kind_of(node) == ROOT;
    node->funding = root ? FUNDING_SELF : FUNDING_PARENT;
    node->membership = MEMBERSHIP_OPEN;
    node->mode = MODE_UNSET;
    node->on_insufficient = INSUFFICIENT_UNSET;
    node->fiscal_year_start = root ? 1 : 0;
    node->names_visible = 0;
    node->window_s = 0;
    node->ttl_s = 0;
    node->waived_outcomes = root ? (1 << OUTCOME_NODE_FAIL) | (1 << OUTCOME_BOOT_FAIL) : 0;
    node->overdraft_mcs = 0;
    node->contact[0] = '\0';
    node->timezone[0] = '\0';
    if (root) {
        row_text(node->timezone, sizeof node->timezone, "UTC");
    }
}

static void set_places(struct node *node, uint32_t given, const struct node *set)
{
    if ((given & BIT(NODE_FIELD_FUNDING)) != 0) {
        node->funding = set->funding;
    }
    if ((given & BIT(NODE_FIELD_MEMBERSHIP)) != 0) {
        node->membership = set->membership;
    }
    if ((given & BIT(NODE_FIELD_STATE)) != 0) {
        node->state = set->state;
    }
    if ((given & BIT(NODE_FIELD_TIMEZONE)) != 0) {
        row_text(node->timezone, sizeof node->timezone, set->timezone);
    }
    if ((given & BIT(NODE_FIELD_FISCAL_YEAR_START)) != 0) {
        node->fiscal_year_start = set->fiscal_year_start;
    }
    if ((given & BIT(NODE_FIELD_CONTACT)) != 0) {
        row_text(node->contact, sizeof node->contact, set->contact);
    }
}

static void set_policies(struct node *node, uint32_t given, const struct node *set)
{
    if ((given & BIT(NODE_FIELD_OVERDRAFT)) != 0) {
        node->overdraft_mcs = set->overdraft_mcs;
    }
    if ((given & BIT(NODE_FIELD_WAIVED_OUTCOMES)) != 0) {
        node->waived_outcomes = set->waived_outcomes;
    }
    if ((given & BIT(NODE_FIELD_NAMES_VISIBLE)) != 0) {
        node->names_visible = set->names_visible;
    }
    if ((given & BIT(NODE_FIELD_MODE)) != 0) {
        node->mode = set->mode;
    }
    if ((given & BIT(NODE_FIELD_WINDOW)) != 0) {
        node->window_s = set->window_s;
    }
    if ((given & BIT(NODE_FIELD_ON_INSUFFICIENT)) != 0) {
        node->on_insufficient = set->on_insufficient;
    }
    if ((given & BIT(NODE_FIELD_TTL)) != 0) {
        node->ttl_s = set->ttl_s;
    }
}

static enum error_code check_fields(const struct node *node, uint32_t given, struct error *err)
{
    int kind = kind_of(node);
    uint32_t foreign = given & ~has_fields[kind];
    if (foreign != 0) {
        const char *field = field_names[__builtin_ctz(foreign)];
        return error_set_field(err, ERR_INVALID_FIELD, field, "%s has no %s", kind_names[kind],
                               field);
    }
    bool root = kind == ROOT;
    if (root && node->funding == FUNDING_PARENT) {
        return error_set_field(err, ERR_INVALID_FIELD, "funding",
                               "a root has no parent to pay for it: self or unlimited");
    }
    if (!root && node->funding == FUNDING_UNLIMITED) {
        return error_set_field(err, ERR_INVALID_FIELD, "funding",
                               "only a root can be unlimited: parent or self");
    }
    return ERR_OK;
}

/* Everything that a put or patch may set, compared. */
static bool same_settings(const struct node *a, const struct node *b)
{
    return a->parent_no == b->parent_no && a->state == b->state && a->funding == b->funding &&
           a->membership == b->membership && a->mode == b->mode &&
           a->on_insufficient == b->on_insufficient &&
           a->fiscal_year_start == b->fiscal_year_start && a->names_visible == b->names_visible &&
           a->window_s == b->window_s && a->ttl_s == b->ttl_s &&
           a->waived_outcomes == b->waived_outcomes && a->overdraft_mcs == b->overdraft_mcs &&
           a->flags == b->flags && strcmp(a->contact, b->contact) == 0 &&
           strcmp(a->timezone, b->timezone) == 0;
}

/* ---- finding */

/* The parent that a command names: an organization, of a member its project. NULL: none is named. */
static enum error_code find_parent(struct ledger *ledger,
                                   const struct command *command,
                                   const struct node **ret_parent,
                                   struct error *err)
{
    const struct command_node *given = &command->node;
    *ret_parent = NULL;
    if (given->parent[0] == '\0') {
        return ERR_OK;
    }
    enum node_kind kind = given->kind == NODE_MEMBER ? NODE_PROJECT : NODE_ORGANIZATION;
    struct cell *cell;
    enum error_code code = names_seen_node(ledger, command, kind, given->parent, &cell, err);
    if (code == ERR_OK) {
        *ret_parent = cell_record(cell);
    }
    return code;
}

/* The node of the command's name; NULL when there is none yet. */
static enum error_code find_node(struct ledger *ledger,
                                 const struct command *command,
                                 const struct node *parent,
                                 struct cell **ret_cell,
                                 struct error *err)
{
    const struct command_node *given = &command->node;
    *ret_cell = NULL;
    if (given->kind == NODE_MEMBER) {
        *ret_cell = parent == NULL ? NULL : names_member(ledger, parent->node_no, given->name);
        return ERR_OK;
    }
    int64_t no = row_name_target(ledger->set, NAMES_NODE, 0, given->name);
    if (no == 0) {
        return ERR_OK;
    }
    struct cell *cell = row_find(ledger->set, RECORD_NODE, no);
    const struct node *node = cell_record(cell);
    if (!names_node_is_seen(ledger, command, node)) {
        return error_set(err, ERR_NOT_FOUND, "no organization or project %s", given->name);
    }
    if (node->kind != given->kind) {
        return error_set(err, ERR_INVALID_STATE, "the name %s belongs to %s", given->name,
                         kind_names[kind_of(node)]);
    }
    *ret_cell = cell;
    return ERR_OK;
}

/* ---- making */

static enum error_code make_root(struct ledger *ledger, const struct node *node, struct error *err)
{
    struct calendar calendar;
    enum error_code code =
        zone_load(node->timezone, (uint8_t)node->fiscal_year_start, &calendar, err);
    if (code != ERR_OK) {
        return code;
    }
    zones_store(ledger, node->node_no, &calendar);
    struct root_state *state =
        working_set_put(ledger->set, row_find(ledger->set, RECORD_ROOT_STATE, node->node_no));
    state->turned_month = calendar_month(&calendar, ledger->clock_ms / 1000);
    return ERR_OK;
}

static enum error_code make_node(struct ledger *ledger,
                                 const struct command *command,
                                 const struct node *parent,
                                 struct ledger_result *result,
                                 struct error *err)
{
    const struct command_node *given = &command->node;
    struct node node;
    memset(&node, 0, sizeof node);
    node.kind = given->kind;
    node.parent_no = parent == NULL ? 0 : parent->node_no;
    bool named =
        given->kind == NODE_MEMBER ? text_is_name(given->name) : text_is_node_name(given->name);
    if (!named) {
        return error_set_field(err, ERR_INVALID_FIELD, "name", "not a name for %s",
                               kind_names[given->kind]);
    }
    if (node.kind == NODE_PROJECT && parent == NULL) {
        return error_set_field(err, ERR_INVALID_FIELD, "organization",
                               "missing: a project belongs to an organization");
    }
    row_text(node.name, sizeof node.name, given->name);
    set_defaults(&node);
    set_places(&node, given->given, &given->set);
    set_policies(&node, given->given, &given->set);
    enum error_code code = check_fields(&node, given->given, err);
    if (code == ERR_OK && parent != NULL && node.kind != NODE_MEMBER) {
        code = tree_check_depth(ledger, parent, 1, err);
    }
    if (code != ERR_OK) {
        return code;
    }
    const struct node *made = tree_add(ledger, &node, parent);
    if (parent == NULL) {
        code = make_root(ledger, made, err);
    }
    if (code == ERR_OK) {
        tree_ensure_rows(ledger, made);
        audit_node(ledger, NULL, made);
        result->created = true;
        result_of_node(ledger, made, result);
    }
    return code;
}

/* ---- changing */

static enum error_code check_move(struct ledger *ledger,
                                  const struct node *node,
                                  const struct node *parent,
                                  struct error *err)
{
    if (node->parent_no == 0) {
        return error_set_field(err, ERR_INVALID_STATE, "parent", "%s is a root and stays one",
                               node->name);
    }
    if (parent->root_no != node->root_no) {
        return error_set_field(err, ERR_INVALID_STATE, "parent",
                               "%s belongs to another root; a node moves within its own",
                               parent->name);
    }
    return tree_check_move(ledger, node, parent, err);
}

static enum error_code check_zone(const struct node *before,
                                  const struct node *after,
                                  struct error *err)
{
    if (strcmp(before->timezone, after->timezone) != 0 && (before->flags & NODE_HAS_USAGE) != 0) {
        return error_set_field(err, ERR_INVALID_STATE, "timezone",
                               "the zone of %s is fixed: there is usage already", before->name);
    }
    return ERR_OK;
}

/* Whether a change of settings is allowed as things stand. */
static enum error_code check_change(struct ledger *ledger,
                                    const struct node *before,
                                    const struct node *after,
                                    const struct node *parent,
                                    struct error *err)
{
    enum error_code code = check_zone(before, after, err);
    if (code == ERR_OK && after->parent_no != before->parent_no) {
        code = check_move(ledger, before, parent, err);
    }
    bool moves = after->parent_no != before->parent_no || after->funding != before->funding;
    if (code == ERR_OK && moves && tree_open_tasks(ledger, before) > 0) {
        code = error_set(err, ERR_INVALID_STATE,
                         "%s has open tasks: it moves, or changes its funding, without any",
                         before->name);
    }
    if (code == ERR_OK && after->funding != before->funding) {
        code = tree_check_funding(ledger, before, after, err);
    }
    return code;
}

static enum error_code carry_out(struct ledger *ledger,
                                 const struct node *before,
                                 const struct node *after,
                                 struct error *err)
{
    bool zone = strcmp(before->timezone, after->timezone) != 0 ||
                before->fiscal_year_start != after->fiscal_year_start;
    enum error_code code = ERR_OK;
    if (after->parent_no == 0 && zone) {
        code = make_root(ledger, after, err);
    }
    if (code == ERR_OK && before->funding != after->funding) {
        tree_ensure_rows(ledger, after);
    }
    if (code == ERR_OK && after->state == NODE_CLOSED && before->state != NODE_CLOSED) {
        code = admin_release_waiting(ledger, after, err);
    }
    if (before->overdraft_mcs != after->overdraft_mcs || before->funding != after->funding ||
        before->parent_no != after->parent_no) {
        wait_wake_root(ledger, after->root_no);
    }
    return code;
}

static enum error_code change_node(struct ledger *ledger,
                                   const struct command *command,
                                   struct cell *cell,
                                   const struct node *parent,
                                   struct ledger_result *result,
                                   struct error *err)
{
    const struct command_node *given = &command->node;
    const struct node before = *(const struct node *)cell_record(cell);
    struct node after = before;
    if (command->kind == COMMAND_PUT_NODE) {
        set_defaults(&after);
        after.flags &= ~(int64_t)NODE_GUEST;
    }
    if (parent != NULL) {
        after.parent_no = parent->node_no;
    }
    set_places(&after, given->given, &given->set);
    set_policies(&after, given->given, &given->set);
    enum error_code code = check_fields(&after, given->given, err);
    if (code != ERR_OK) {
        return code;
    }
    if (same_settings(&before, &after)) {
        result->no_effect = true;
        result_of_node(ledger, &before, result);
        return ERR_OK;
    }
    bool guest = (before.flags & NODE_GUEST) != 0 && (after.flags & NODE_GUEST) == 0;
    code = guest ? ERR_OK : admin_match(command, before.version, err);
    if (code == ERR_OK) {
        code = check_change(ledger, &before, &after, parent, err);
    }
    if (code != ERR_OK) {
        return code;
    }
    after.version++;
    struct node *stored = working_set_change(ledger->set, cell);
    *stored = after;
    working_set_touch(ledger->set);
    code = carry_out(ledger, &before, stored, err);
    if (code == ERR_OK) {
        audit_node(ledger, &before, stored);
        result->created = guest;
        result_of_node(ledger, stored, result);
    }
    return code;
}

enum error_code admin_put_node(struct ledger *ledger,
                               const struct command *command,
                               struct ledger_result *ret_result,
                               struct error *err)
{
    const struct node *parent;
    struct cell *cell = NULL;
    enum error_code code = find_parent(ledger, command, &parent, err);
    if (code == ERR_OK) {
        code = find_node(ledger, command, parent, &cell, err);
    }
    if (code != ERR_OK) {
        return code;
    }
    if (cell != NULL) {
        return change_node(ledger, command, cell, parent, ret_result, err);
    }
    if (command->kind == COMMAND_PATCH_NODE) {
        return error_set(err, ERR_NOT_FOUND, "no such %s: %s",
                         command->node.kind == NODE_MEMBER ? "member" : "organization or project",
                         command->node.name);
    }
    if (command->if_match == MATCH_VERSION) {
        return error_set(err, ERR_PRECONDITION_FAILED, "%s does not exist", command->node.name);
    }
    return make_node(ledger, command, parent, ret_result, err);
}

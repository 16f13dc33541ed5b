/*
 * Grants, transfers, withdrawals and the ends of grants: replays, payers and new rows around the
 * decisions of core/decide_money.h (SPEC 3, 6.1).
 */
#include <string.h>

#include "ledger/admin.h"
#include "ledger/apply.h"
#include "ledger/audit_describe.h"
#include "ledger/core/decide_money.h"
#include "ledger/load.h"
#include "ledger/names.h"
#include "ledger/wait.h"

static struct digest content_of(const struct command *command)
{
    const struct command_movement *given = &command->movement;
    struct digest_state state;
    digest_init(&state);
    digest_update_i64(&state, command->kind);
    digest_update_text(&state, given->from);
    digest_update_text(&state, given->to);
    digest_update_i64(&state, given->amount_mcs);
    digest_update_i64(&state, given->start_s);
    digest_update_i64(&state, given->end_s);
    digest_update_text(&state, given->note);
    return digest_finish(&state);
}

/* A node that pays, by name. */
static enum error_code find_payer(struct ledger *ledger,
                                  const struct command *command,
                                  const char *field,
                                  const char *name,
                                  const struct node **ret_node,
                                  struct error *err)
{
    struct cell *cell;
    enum error_code code = names_seen_node(ledger, command, NODE_MEMBER, name, &cell, err);
    if (code != ERR_OK) {
        return error_set_field(err, code, field, "no organization or project %s", name);
    }
    const struct node *node = cell_record(cell);
    if (node->funding == FUNDING_PARENT) {
        return error_set_field(err, ERR_NOT_FUNDED_HERE, field,
                               "%s is funded by its parent; name a node that is funded by self",
                               name);
    }
    *ret_node = node;
    return ERR_OK;
}

/* The view of a payer: time, node, rows. */
static enum error_code load_payer(struct ledger *ledger,
                                  const struct node *node,
                                  int32_t position,
                                  struct error *err)
{
    struct view *view = &ledger->view;
    const struct node *root = row_get(ledger->set, RECORD_NODE, node->root_no);
    if (root == NULL) {
        return working_set_failure(ledger->set, err);
    }
    if (position == 0) {
        load_time(ledger, root);
        view->grant_count = 0;
        view->new_member = false;
        view->hold_found = false;
        memset(&view->hold, 0, sizeof view->hold);
        view->run_found = false;
        plan_reset(&ledger->plan);
    }
    view->nodes[position].node = *node;
    view->node_count = position + 1;
    if (!load_payer_rows(ledger, node->node_no)) {
        return error_set(err, ERR_INVALID_FIELD, "%s has more than %d grants that have not ended",
                         node->name, LIMIT_GRANTS);
    }
    return working_set_failure(ledger->set, err);
}

/* The movement of an id, where the root knows it: then it is a replay or the id was reused. */
static enum error_code find_known(struct ledger *ledger,
                                  const struct command *command,
                                  int64_t root_no,
                                  struct ledger_result *result,
                                  struct error *err)
{
    int64_t no = row_name_target(ledger->set, NAMES_GRANT, root_no, command->movement.id);
    result->replayed = false;
    if (no == 0) {
        return ERR_OK;
    }
    const struct movement *known = row_get(ledger->set, RECORD_MOVEMENT, no);
    struct digest content = content_of(command);
    if (known == NULL || !digest_equal(&known->content, &content)) {
        return error_set_field(err, ERR_ID_REUSED, "id", "%s was used before with other content",
                               command->movement.id);
    }
    result->replayed = true;
    result->created = true;
    if (known->grant_no != 0) {
        const struct grant *grant = row_get(ledger->set, RECORD_GRANT, known->grant_no);
        if (grant != NULL) {
            result->grant = *grant;
        }
    }
    return ERR_OK;
}

static const struct movement *store_movement(struct ledger *ledger,
                                             const struct command *command,
                                             const struct movement *what)
{
    const struct command_movement *given = &command->movement;
    int64_t no = row_take_no(ledger->set, "movement");
    struct movement *row =
        working_set_make(ledger->set, row_find(ledger->set, RECORD_MOVEMENT, no));
    *row = *what;
    row->movement_no = no;
    row->root_no = ledger->subject.root_no;
    row->amount_mcs = given->amount_mcs;
    row->at_ms = ledger->view.now_ms;
    row->content = content_of(command);
    row_text(row->id, sizeof row->id, given->id);
    row_text(row->note, sizeof row->note, given->note);
    row_add_name(ledger->set, NAMES_GRANT, row->root_no, given->id, no);
    return row;
}

/* Carry out the plan, number the new rows, wake what waits. @movement: NULL for a grant's end. */
static void finish(struct ledger *ledger, const struct movement *movement)
{
    apply_money(ledger);
    working_set_touch(ledger->set);
    if (movement != NULL) {
        audit_movement(ledger, movement);
    }
    if (ledger->plan.room_freed) {
        wait_wake_root(ledger, ledger->subject.root_no);
    }
}

/* ---- grants */

/* Put a new row in its place: before the endless and the overdraft row, and those that end later. */
static int32_t insert_row(struct ledger *ledger, const struct command *command)
{
    const struct command_movement *given = &command->movement;
    struct view *view = &ledger->view;
    int64_t end_s = given->end_s == 0 ? INT64_MAX : given->end_s;
    int32_t at = view->grant_count++;
    while (at > 0 &&
           (view->grants[at - 1].kind != GRANT_TIMED || view->grants[at - 1].end_s > end_s)) {
        view->grants[at] = view->grants[at - 1];
        at--;
    }
    struct grant *row = &view->grants[at];
    memset(row, 0, sizeof *row);
    row->grant_no = row_take_no(ledger->set, "grant");
    row->root_no = ledger->subject.root_no;
    row->node_no = view->nodes[0].node.node_no;
    row->kind = GRANT_TIMED;
    row->created_ms = view->now_ms;
    row_text(row->id, sizeof row->id, given->id);
    row_text(row->note, sizeof row->note, given->note);
    return at;
}

static int32_t timed_rows(const struct view *view, int64_t node_no)
{
    int32_t count = 0;
    for (int32_t i = 0; i < view->grant_count; i++) {
        bool timed = view->grants[i].kind == GRANT_TIMED && view->grants[i].ended == 0;
        count += timed && view->grants[i].node_no == node_no ? 1 : 0;
    }
    return count;
}

static enum error_code check_row_count(const struct view *view,
                                       const struct node *node,
                                       struct error *err)
{
    /* Two rows are the endless and the overdraft one. */
    if (timed_rows(view, node->node_no) > LIMIT_GRANTS - 2) {
        return error_set(err, ERR_INVALID_FIELD,
                         "%s would have more than %d grants that have not ended: let some end, or "
                         "withdraw them",
                         node->name, LIMIT_GRANTS - 2);
    }
    return ERR_OK;
}

enum error_code admin_grant(struct ledger *ledger,
                            const struct command *command,
                            struct ledger_result *ret_result,
                            struct error *err)
{
    const struct node *node;
    enum error_code code = find_payer(ledger, command, "node", command->movement.to, &node, err);
    if (code == ERR_OK) {
        code = find_known(ledger, command, node->root_no, ret_result, err);
    }
    if (code != ERR_OK || ret_result->replayed) {
        return code;
    }
    code = load_payer(ledger, node, 0, err);
    if (code != ERR_OK) {
        return code;
    }
    int32_t row = insert_row(ledger, command);
    code = decide_grant(&ledger->view, command, row, &ledger->plan, err);
    if (code == ERR_OK) {
        code = check_row_count(&ledger->view, node, err);
    }
    if (code != ERR_OK) {
        return code;
    }
    const struct grant *made = &ledger->view.grants[row];
    const struct movement what = {
        .kind = MOVEMENT_GRANT, .to_no = node->node_no, .grant_no = made->grant_no};
    ret_result->grant = *made;
    ret_result->created = true;
    finish(ledger, store_movement(ledger, command, &what));
    return ERR_OK;
}

/* ---- withdrawals and transfers */

enum error_code admin_withdraw(struct ledger *ledger,
                               const struct command *command,
                               struct ledger_result *ret_result,
                               struct error *err)
{
    const struct node *node;
    enum error_code code = find_payer(ledger, command, "node", command->movement.from, &node, err);
    if (code == ERR_OK) {
        code = find_known(ledger, command, node->root_no, ret_result, err);
    }
    if (code != ERR_OK || ret_result->replayed) {
        return code;
    }
    code = load_payer(ledger, node, 0, err);
    if (code == ERR_OK) {
        code = decide_withdraw(&ledger->view, command, &ledger->plan, err);
    }
    if (code != ERR_OK) {
        return code;
    }
    const struct movement what = {.kind = MOVEMENT_WITHDRAWAL, .from_no = node->node_no};
    ret_result->created = true;
    finish(ledger, store_movement(ledger, command, &what));
    return ERR_OK;
}

static enum error_code find_both(struct ledger *ledger,
                                 const struct command *command,
                                 const struct node **ret_from,
                                 const struct node **ret_to,
                                 struct error *err)
{
    const struct command_movement *given = &command->movement;
    enum error_code code = find_payer(ledger, command, "from", given->from, ret_from, err);
    if (code == ERR_OK) {
        code = find_payer(ledger, command, "to", given->to, ret_to, err);
    }
    if (code != ERR_OK) {
        return code;
    }
    if (!names_is_below_place(command, *ret_to)) {
        return error_set_field(err, ERR_NOT_ALLOWED, "to",
                               "%s is your own place: a lead transfers to what is below it",
                               given->to);
    }
    if ((*ret_from)->node_no == (*ret_to)->node_no) {
        return error_set_field(err, ERR_INVALID_FIELD, "to", "a transfer needs two nodes");
    }
    if ((*ret_from)->root_no != (*ret_to)->root_no) {
        return error_set_field(err, ERR_INVALID_FIELD, "to", "%s and %s belong to different roots",
                               given->from, given->to);
    }
    return ERR_OK;
}

/* The rows that a transfer made carry its id; the last of them is shown. */
static void name_new_rows(struct ledger *ledger,
                          const struct command *command,
                          int64_t first_no,
                          struct grant *ret_last)
{
    struct view *view = &ledger->view;
    for (int32_t i = 0; i < view->grant_count; i++) {
        struct grant *grant = &view->grants[i];
        if (grant->grant_no < first_no) {
            continue;
        }
        (void)row_take_no(ledger->set, "grant");
        grant->created_ms = view->now_ms;
        row_text(grant->id, sizeof grant->id, command->movement.id);
        row_text(grant->note, sizeof grant->note, command->movement.note);
        *ret_last = *grant;
    }
}

/* Of the rows that a transfer went to, the one that ends last. */
static void find_changed_row(const struct ledger *ledger, int64_t node_no, struct grant *ret_row)
{
    const struct view *view = &ledger->view;
    for (int32_t i = 0; i < view->grant_count; i++) {
        bool changed = (ledger->plan.grants_changed[i / 64] >> (i % 64) & 1) != 0;
        if (changed && view->grants[i].node_no == node_no && view->grants[i].kind == GRANT_TIMED) {
            *ret_row = view->grants[i];
        }
    }
}

enum error_code admin_transfer(struct ledger *ledger,
                               const struct command *command,
                               struct ledger_result *ret_result,
                               struct error *err)
{
    const struct node *from;
    const struct node *to;
    enum error_code code = find_both(ledger, command, &from, &to, err);
    if (code == ERR_OK) {
        code = find_known(ledger, command, from->root_no, ret_result, err);
    }
    if (code != ERR_OK || ret_result->replayed) {
        return code;
    }
    code = load_payer(ledger, from, 0, err);
    if (code == ERR_OK) {
        code = load_payer(ledger, to, 1, err);
    }
    if (code != ERR_OK) {
        return code;
    }
    int64_t first_no = row_next_no(ledger->set, "grant");
    ledger->view.next_grant_no = first_no;
    code = decide_transfer(&ledger->view, command, &ledger->plan, err);
    if (code == ERR_OK) {
        code = check_row_count(&ledger->view, to, err);
    }
    if (code != ERR_OK) {
        return code;
    }
    find_changed_row(ledger, to->node_no, &ret_result->grant);
    name_new_rows(ledger, command, first_no, &ret_result->grant);
    const struct movement what = {.kind = MOVEMENT_TRANSFER,
                                  .from_no = from->node_no,
                                  .to_no = to->node_no,
                                  .grant_no = ret_result->grant.grant_no};
    ret_result->created = true;
    finish(ledger, store_movement(ledger, command, &what));
    return ERR_OK;
}

/* ---- the clockwork's */

/* What expires is booked in the month of the grant's last second, however late its end is seen to (SPEC
 * 8.3). */
static void book_in_its_month(struct ledger *ledger, const struct grant *grant)
{
    struct view *view = &ledger->view;
    if (grant->end_s <= view->now_s) {
        int64_t month = calendar_month(&ledger->subject.time->calendar, grant->end_s - 1);
        view->month = month > view->oldest_open_month ? month : view->oldest_open_month;
    }
}

enum error_code admin_end_grant(struct ledger *ledger,
                                const struct command *command,
                                struct ledger_result *ret_result,
                                struct error *err)
{
    const struct cell *cell = row_find(ledger->set, RECORD_GRANT, command->due.grant_no);
    if (!cell_exists(cell) || ((const struct grant *)cell_record(cell))->ended != 0) {
        ret_result->no_effect = true;
        return ERR_OK;
    }
    const struct grant *grant = cell_record(cell);
    const struct node *node = row_get(ledger->set, RECORD_NODE, grant->node_no);
    enum error_code code =
        node == NULL ? working_set_failure(ledger->set, err) : load_payer(ledger, node, 0, err);
    if (code != ERR_OK) {
        return code;
    }
    int32_t row = 0;
    while (row < ledger->view.grant_count &&
           ledger->view.grants[row].grant_no != command->due.grant_no) {
        row++;
    }
    if (row == ledger->view.grant_count) {
        return error_set(err, ERR_INTERNAL, "grant %lld is not among the rows of its payer",
                         (long long)command->due.grant_no);
    }
    book_in_its_month(ledger, &ledger->view.grants[row]);
    code = decide_grant_end(&ledger->view, row, &ledger->plan, err);
    if (code == ERR_OK) {
        ret_result->no_effect = ledger->plan.no_effect;
        finish(ledger, NULL);
    }
    return code;
}

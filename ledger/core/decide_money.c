/*
 * Grants, their end, transfers, withdrawals (SPEC 3). Pure.
 */
#include "ledger/core/decide_money.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ledger/base/amount.h"
#include "ledger/base/text.h"
#include "ledger/core/funds.h"

static enum error_code check_funded(const struct node *node, const char *field, struct error *err)
{
    if (node->funding != FUNDING_SELF) {
        return error_set_field(
            err, ERR_NOT_FUNDED_HERE, field,
            "%s is not funded by self: name the node that pays for it, or set its "
            "funding to self",
            node->name);
    }
    return ERR_OK;
}

static enum error_code check_amount(int64_t mcs, struct error *err)
{
    if (mcs <= 0 || mcs > LIMIT_COMMAND_MCS) {
        return error_set_field(err, ERR_INVALID_FIELD, "core_hours",
                               "%" PRId64 " mcs is out of range: 1 to %" PRId64 " mcs", mcs,
                               LIMIT_COMMAND_MCS);
    }
    return ERR_OK;
}

static enum error_code check_period(const struct view *view,
                                    int64_t start_s,
                                    int64_t end_s,
                                    struct error *err)
{
    char end[TEXT_TIME_BYTES];
    char other[TEXT_TIME_BYTES];
    if (end_s <= start_s) {
        return error_set_field(err, ERR_INVALID_FIELD, "end", "%s does not lie after the start %s",
                               text_format_time(end_s, end), text_format_time(start_s, other));
    }
    if (end_s <= view->now_s) {
        return error_set_field(err, ERR_INVALID_FIELD, "end", "%s has passed: after now, %s",
                               text_format_time(end_s, end), text_format_time(view->now_s, other));
    }
    return ERR_OK;
}

enum error_code decide_grant(struct view *view,
                             const struct command *command,
                             int32_t row,
                             struct plan *plan,
                             struct error *err)
{
    const struct command_movement *movement = &command->movement;
    int64_t start_s = movement->start_s > 0 ? movement->start_s : view->now_s;
    int64_t end_s = movement->end_s > 0 ? movement->end_s : INT64_MAX;
    enum error_code code = check_amount(movement->amount_mcs, err);
    if (code == ERR_OK) {
        code = check_period(view, start_s, end_s, err);
    }
    if (code == ERR_OK) {
        code = check_funded(&view->nodes[0].node, "node", err);
    }
    if (code != ERR_OK) {
        return code;
    }
    view->grants[row].start_s = start_s;
    view->grants[row].end_s = end_s;
    code = funds_issue(view, plan, row, movement->amount_mcs, err);
    if (code != ERR_OK) {
        return code;
    }
    funds_repay(view, plan);
    plan->room_freed = funds_row_is_valid(&view->grants[row], view->now_s);
    return ERR_OK;
}

enum error_code decide_grant_end(struct view *view,
                                 int32_t row,
                                 struct plan *plan,
                                 struct error *err)
{
    (void)err;
    struct grant *grant = &view->grants[row];
    if (grant->ended != 0 || grant->end_s > view->now_s) {
        plan->no_effect = true;
        return ERR_OK;
    }
    /* It was valid until now: what it had repays first. Its end is put off for just that step. */
    int64_t end_s = grant->end_s;
    grant->end_s = INT64_MAX;
    funds_repay(view, plan);
    grant->end_s = end_s;
    funds_expire(view, plan, row);
    return ERR_OK;
}

/* What the timed rows of a payer that are valid now hold. */
static int64_t available_of(const struct view *view, int64_t node_no)
{
    int64_t available_mcs = 0;
    for (int32_t i = 0; i < view->grant_count; i++) {
        const struct grant *grant = &view->grants[i];
        if (grant->node_no == node_no && grant->kind == GRANT_TIMED &&
            funds_row_is_valid(grant, view->now_s)) {
            available_mcs += grant->available_mcs;
        }
    }
    return available_mcs;
}

static enum error_code refuse_insufficient(const struct view *view,
                                           int64_t mcs,
                                           int64_t available_mcs,
                                           struct plan *plan,
                                           struct error *err)
{
    const struct node *node = &view->nodes[0].node;
    char asked[AMOUNT_TEXT_BYTES];
    char available[AMOUNT_TEXT_BYTES];
    struct violation *violation = &plan->violations[plan->violation_count++];
    *violation = (struct violation){
        .node_no = node->node_no,
        .node_kind = node->kind,
        .kind = CAP_FUNDS,
        .limit = available_mcs,
        .requested = mcs,
        .available = available_mcs,
        .missing = mcs - available_mcs,
    };
    memcpy(violation->node, node->name, sizeof violation->node);
    plan->requested_mcs = mcs;
    return error_set_field(err, ERR_QUOTA_INSUFFICIENT, "core_hours",
                           "%s core-hours asked, %s available in the grants of %s: ask for at most "
                           "that",
                           amount_format_core_hours(amount_from_mcs(mcs), 5, asked),
                           amount_format_core_hours(amount_from_mcs(available_mcs), 5, available),
                           node->name);
}

enum error_code decide_withdraw(struct view *view,
                                const struct command *command,
                                struct plan *plan,
                                struct error *err)
{
    int64_t mcs = command->movement.amount_mcs;
    enum error_code code = check_amount(mcs, err);
    if (code == ERR_OK) {
        code = check_funded(&view->nodes[0].node, "node", err);
    }
    if (code != ERR_OK) {
        return code;
    }
    int64_t available_mcs = available_of(view, view->nodes[0].node.node_no);
    if (mcs > available_mcs) {
        return refuse_insufficient(view, mcs, available_mcs, plan, err);
    }
    return funds_withdraw(view, plan, mcs, err);
}

/* The place of a timed row by its end, before the rows that never end. */
static int32_t place_of(const struct view *view, int64_t end_s)
{
    int32_t at = 0;
    while (at < view->grant_count && view->grants[at].kind == GRANT_TIMED &&
           view->grants[at].end_s <= end_s) {
        at++;
    }
    return at;
}

/* A row of the receiver with the same end from which one may draw now, or -1. */
static int32_t receiving_row(const struct view *view, int64_t node_no, int64_t end_s)
{
    for (int32_t i = 0; i < view->grant_count; i++) {
        const struct grant *grant = &view->grants[i];
        if (grant->node_no == node_no && grant->kind == GRANT_TIMED && grant->end_s == end_s &&
            funds_row_is_valid(grant, view->now_s)) {
            return i;
        }
    }
    return -1;
}

static void insert_row(struct view *view, const struct grant *like)
{
    const struct node *to = &view->nodes[1].node;
    int32_t at = place_of(view, like->end_s);
    struct grant row = {
        .grant_no = view->next_grant_no++,
        .root_no = like->root_no,
        .node_no = to->node_no,
        .kind = GRANT_TIMED,
        .start_s = like->start_s,
        .end_s = like->end_s,
    };
    memmove(&view->grants[at + 1], &view->grants[at],
            (size_t)(view->grant_count - at) * sizeof view->grants[0]);
    view->grants[at] = row;
    view->grant_count++;
}

static bool gives(const struct view *view, int32_t row)
{
    const struct grant *grant = &view->grants[row];
    return grant->node_no == view->nodes[0].node.node_no && grant->kind == GRANT_TIMED &&
           grant->available_mcs > 0 && funds_row_is_valid(grant, view->now_s);
}

/* Make sure that there is a row to receive what a giving row gives. */
static bool make_row(struct view *view, const struct grant *from)
{
    if (receiving_row(view, view->nodes[1].node.node_no, from->end_s) >= 0) {
        return true;
    }
    if (view->grant_count == VIEW_GRANTS) {
        return false;
    }
    insert_row(view, from);
    return true;
}

/* The rows for mcs, before anything moves: rows shift. */
static enum error_code make_rows(struct view *view, int64_t mcs, struct error *err)
{
    bool room = true;
    for (int32_t i = 0; i < view->grant_count && mcs > 0 && room; i++) {
        if (gives(view, i)) {
            struct grant from = view->grants[i];
            mcs -= from.available_mcs < mcs ? from.available_mcs : mcs;
            room = make_row(view, &from);
        }
    }
    return room ? ERR_OK
                : error_set_field(err, ERR_TOO_MANY_DRAWS, "core_hours",
                                  "the transfer would take from too many grants: send less at a "
                                  "time");
}

static enum error_code check_transfer(const struct view *view,
                                      const struct command_movement *movement,
                                      struct error *err)
{
    const struct node *from = &view->nodes[0].node;
    const struct node *to = &view->nodes[1].node;
    enum error_code code = check_amount(movement->amount_mcs, err);
    if (code == ERR_OK && from->node_no == to->node_no) {
        code = error_set_field(err, ERR_INVALID_FIELD, "to",
                               "%s is where they are: name another node", to->name);
    }
    if (code == ERR_OK && from->root_no != to->root_no) {
        code = error_set_field(err, ERR_INVALID_FIELD, "to",
                               "%s and %s belong to different roots: transfers stay within one",
                               from->name, to->name);
    }
    if (code == ERR_OK) {
        code = check_funded(from, "from", err);
    }
    return code == ERR_OK ? check_funded(to, "to", err) : code;
}

enum error_code decide_transfer(struct view *view,
                                const struct command *command,
                                struct plan *plan,
                                struct error *err)
{
    int64_t mcs = command->movement.amount_mcs;
    enum error_code code = check_transfer(view, &command->movement, err);
    if (code != ERR_OK) {
        return code;
    }
    int64_t available_mcs = available_of(view, view->nodes[0].node.node_no);
    if (mcs > available_mcs) {
        return refuse_insufficient(view, mcs, available_mcs, plan, err);
    }
    code = make_rows(view, mcs, err);
    if (code != ERR_OK) {
        return code;
    }
    for (int32_t i = 0; i < view->grant_count && mcs > 0; i++) {
        if (gives(view, i)) {
            const struct grant *from = &view->grants[i];
            int64_t part_mcs = from->available_mcs < mcs ? from->available_mcs : mcs;
            int32_t to = receiving_row(view, view->nodes[1].node.node_no, from->end_s);
            funds_transfer(view, plan, i, to, part_mcs);
            mcs -= part_mcs;
        }
    }
    funds_repay(view, plan);
    plan->room_freed = true;
    return ERR_OK;
}

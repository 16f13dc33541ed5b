/*
 * The accounts of grants. One function moves an amount between two accounts and writes the entry;
 * the others choose which accounts, in which order. Pure.
 *
 * Invariants, for each row: available = granted + in - out - withdrawn + moved - used - frozen -
 * expired; available >= 0 of a timed row, <= 0 of an overdraft row; the others never below 0. The
 * hold's draws add up to hold.frozen_mcs and lie in the order of the rows.
 */
#include "ledger/core/funds.h"

#include <stddef.h>

#include "ledger/base/check.h"

/* An account: a part of a row. Row ISSUED is the root's. */
struct place {
    int32_t row;
    enum account_part part;
};

enum {
    ROW_ISSUED = -1,
    ROW_NONE = -2,
    CHANGED_BITS = 64,
};

static_assert(VIEW_GRANTS <= 2 * CHANGED_BITS, "plan.grants_changed has a bit for each row");

bool funds_row_is_valid(const struct grant *grant, int64_t now_s)
{
    return grant->start_s <= now_s && now_s < grant->end_s && grant->ended == 0;
}

static bool row_is_valid(const struct view *view, int32_t row)
{
    return funds_row_is_valid(&view->grants[row], view->now_s);
}

static bool row_is_overdraft(const struct view *view, int32_t row)
{
    return view->grants[row].kind == GRANT_OVERDRAFT;
}

const struct node *funds_payer(const struct view *view)
{
    for (int32_t i = 0; view->grant_count > 0 && i < view->node_count; i++) {
        if (view->nodes[i].node.node_no == view->grants[0].node_no) {
            return &view->nodes[i].node;
        }
    }
    return NULL;
}

/* a + b; what leaves int64 stops at its end. */
static int64_t plus(int64_t a, int64_t b)
{
    int64_t sum;
    if (__builtin_add_overflow(a, b, &sum)) {
        return b > 0 ? INT64_MAX : INT64_MIN;
    }
    return sum;
}

int64_t funds_available(const struct view *view)
{
    const struct node *payer = funds_payer(view);
    int64_t available = payer == NULL ? 0 : payer->overdraft_mcs;
    for (int32_t i = 0; i < view->grant_count; i++) {
        if (!row_is_valid(view, i)) {
            continue;
        }
        if (view->grants[i].kind == GRANT_ENDLESS) {
            return INT64_MAX;
        }
        available = plus(available, view->grants[i].available_mcs);
    }
    return available;
}

/* ---- one move ---- */

static int64_t *account(struct grant *grant, enum account_part part)
{
    switch (part) {
    case PART_AVAILABLE:
        return &grant->available_mcs;
    case PART_FROZEN:
        return &grant->frozen_mcs;
    case PART_USED:
        return &grant->used_mcs;
    case PART_EXPIRED:
        return &grant->expired_mcs;
    case PART_ISSUED:
        break;
    }
    assert(false); /* the root's account is in no grant */
    return &grant->available_mcs;
}

static void add_to(int64_t *figure_mcs, int64_t mcs)
{
    bool overflowed = __builtin_add_overflow(*figure_mcs, mcs, figure_mcs);
    assert(!overflowed); /* FUNDS_MOST_MCS was checked where the amount came in */
}

static void change_account(struct view *view, struct plan *plan, struct place at, int64_t mcs)
{
    struct grant *grant = &view->grants[at.row];
    add_to(account(grant, at.part), mcs);
    plan->grants_changed[at.row / CHANGED_BITS] |= UINT64_C(1) << (at.row % CHANGED_BITS);
}

static int64_t place_grant_no(const struct view *view, struct place at)
{
    return at.row == ROW_ISSUED ? 0 : view->grants[at.row].grant_no;
}

static void write_entry(const struct view *view,
                        struct plan *plan,
                        const struct funds_context *context,
                        struct place from,
                        struct place to,
                        int64_t mcs)
{
    assert(plan->entry_count < PLAN_ENTRIES);
    plan->entries[plan->entry_count++] = (struct entry){
        .kind = context->kind,
        .from_part = from.part,
        .to_part = to.part,
        .from_grant_no = place_grant_no(view, from),
        .to_grant_no = place_grant_no(view, to),
        .amount_mcs = mcs,
        .hold_no = context->hold_no,
        .task = context->task,
        .attempt = context->attempt,
        .month = context->month,
        .period = context->period,
    };
}

/* Book one entry. Between rows of one payer moved_mcs follows; transfers, which count in in_mcs and
 * out_mcs, use post_bare(). */
static void post_bare(struct view *view,
                      struct plan *plan,
                      const struct funds_context *context,
                      struct place from,
                      struct place to,
                      int64_t mcs)
{
    assert(mcs > 0);
    if (from.row != ROW_ISSUED) {
        change_account(view, plan, from, -mcs);
    }
    if (to.row != ROW_ISSUED) {
        change_account(view, plan, to, mcs);
    }
    write_entry(view, plan, context, from, to, mcs);
}

static void post(struct view *view,
                 struct plan *plan,
                 const struct funds_context *context,
                 struct place from,
                 struct place to,
                 int64_t mcs)
{
    post_bare(view, plan, context, from, to, mcs);
    if (from.row != to.row) {
        add_to(&view->grants[from.row].moved_mcs, -mcs);
        add_to(&view->grants[to.row].moved_mcs, mcs);
    }
}

/* ---- draws ---- */

static int32_t row_of(const struct view *view, int64_t grant_no)
{
    for (int32_t i = 0; i < view->grant_count; i++) {
        if (view->grants[i].grant_no == grant_no) {
            return i;
        }
    }
    assert(false); /* the view holds all rows that the hold or the run draws on */
    return 0;
}

static int32_t overdraft_row(const struct view *view)
{
    int32_t last = view->grant_count - 1;
    assert(last >= 0 && row_is_overdraft(view, last)); /* every payer has one, at the end */
    return last;
}

static bool draws_have(const struct draw *draws, int32_t count, int64_t grant_no)
{
    for (int32_t i = 0; i < count; i++) {
        if (draws[i].grant_no == grant_no) {
            return true;
        }
    }
    return false;
}

/* The row that takes the place of `row` in a list of draws: itself when the list has it or has room
 * for it, else the overdraft, for which one place is always kept. */
static int32_t drawable_row(const struct view *view,
                            const struct draw *draws,
                            int32_t count,
                            int32_t row)
{
    int32_t overdraft = overdraft_row(view);
    if (row == overdraft || draws_have(draws, count, view->grants[row].grant_no)) {
        return row;
    }
    bool overdraft_drawn = draws_have(draws, count, view->grants[overdraft].grant_no);
    return count < RECORD_DRAWS - (overdraft_drawn ? 0 : 1) ? row : overdraft;
}

static void draws_insert(struct draw *draws, int32_t *count, int32_t at, struct draw draw)
{
    assert(*count < RECORD_DRAWS);
    for (int32_t i = *count; i > at; i--) {
        draws[i] = draws[i - 1];
    }
    draws[at] = draw;
    (*count)++;
}

/* Take from one draw; a draw of 0 leaves the list. */
static void draws_take(struct draw *draws, int32_t *count, int32_t at, int64_t mcs)
{
    assert(draws[at].mcs >= mcs);
    draws[at].mcs -= mcs;
    if (draws[at].mcs > 0) {
        return;
    }
    (*count)--;
    for (int32_t i = at; i < *count; i++) {
        draws[i] = draws[i + 1];
    }
}

static void hold_frozen_add(struct view *view, struct plan *plan, int64_t mcs)
{
    add_to(&view->hold.frozen_mcs, mcs);
    add_to(&plan->delta.frozen_mcs, mcs);
}

static void hold_draw_add(struct view *view, struct plan *plan, int32_t row, int64_t mcs)
{
    struct hold *hold = &view->hold;
    int32_t at = 0;
    while (at < hold->draw_count && row_of(view, hold->draws[at].grant_no) < row) {
        at++;
    }
    int64_t grant_no = view->grants[row].grant_no;
    if (at == hold->draw_count || hold->draws[at].grant_no != grant_no) {
        draws_insert(hold->draws, &hold->draw_count, at,
                     (struct draw){.grant_no = grant_no, .mcs = 0});
    }
    hold->draws[at].mcs += mcs;
    hold_frozen_add(view, plan, mcs);
}

static void hold_draw_take(struct view *view, struct plan *plan, int32_t at, int64_t mcs)
{
    draws_take(view->hold.draws, &view->hold.draw_count, at, mcs);
    hold_frozen_add(view, plan, -mcs);
}

static void run_draw_add(struct view *view, int32_t row, int64_t mcs)
{
    struct run *run = &view->run;
    int64_t grant_no = view->grants[row].grant_no;
    int32_t at = 0;
    while (at < run->draw_count && run->draws[at].grant_no != grant_no) {
        at++;
    }
    if (at == run->draw_count) {
        draws_insert(run->draws, &run->draw_count, at,
                     (struct draw){.grant_no = grant_no, .mcs = 0});
    }
    run->draws[at].mcs += mcs;
    add_to(&view->hold.used_mcs, mcs);
}

static void run_draw_take(struct view *view, int32_t at, int64_t mcs)
{
    draws_take(view->run.draws, &view->run.draw_count, at, mcs);
    add_to(&view->hold.used_mcs, -mcs);
}

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* ---- drawing on available ---- */

/* What may be taken from a row now; the overdraft row has its own rule. */
static int64_t row_offers(const struct view *view, int32_t row)
{
    const struct grant *grant = &view->grants[row];
    if (grant->kind == GRANT_OVERDRAFT || !row_is_valid(view, row)) {
        return 0;
    }
    return grant->kind == GRANT_ENDLESS ? INT64_MAX : grant->available_mcs;
}

/* Whether all rows that mcs may come to lie on have room for it (SPEC 1.1). Timed rows only give
 * what was granted, so only the endless one and the overdraft can grow. */
static enum error_code check_room(const struct view *view, int64_t mcs, struct error *err)
{
    for (int32_t i = 0; i < view->grant_count; i++) {
        const struct grant *grant = &view->grants[i];
        int64_t held_mcs = grant->used_mcs + grant->frozen_mcs + grant->expired_mcs;
        if (grant->kind != GRANT_TIMED && held_mcs > FUNDS_MOST_MCS - mcs) {
            return error_set(err, ERR_INVALID_FIELD,
                             "%lld mcs would take the payer beyond %lld mcs", (long long)mcs,
                             (long long)FUNDS_MOST_MCS);
        }
    }
    return ERR_OK;
}

/* How many draws the hold would have after freezing mcs without force. */
static int32_t draws_after_freeze(const struct view *view, int64_t mcs)
{
    const struct hold *hold = &view->hold;
    int32_t draws = hold->draw_count;
    for (int32_t i = 0; i < view->grant_count && mcs > 0; i++) {
        int64_t take = row_is_overdraft(view, i) ? mcs : smaller(mcs, row_offers(view, i));
        if (take > 0 && !draws_have(hold->draws, hold->draw_count, view->grants[i].grant_no)) {
            draws++;
        }
        mcs -= take;
    }
    return draws;
}

static enum error_code check_freeze(const struct view *view, int64_t mcs, struct error *err)
{
    int64_t available = funds_available(view);
    if (mcs > available) {
        return error_set(err, ERR_QUOTA_INSUFFICIENT, "%lld mcs asked, %lld mcs available",
                         (long long)mcs, (long long)available);
    }
    int32_t draws = draws_after_freeze(view, mcs);
    if (draws > LIMIT_DRAWS && draws > view->hold.draw_count) {
        return error_set(err, ERR_TOO_MANY_DRAWS, "the freeze would draw on %d grants; at most %d",
                         (int)draws, LIMIT_DRAWS);
    }
    return ERR_OK;
}

static void freeze_from(struct view *view,
                        struct plan *plan,
                        const struct funds_context *context,
                        int32_t row,
                        int64_t mcs)
{
    post(view, plan, context, (struct place){row, PART_AVAILABLE}, (struct place){row, PART_FROZEN},
         mcs);
    hold_draw_add(view, plan, row, mcs);
}

enum error_code funds_freeze(struct view *view,
                             struct plan *plan,
                             const struct funds_context *context,
                             int64_t mcs,
                             bool forced,
                             struct error *err)
{
    assert(mcs >= 0);
    if (mcs == 0) {
        return ERR_OK;
    }
    enum error_code code = forced ? ERR_OK : check_freeze(view, mcs, err);
    code = code == ERR_OK ? check_room(view, mcs, err) : code;
    if (code != ERR_OK) {
        return code;
    }
    const struct hold *hold = &view->hold;
    for (int32_t i = 0; i < view->grant_count && mcs > 0; i++) {
        int64_t take = smaller(mcs, row_offers(view, i));
        if (take > 0 && drawable_row(view, hold->draws, hold->draw_count, i) == i) {
            freeze_from(view, plan, context, i, take);
            mcs -= take;
        }
    }
    if (mcs > 0) {
        freeze_from(view, plan, context, overdraft_row(view), mcs);
    }
    return ERR_OK;
}

static void use_from_available(struct view *view,
                               struct plan *plan,
                               const struct funds_context *context,
                               int32_t row,
                               int64_t mcs)
{
    post(view, plan, context, (struct place){row, PART_AVAILABLE}, (struct place){row, PART_USED},
         mcs);
    run_draw_add(view, row, mcs);
}

enum error_code funds_use_over(struct view *view,
                               struct plan *plan,
                               const struct funds_context *context,
                               int64_t mcs,
                               struct error *err)
{
    assert(mcs >= 0);
    enum error_code code = mcs == 0 ? ERR_OK : check_room(view, mcs, err);
    if (code != ERR_OK) {
        return code;
    }
    const struct run *run = &view->run;
    for (int32_t i = 0; i < view->grant_count && mcs > 0; i++) {
        int64_t take = smaller(mcs, row_offers(view, i));
        if (take > 0 && drawable_row(view, run->draws, run->draw_count, i) == i) {
            use_from_available(view, plan, context, i, take);
            mcs -= take;
        }
    }
    if (mcs > 0) {
        use_from_available(view, plan, context, overdraft_row(view), mcs);
    }
    return ERR_OK;
}

/* ---- between frozen and used ---- */

void funds_use_frozen(struct view *view,
                      struct plan *plan,
                      const struct funds_context *context,
                      int64_t mcs)
{
    assert(mcs >= 0 && mcs <= view->hold.frozen_mcs);
    while (mcs > 0) {
        const struct draw *draw = &view->hold.draws[0];
        int32_t from = row_of(view, draw->grant_no);
        int32_t to = drawable_row(view, view->run.draws, view->run.draw_count, from);
        int64_t take = smaller(mcs, draw->mcs);
        post(view, plan, context, (struct place){from, PART_FROZEN}, (struct place){to, PART_USED},
             take);
        hold_draw_take(view, plan, 0, take);
        run_draw_add(view, to, take);
        mcs -= take;
    }
}

void funds_refreeze(struct view *view,
                    struct plan *plan,
                    const struct funds_context *context,
                    int64_t mcs)
{
    assert(mcs >= 0);
    while (mcs > 0) {
        int32_t last = view->run.draw_count - 1;
        assert(last >= 0);
        const struct draw *draw = &view->run.draws[last];
        int32_t from = row_of(view, draw->grant_no);
        int32_t to = drawable_row(view, view->hold.draws, view->hold.draw_count, from);
        int64_t take = smaller(mcs, draw->mcs);
        post(view, plan, context, (struct place){from, PART_USED}, (struct place){to, PART_FROZEN},
             take);
        run_draw_take(view, last, take);
        hold_draw_add(view, plan, to, take);
        mcs -= take;
    }
}

/* ---- giving back ---- */

/* Where core-hours go that an overdraft row need not take back: the latest valid row, else what has
 * expired of the latest ended one, else of the overdraft row itself. */
static struct place rest_place(const struct view *view, int32_t overdraft)
{
    int32_t ended = overdraft;
    for (int32_t i = overdraft - 1; i >= 0; i--) {
        if (row_is_valid(view, i)) {
            return (struct place){i, PART_AVAILABLE};
        }
        if (ended == overdraft && view->grants[i].start_s <= view->now_s) {
            ended = i;
        }
    }
    return (struct place){ended, PART_EXPIRED};
}

struct giving {
    struct view *view;
    struct plan *plan;
    const struct funds_context *context;
    int64_t expired_mcs;
};

static void give(struct giving *giving, struct place from, struct place to, int64_t mcs)
{
    if (mcs == 0) {
        return;
    }
    post(giving->view, giving->plan, giving->context, from, to, mcs);
    if (to.part == PART_EXPIRED) {
        giving->expired_mcs += mcs;
    }
}

/* Give back mcs that lie frozen or used in a row. */
static void give_back(struct giving *giving, struct place from, int64_t mcs)
{
    const struct view *view = giving->view;
    if (!row_is_overdraft(view, from.row)) {
        bool over =
            view->grants[from.row].ended != 0 || view->grants[from.row].end_s <= view->now_s;
        give(giving, from, (struct place){from.row, over ? PART_EXPIRED : PART_AVAILABLE}, mcs);
        return;
    }
    int64_t filled_mcs = smaller(mcs, -view->grants[from.row].available_mcs);
    give(giving, from, (struct place){from.row, PART_AVAILABLE}, filled_mcs);
    give(giving, from, rest_place(view, from.row), mcs - filled_mcs);
}

void funds_unfreeze(struct view *view,
                    struct plan *plan,
                    const struct funds_context *context,
                    int64_t mcs,
                    int64_t *ret_expired)
{
    assert(mcs >= 0 && mcs <= view->hold.frozen_mcs);
    struct giving giving = {.view = view, .plan = plan, .context = context};
    while (mcs > 0) {
        int32_t last = view->hold.draw_count - 1;
        struct place from = {row_of(view, view->hold.draws[last].grant_no), PART_FROZEN};
        int64_t take = smaller(mcs, view->hold.draws[last].mcs);
        hold_draw_take(view, plan, last, take);
        give_back(&giving, from, take);
        mcs -= take;
    }
    funds_repay(view, plan);
    *ret_expired = giving.expired_mcs;
}

void funds_return_used(struct view *view,
                       struct plan *plan,
                       const struct funds_context *context,
                       int64_t mcs,
                       int64_t *ret_expired)
{
    assert(mcs >= 0);
    struct giving giving = {.view = view, .plan = plan, .context = context};
    while (mcs > 0) {
        int32_t last = view->run.draw_count - 1;
        assert(last >= 0);
        struct place from = {row_of(view, view->run.draws[last].grant_no), PART_USED};
        int64_t take = smaller(mcs, view->run.draws[last].mcs);
        run_draw_take(view, last, take);
        give_back(&giving, from, take);
        mcs -= take;
    }
    funds_repay(view, plan);
    *ret_expired = giving.expired_mcs;
}

/* ---- what people do ---- */

static struct funds_context own_context(const struct view *view, enum entry_kind kind)
{
    return (struct funds_context){.month = view->month, .period = view->month, .kind = kind};
}

static void repay_row(struct view *view, struct plan *plan, int32_t overdraft)
{
    const struct funds_context context = own_context(view, ENTRY_REPAY);
    const struct grant *debtor = &view->grants[overdraft];
    for (int32_t i = 0; i < overdraft && debtor->available_mcs < 0; i++) {
        const struct grant *grant = &view->grants[i];
        if (grant->kind != GRANT_TIMED || grant->node_no != debtor->node_no) {
            continue;
        }
        int64_t mcs = smaller(row_offers(view, i), -debtor->available_mcs);
        if (mcs > 0) {
            post(view, plan, &context, (struct place){i, PART_AVAILABLE},
                 (struct place){overdraft, PART_AVAILABLE}, mcs);
        }
    }
}

void funds_repay(struct view *view, struct plan *plan)
{
    for (int32_t i = 0; i < view->grant_count; i++) {
        if (row_is_overdraft(view, i) && view->grants[i].available_mcs < 0) {
            repay_row(view, plan, i);
        }
    }
}

enum error_code funds_issue(struct view *view,
                            struct plan *plan,
                            int32_t row,
                            int64_t mcs,
                            struct error *err)
{
    assert(row >= 0 && row < view->grant_count && view->grants[row].kind == GRANT_TIMED);
    assert(mcs > 0);
    struct grant *grant = &view->grants[row];
    if (mcs > FUNDS_MOST_MCS - grant->granted_mcs - grant->in_mcs) {
        return error_set(err, ERR_INVALID_FIELD, "a grant holds at most %lld mcs",
                         (long long)FUNDS_MOST_MCS);
    }
    const struct funds_context context = own_context(view, ENTRY_GRANT);
    add_to(&grant->granted_mcs, mcs);
    post_bare(view, plan, &context, (struct place){ROW_ISSUED, PART_ISSUED},
              (struct place){row, PART_AVAILABLE}, mcs);
    return ERR_OK;
}

void funds_transfer(struct view *view,
                    struct plan *plan,
                    int32_t from_row,
                    int32_t to_row,
                    int64_t mcs)
{
    assert(from_row != to_row && mcs > 0 && view->grants[from_row].available_mcs >= mcs);
    const struct funds_context context = own_context(view, ENTRY_TRANSFER);
    add_to(&view->grants[from_row].out_mcs, mcs);
    add_to(&view->grants[to_row].in_mcs, mcs);
    post_bare(view, plan, &context, (struct place){from_row, PART_AVAILABLE},
              (struct place){to_row, PART_AVAILABLE}, mcs);
}

static int64_t timed_available(const struct view *view)
{
    int64_t available = 0;
    for (int32_t i = 0; i < view->grant_count; i++) {
        if (view->grants[i].kind == GRANT_TIMED) {
            available = plus(available, row_offers(view, i));
        }
    }
    return available;
}

enum error_code funds_withdraw(struct view *view, struct plan *plan, int64_t mcs, struct error *err)
{
    assert(mcs >= 0);
    int64_t available = timed_available(view);
    if (mcs > available) {
        return error_set(err, ERR_QUOTA_INSUFFICIENT, "%lld mcs to withdraw, %lld mcs available",
                         (long long)mcs, (long long)available);
    }
    const struct funds_context context = own_context(view, ENTRY_WITHDRAW);
    for (int32_t i = 0; i < view->grant_count && mcs > 0; i++) {
        struct grant *grant = &view->grants[i];
        int64_t take = grant->kind == GRANT_TIMED ? smaller(mcs, row_offers(view, i)) : 0;
        if (take == 0) {
            continue;
        }
        add_to(&grant->withdrawn_mcs, take);
        post_bare(view, plan, &context, (struct place){i, PART_AVAILABLE},
                  (struct place){ROW_ISSUED, PART_ISSUED}, take);
        mcs -= take;
    }
    return ERR_OK;
}

void funds_expire(struct view *view, struct plan *plan, int32_t row)
{
    struct grant *grant = &view->grants[row];
    assert(grant->kind == GRANT_TIMED && grant->ended == 0);
    const struct funds_context context = own_context(view, ENTRY_EXPIRE_GRANT);
    grant->ended = 1;
    plan->grants_changed[row / CHANGED_BITS] |= UINT64_C(1) << (row % CHANGED_BITS);
    if (grant->available_mcs > 0) {
        post_bare(view, plan, &context, (struct place){row, PART_AVAILABLE},
                  (struct place){row, PART_EXPIRED}, grant->available_mcs);
    }
}

/* Moves between the accounts of grants: order, overdraft, expiry, conservation (SPEC 3, 9.1). */
#include <stdarg.h>
#include <string.h>

#include <criterion/criterion.h>

#include "ledger/core/funds.h"
#include "ledger/core/plan.h"
#include "tests/lib/random.h"

enum { NOW = 1000, PAYER = 7, HOLD = 3, MONTH = 24322 };

/* Row by row as in a view: what is available, and its validity. */
struct row {
    enum grant_kind kind;
    int64_t start_s;
    int64_t end_s;
    int64_t available_mcs;
};

static struct view view;
static struct plan plan;
static const struct funds_context CONTEXT = {.hold_no = HOLD,
                                             .task = 2,
                                             .attempt = 1,
                                             .month = MONTH,
                                             .period = MONTH - 1,
                                             .kind = ENTRY_FREEZE};

static void setup(int64_t overdraft_mcs, int32_t count, const struct row *rows)
{
    memset(&view, 0, sizeof view);
    plan_reset(&plan);
    view.now_s = NOW;
    view.month = MONTH;
    view.node_count = 3;
    for (int i = 0; i < 3; i++) {
        view.nodes[i].node.node_no = PAYER - 1 + i; /* member, project (the payer), root */
        view.nodes[i].node.overdraft_mcs = i == 1 ? overdraft_mcs : 99999;
    }
    view.hold.hold_no = HOLD;
    view.grant_count = count + 1;
    for (int32_t i = 0; i < count; i++) {
        view.grants[i] = (struct grant){.grant_no = 100 + i,
                                        .node_no = PAYER,
                                        .kind = rows[i].kind,
                                        .start_s = rows[i].start_s,
                                        .end_s = rows[i].end_s,
                                        .granted_mcs = rows[i].available_mcs,
                                        .available_mcs = rows[i].available_mcs};
    }
    view.grants[count] = (struct grant){
        .grant_no = 100 + count, .node_no = PAYER, .kind = GRANT_OVERDRAFT, .end_s = INT64_MAX};
}

static const struct row TWO[] = {{GRANT_TIMED, 0, 2000, 100}, {GRANT_TIMED, 0, 3000, 100}};
static const struct row ENDLESS[] = {{GRANT_TIMED, 0, 2000, 100}, {GRANT_ENDLESS, 0, INT64_MAX, 0}};

static struct grant *overdraft(void)
{
    return &view.grants[view.grant_count - 1];
}

static void freeze(int64_t mcs)
{
    struct error err = {0};
    cr_assert_eq(funds_freeze(&view, &plan, &CONTEXT, mcs, false, &err), ERR_OK, "%s", err.detail);
}

static void force(int64_t mcs)
{
    cr_assert_eq(funds_freeze(&view, &plan, &CONTEXT, mcs, true, NULL), ERR_OK);
}

static void use_over(int64_t mcs)
{
    cr_assert_eq(funds_use_over(&view, &plan, &CONTEXT, mcs, NULL), ERR_OK);
}

static int64_t unfreeze(int64_t mcs)
{
    int64_t expired_mcs = -1;
    funds_unfreeze(&view, &plan, &CONTEXT, mcs, &expired_mcs);
    return expired_mcs;
}

static int64_t return_used(int64_t mcs)
{
    int64_t expired_mcs = -1;
    funds_return_used(&view, &plan, &CONTEXT, mcs, &expired_mcs);
    return expired_mcs;
}

static void expect_draws(const struct draw *draws, int32_t count, int32_t expected_count, ...)
{
    va_list list;
    va_start(list, expected_count);
    cr_assert_eq(count, expected_count, "%d draws", count);
    for (int32_t i = 0; i < expected_count; i++) {
        cr_expect_eq(draws[i].grant_no, va_arg(list, int), "draw %d", i);
        cr_expect_eq(draws[i].mcs, va_arg(list, int), "draw %d", i);
    }
    va_end(list);
}

#define EXPECT_FROZEN(...) expect_draws(view.hold.draws, view.hold.draw_count, __VA_ARGS__)
#define EXPECT_USED(...)   expect_draws(view.run.draws, view.run.draw_count, __VA_ARGS__)

Test(funds, a_freeze_draws_on_the_earliest_end_first_and_names_its_hold_in_each_entry)
{
    setup(0, 2, TWO);
    freeze(150);
    EXPECT_FROZEN(2, 100, 100, 101, 50);
    cr_expect_eq(view.hold.frozen_mcs, 150);
    cr_expect_eq(plan.delta.frozen_mcs, 150);
    cr_expect_eq(plan.grants_changed[0], 3);
    cr_assert_eq(plan.entry_count, 2);
    const struct entry *entry = &plan.entries[1];
    cr_expect_eq(entry->kind, ENTRY_FREEZE);
    cr_expect_eq(entry->from_grant_no, 101);
    cr_expect_eq(entry->from_part, PART_AVAILABLE);
    cr_expect_eq(entry->to_grant_no, 101);
    cr_expect_eq(entry->to_part, PART_FROZEN);
    cr_expect_eq(entry->amount_mcs, 50);
    cr_expect_eq(entry->hold_no, HOLD);
    cr_expect_eq(entry->task, 2);
    cr_expect_eq(entry->attempt, 1);
    cr_expect_eq(entry->month, MONTH);
    cr_expect_eq(entry->period, MONTH - 1);
    freeze(0);
    cr_expect_eq(plan.entry_count, 2, "nothing moves nothing");
}

Test(funds, only_grants_that_are_valid_now_are_drawn_on)
{
    static const struct row rows[] = {{GRANT_TIMED, 0, NOW, 1000},
                                      {GRANT_TIMED, 0, 1500, 1000},
                                      {GRANT_TIMED, NOW, NOW + 1, 10},
                                      {GRANT_TIMED, NOW + 1, 3000, 1000}};
    setup(0, 4, rows);
    view.grants[1].ended = 1;
    cr_expect_eq(funds_available(&view), 10);
    freeze(10);
    EXPECT_FROZEN(1, 102, 10);
    cr_expect_eq(funds_freeze(&view, &plan, &CONTEXT, 1, false, NULL), ERR_QUOTA_INSUFFICIENT);
}

Test(funds, a_freeze_may_take_the_payer_to_its_overdraft_and_no_further)
{
    setup(50, 2, TWO);
    cr_expect_eq(funds_available(&view), 250);
    struct error err = {0};
    struct view before = view;
    cr_expect_eq(funds_freeze(&view, &plan, &CONTEXT, 251, false, &err), ERR_QUOTA_INSUFFICIENT);
    cr_expect_eq(memcmp(&view, &before, sizeof view), 0, "a refusal moves nothing");
    cr_expect_eq(plan.entry_count, 0);
    freeze(250);
    EXPECT_FROZEN(3, 100, 100, 101, 100, 102, 50);
    cr_expect_eq(overdraft()->available_mcs, -50);
    cr_expect_eq(funds_available(&view), 0);
    force(5);
    cr_expect_eq(overdraft()->available_mcs, -55);
    cr_expect_eq(funds_available(&view), -5);
}

Test(funds, a_payer_off_the_path_has_no_overdraft)
{
    setup(50, 2, TWO);
    view.node_count = 1;
    cr_expect_null(funds_payer(&view));
    cr_expect_eq(funds_available(&view), 200);
    view.node_count = 3;
    cr_expect_eq(funds_payer(&view)->node_no, PAYER);
    view.grant_count = 0;
    cr_expect_null(funds_payer(&view));
    cr_expect_eq(funds_available(&view), 0);
}

Test(funds, an_endless_grant_never_ends)
{
    setup(0, 2, ENDLESS);
    cr_expect_eq(funds_available(&view), INT64_MAX);
    freeze(LIMIT_COMMAND_MCS);
    cr_expect_eq(view.grants[0].available_mcs, 0);
    cr_expect_eq(view.grants[1].available_mcs, 100 - LIMIT_COMMAND_MCS);
    cr_expect_eq(overdraft()->available_mcs, 0);
    use_over(77);
    EXPECT_USED(1, 101, 77);
    funds_repay(&view, &plan);
    cr_expect_eq(overdraft()->moved_mcs, 0);
}

Test(funds, sums_that_would_near_the_end_of_int64_are_refused)
{
    setup(0, 2, ENDLESS);
    view.grants[1].used_mcs = FUNDS_MOST_MCS - 30;
    view.grants[1].frozen_mcs = 10;
    view.grants[1].expired_mcs = 10;
    view.grants[1].available_mcs = 10 - FUNDS_MOST_MCS;
    struct error err = {0};
    cr_expect_eq(funds_freeze(&view, &plan, &CONTEXT, 11, false, &err), ERR_INVALID_FIELD);
    cr_expect_eq(funds_freeze(&view, &plan, &CONTEXT, 11, true, &err), ERR_INVALID_FIELD);
    cr_expect_eq(funds_use_over(&view, &plan, &CONTEXT, 11, &err), ERR_INVALID_FIELD);
    cr_expect_eq(plan.entry_count, 0);
    freeze(10);
    view.grants[0].granted_mcs = FUNDS_MOST_MCS - 10;
    cr_expect_eq(funds_issue(&view, &plan, 0, 11, &err), ERR_INVALID_FIELD);
    cr_expect_eq(funds_issue(&view, &plan, 0, 10, &err), ERR_OK);
    view.grant_count = 2;
    view.grants[0].available_mcs = INT64_MAX;
    view.grants[1] = view.grants[0];
    cr_expect_eq(funds_available(&view), INT64_MAX, "a sum for reading stops at the end");
}

Test(funds, a_freeze_draws_on_at_most_16_grants_unless_it_is_forced)
{
    struct row rows[60];
    for (int i = 0; i < 60; i++) {
        rows[i] = (struct row){GRANT_TIMED, 0, 2000 + i, 10};
    }
    setup(1000, 60, rows);
    struct error err = {0};
    cr_expect_eq(funds_freeze(&view, &plan, &CONTEXT, 161, false, &err), ERR_TOO_MANY_DRAWS);
    cr_expect_eq(plan.entry_count, 0);
    freeze(155);
    freeze(5);
    cr_expect_eq(view.hold.draw_count, LIMIT_DRAWS);
    cr_expect_eq(funds_freeze(&view, &plan, &CONTEXT, 1, false, &err), ERR_TOO_MANY_DRAWS);
    force(1000);
    cr_expect_eq(view.hold.draw_count, RECORD_DRAWS);
    cr_expect_eq(view.hold.draws[RECORD_DRAWS - 1].grant_no, 160,
                 "the last place is the overdraft's");
    cr_expect_eq(overdraft()->available_mcs, -(1160 - 10 * (RECORD_DRAWS - 1)));
}

Test(funds, a_hold_of_too_many_grants_may_still_freeze_more_from_those_it_has)
{
    struct row rows[20];
    for (int i = 0; i < 20; i++) {
        rows[i] = (struct row){GRANT_TIMED, 0, 2000 + i, 10};
    }
    setup(1000, 20, rows);
    force(201);
    freeze(1);
    cr_expect_eq(view.hold.draw_count, 21);
    cr_expect_eq(overdraft()->frozen_mcs, 2);
}

Test(funds, use_beyond_48_grants_goes_to_the_overdraft)
{
    struct row rows[60];
    for (int i = 0; i < 60; i++) {
        rows[i] = (struct row){GRANT_TIMED, 0, 2000 + i, 10};
    }
    setup(0, 60, rows);
    use_over(600);
    cr_expect_eq(view.run.draw_count, RECORD_DRAWS);
    cr_expect_eq(overdraft()->used_mcs, 600 - 10 * (RECORD_DRAWS - 1));
    /* Frozen of a grant for which the run has no room left is used from the overdraft as well. */
    force(10);
    cr_expect_eq(view.hold.draws[0].grant_no, 100 + RECORD_DRAWS - 1);
    funds_use_frozen(&view, &plan, &CONTEXT, 10);
    cr_expect_eq(view.run.draw_count, RECORD_DRAWS);
    cr_expect_eq(overdraft()->used_mcs, 610 - 10 * (RECORD_DRAWS - 1));
    cr_expect_eq(overdraft()->moved_mcs, 10);
    cr_expect_eq(view.grants[RECORD_DRAWS - 1].moved_mcs, -10);
    cr_expect_eq(view.grants[RECORD_DRAWS - 1].frozen_mcs, 0);
}

Test(funds, what_returns_goes_to_the_latest_end_first)
{
    setup(50, 2, TWO);
    freeze(230);
    cr_expect_eq(unfreeze(80), 0);
    EXPECT_FROZEN(2, 100, 100, 101, 50);
    cr_expect_eq(overdraft()->available_mcs, 0);
    cr_expect_eq(view.grants[1].available_mcs, 50);
    cr_expect_eq(unfreeze(150), 0);
    EXPECT_FROZEN(0);
    cr_expect_eq(view.hold.frozen_mcs, 0);
    cr_expect_eq(plan.delta.frozen_mcs, 0);
}

Test(funds, what_returns_to_a_grant_that_has_ended_is_expired)
{
    setup(0, 2, TWO);
    freeze(200);
    view.now_s = 2000;
    cr_expect_eq(unfreeze(150), 50);
    cr_expect_eq(view.grants[1].available_mcs, 100);
    cr_expect_eq(view.grants[0].expired_mcs, 50);
    cr_expect_eq(view.grants[0].available_mcs, 0);
    view.grants[0].ended = 1;
    cr_expect_eq(unfreeze(50), 50);
    cr_expect_eq(view.grants[0].expired_mcs, 100);
}

Test(funds, use_consumes_the_earliest_end_first_and_refunds_the_last_first)
{
    setup(0, 2, TWO);
    freeze(150);
    funds_use_frozen(&view, &plan, &CONTEXT, 120);
    EXPECT_FROZEN(1, 101, 30);
    EXPECT_USED(2, 100, 100, 101, 20);
    cr_expect_eq(view.hold.used_mcs, 120);
    cr_expect_eq(view.hold.frozen_mcs, 30);
    cr_expect_eq(return_used(30), 0);
    EXPECT_USED(1, 100, 90);
    cr_expect_eq(view.grants[1].available_mcs, 70);
    cr_expect_eq(view.grants[0].available_mcs, 10);
    cr_expect_eq(view.hold.used_mcs, 90);
}

Test(funds, use_above_the_freeze_takes_valid_grants_and_then_overdraft_without_limit)
{
    setup(0, 2, TWO);
    freeze(100);
    funds_use_frozen(&view, &plan, &CONTEXT, 100);
    use_over(1100);
    EXPECT_USED(3, 100, 100, 101, 100, 102, 1000);
    cr_expect_eq(overdraft()->available_mcs, -1000);
    cr_expect_eq(funds_available(&view), -1000);
    use_over(0);
    cr_expect_eq(view.hold.used_mcs, 1200);
}

Test(funds, an_overdraft_that_was_repaid_gives_to_the_latest_valid_grant)
{
    setup(100, 2, TWO);
    freeze(260);
    cr_assert_eq(funds_issue(&view, &plan, 1, 1000, NULL), ERR_OK);
    funds_repay(&view, &plan);
    cr_expect_eq(overdraft()->available_mcs, 0);
    cr_expect_eq(overdraft()->moved_mcs, 60);
    cr_expect_eq(view.grants[1].moved_mcs, -60);
    cr_expect_eq(view.grants[1].available_mcs, 940);
    cr_expect_eq(unfreeze(60), 0);
    cr_expect_eq(view.grants[1].available_mcs, 1000);
    cr_expect_eq(overdraft()->available_mcs, 0);
    cr_expect_eq(overdraft()->moved_mcs, 0);
}

Test(funds, without_a_valid_grant_the_rest_of_an_overdraft_expires_with_the_latest_ended_one)
{
    setup(100, 2, TWO);
    freeze(260);
    cr_assert_eq(funds_issue(&view, &plan, 1, 60, NULL), ERR_OK);
    funds_repay(&view, &plan);
    view.now_s = 5000;
    cr_expect_eq(unfreeze(60), 60);
    cr_expect_eq(view.grants[1].expired_mcs, 60);
    cr_expect_eq(view.grants[0].expired_mcs, 0);
}

Test(funds, where_no_grant_was_ever_loaded_the_overdraft_row_keeps_what_expires)
{
    setup(100, 0, TWO);
    freeze(60);
    overdraft()->available_mcs = 0; /* repaid by a grant that has ended since */
    overdraft()->moved_mcs = 60;
    cr_expect_eq(unfreeze(60), 60);
    cr_expect_eq(overdraft()->expired_mcs, 60);
    cr_expect_eq(overdraft()->frozen_mcs, 0);
}

Test(funds, what_returns_repays_the_overdraft_before_it_is_available)
{
    setup(0, 2, TWO);
    freeze(150);
    use_over(80); /* 50 of grant 101, 30 of the overdraft */
    cr_expect_eq(overdraft()->available_mcs, -30);
    cr_expect_eq(unfreeze(100), 0);
    cr_expect_eq(overdraft()->available_mcs, 0);
    cr_expect_eq(view.grants[0].available_mcs + view.grants[1].available_mcs, 70);
    const struct entry *entry = &plan.entries[plan.entry_count - 1];
    cr_expect_eq(entry->kind, ENTRY_REPAY);
    cr_expect_eq(entry->to_grant_no, 102);
    cr_expect_eq(entry->amount_mcs, 30);
    cr_expect_eq(entry->hold_no, 0);
}

Test(funds, a_provisional_charge_taken_back_is_frozen_again_where_it_was)
{
    setup(0, 2, TWO);
    freeze(150);
    funds_use_frozen(&view, &plan, &CONTEXT, 120);
    view.now_s = 2500; /* the first grant has ended meanwhile: it still counts as drawn */
    funds_refreeze(&view, &plan, &CONTEXT, 60);
    EXPECT_FROZEN(2, 100, 40, 101, 50);
    EXPECT_USED(1, 100, 60);
    cr_expect_eq(view.hold.frozen_mcs, 90);
    cr_expect_eq(view.hold.used_mcs, 60);
}

Test(funds, a_withdrawal_takes_from_valid_grants_what_is_available)
{
    setup(1000, 2, TWO);
    freeze(30);
    struct error err = {0};
    cr_expect_eq(funds_withdraw(&view, &plan, 171, &err), ERR_QUOTA_INSUFFICIENT);
    cr_expect_eq(plan.entry_count, 1);
    cr_expect_eq(funds_withdraw(&view, &plan, 80, &err), ERR_OK);
    cr_expect_eq(view.grants[0].withdrawn_mcs, 70);
    cr_expect_eq(view.grants[1].withdrawn_mcs, 10);
    cr_expect_eq(view.grants[1].available_mcs, 90);
    const struct entry *entry = &plan.entries[plan.entry_count - 1];
    cr_expect_eq(entry->kind, ENTRY_WITHDRAW);
    cr_expect_eq(entry->to_part, PART_ISSUED);
    cr_expect_eq(entry->to_grant_no, 0);
}

Test(funds, a_transfer_counts_out_of_one_grant_and_into_another)
{
    setup(0, 2, TWO);
    view.grants[1].node_no = PAYER + 1;
    funds_transfer(&view, &plan, 0, 1, 40);
    cr_expect_eq(view.grants[0].available_mcs, 60);
    cr_expect_eq(view.grants[0].out_mcs, 40);
    cr_expect_eq(view.grants[1].available_mcs, 140);
    cr_expect_eq(view.grants[1].in_mcs, 40);
    cr_expect_eq(view.grants[0].moved_mcs, 0);
    cr_expect_eq(plan.entries[0].kind, ENTRY_TRANSFER);
    cr_expect_eq(plan.entries[0].month, MONTH);
    overdraft()->available_mcs = -100;
    overdraft()->used_mcs = 100;
    funds_repay(&view, &plan);
    cr_expect_eq(overdraft()->available_mcs, -40, "only grants of the same payer repay");
}

Test(funds, a_grant_that_ends_expires_its_rest)
{
    setup(0, 2, TWO);
    freeze(30);
    funds_expire(&view, &plan, 0);
    cr_expect_eq(view.grants[0].ended, 1);
    cr_expect_eq(view.grants[0].available_mcs, 0);
    cr_expect_eq(view.grants[0].expired_mcs, 70);
    cr_expect_eq(plan.entry_count, 2);
    view.grants[1].available_mcs = 0;
    plan.grants_changed[0] = 0;
    funds_expire(&view, &plan, 1);
    cr_expect_eq(plan.entry_count, 2, "nothing left, no entry");
    cr_expect_eq(plan.grants_changed[0], 2, "but it is marked as ended");
}

/* ---- conservation, after any sequence of moves ---- */

enum { ROWS = 70 };

/* The accounts again, from the entries alone: [row][part]; the issued account is the root's. */
static int64_t accounts[ROWS][PART_EXPIRED + 1];
static int64_t issued;

static void apply_entries(void)
{
    for (int32_t i = 0; i < plan.entry_count; i++) {
        const struct entry *entry = &plan.entries[i];
        cr_assert_gt(entry->amount_mcs, 0);
        if (entry->from_part == PART_ISSUED) {
            issued -= entry->amount_mcs;
        } else {
            accounts[entry->from_grant_no - 100][entry->from_part] -= entry->amount_mcs;
        }
        if (entry->to_part == PART_ISSUED) {
            issued += entry->amount_mcs;
        } else {
            accounts[entry->to_grant_no - 100][entry->to_part] += entry->amount_mcs;
        }
    }
}

static void check_row(int32_t row)
{
    const struct grant *grant = &view.grants[row];
    cr_assert_eq(accounts[row][PART_AVAILABLE], grant->available_mcs);
    cr_assert_eq(accounts[row][PART_FROZEN], grant->frozen_mcs);
    cr_assert_eq(accounts[row][PART_USED], grant->used_mcs);
    cr_assert_eq(accounts[row][PART_EXPIRED], grant->expired_mcs);
    cr_assert_eq(grant->available_mcs,
                 grant->granted_mcs + grant->in_mcs - grant->out_mcs - grant->withdrawn_mcs +
                     grant->moved_mcs - grant->used_mcs - grant->frozen_mcs - grant->expired_mcs);
    cr_assert_geq(grant->frozen_mcs, 0);
    cr_assert_geq(grant->used_mcs, 0);
    cr_assert_geq(grant->expired_mcs, 0);
    cr_assert(grant->kind != GRANT_TIMED || grant->available_mcs >= 0);
    cr_assert(grant->kind != GRANT_OVERDRAFT || grant->available_mcs <= 0);
}

/* The draws add up to `total`, name each grant once, and hold no empty one. */
static void check_draws(const struct draw *draws, int32_t count, int64_t total)
{
    int64_t sum = 0;
    cr_assert_leq(count, RECORD_DRAWS);
    for (int32_t i = 0; i < count; i++) {
        cr_assert_gt(draws[i].mcs, 0);
        sum += draws[i].mcs;
        for (int32_t j = 0; j < i; j++) {
            cr_assert_neq(draws[j].grant_no, draws[i].grant_no);
        }
    }
    cr_assert_eq(sum, total);
}

static void check_all(int64_t frozen_before)
{
    int64_t frozen = 0;
    int64_t used = 0;
    int64_t moved = 0;
    int64_t conserved = 0;
    apply_entries();
    for (int32_t i = 0; i < view.grant_count; i++) {
        check_row(i);
        frozen += view.grants[i].frozen_mcs;
        used += view.grants[i].used_mcs;
        moved += view.grants[i].moved_mcs;
        conserved += view.grants[i].available_mcs + view.grants[i].frozen_mcs +
                     view.grants[i].used_mcs + view.grants[i].expired_mcs;
    }
    cr_assert_eq(frozen, view.hold.frozen_mcs);
    cr_assert_eq(used, view.hold.used_mcs);
    cr_assert_eq(moved, 0);
    cr_assert_eq(plan.delta.frozen_mcs, frozen - frozen_before);
    cr_assert_eq(issued + conserved, 0, "core-hours come from the root and go back to it only");
    cr_assert(plan_is_balanced(&plan));
    check_draws(view.hold.draws, view.hold.draw_count, frozen);
    check_draws(view.run.draws, view.run.draw_count, used);
    for (int32_t i = 1; i < view.hold.draw_count; i++) {
        cr_assert_lt(view.hold.draws[i - 1].grant_no, view.hold.draws[i].grant_no, "by row");
    }
}

/* Rows that changed but are not marked would be lost. */
static void check_marks(const struct view *before)
{
    for (int32_t i = 0; i < view.grant_count; i++) {
        bool marked = (plan.grants_changed[i / 64] >> (i % 64) & 1) != 0;
        bool changed = memcmp(&before->grants[i], &view.grants[i], sizeof view.grants[i]) != 0;
        cr_assert(marked || !changed);
    }
}

static int64_t naive_available(void)
{
    int64_t sum = view.nodes[1].node.overdraft_mcs + overdraft()->available_mcs;
    for (int32_t i = 0; i + 1 < view.grant_count; i++) {
        const struct grant *grant = &view.grants[i];
        if (grant->start_s <= view.now_s && view.now_s < grant->end_s && grant->ended == 0) {
            sum += grant->kind == GRANT_ENDLESS ? INT64_C(1) << 60 : grant->available_mcs;
        }
    }
    return sum;
}

static void random_setup(struct test_random *random)
{
    struct row rows[ROWS];
    int32_t count =
        (int32_t)(test_random_chance(random, 1, 4) ? test_random_range(random, 40, ROWS - 1)
                                                   : test_random_range(random, 0, 6));
    int64_t end_s = 900;
    for (int32_t i = 0; i < count; i++) {
        end_s += test_random_range(random, 0, 200);
        rows[i] = (struct row){GRANT_TIMED, test_random_range(random, 0, 1100), end_s, 0};
    }
    if (count > 0 && test_random_chance(random, 1, 8)) {
        rows[count - 1] = (struct row){GRANT_ENDLESS, 0, INT64_MAX, 0};
    }
    setup(test_random_range(random, 0, 3) * 50, count, rows);
    memset(accounts, 0, sizeof accounts);
    issued = 0;
}

/* Returns what was frozen. */
static int64_t random_freeze(struct test_random *random)
{
    bool forced = test_random_chance(random, 1, 4);
    int64_t mcs = test_random_range(random, 0, 300);
    bool fits = mcs <= naive_available() || mcs == 0;
    int32_t draws_before = view.hold.draw_count;
    enum error_code code = funds_freeze(&view, &plan, &CONTEXT, mcs, forced, NULL);
    int32_t draws = view.hold.draw_count;
    if (forced) {
        cr_assert_eq(code, ERR_OK);
    } else if (!fits) {
        cr_assert_eq(code, ERR_QUOTA_INSUFFICIENT);
    } else {
        cr_assert(code == ERR_OK || code == ERR_TOO_MANY_DRAWS);
        cr_assert(code != ERR_OK || draws <= LIMIT_DRAWS || draws == draws_before);
    }
    return code == ERR_OK ? mcs : 0;
}

static void random_withdrawal(struct test_random *random)
{
    int64_t mcs = test_random_range(random, 0, 100);
    enum error_code code = funds_withdraw(&view, &plan, mcs, NULL);
    int64_t withdrawn = 0;
    for (int32_t i = 0; i < plan.entry_count; i++) {
        withdrawn += plan.entries[i].amount_mcs;
    }
    cr_assert_eq(withdrawn, code == ERR_OK ? mcs : 0);
}

static void random_person(struct test_random *random)
{
    int32_t timed = 0;
    while (view.grants[timed].kind == GRANT_TIMED) {
        timed++;
    }
    view.now_s += test_random_range(random, 0, 30);
    if (timed == 0) {
        return;
    }
    int32_t row = (int32_t)test_random_range(random, 0, timed - 1);
    int32_t other = (int32_t)test_random_range(random, 0, timed - 1);
    struct grant *grant = &view.grants[row];
    switch (test_random_range(random, 0, 3)) {
    case 0:
        if (grant->ended == 0) {
            cr_assert_eq(funds_issue(&view, &plan, row, test_random_range(random, 1, 400), NULL),
                         ERR_OK);
            funds_repay(&view, &plan);
        }
        break;
    case 1:
        random_withdrawal(random);
        break;
    case 2:
        if (grant->ended == 0 && grant->end_s <= view.now_s) {
            funds_expire(&view, &plan, row);
        }
        break;
    default:
        if (row != other && grant->available_mcs > 0 && view.grants[other].ended == 0) {
            funds_transfer(&view, &plan, row, other,
                           test_random_range(random, 1, grant->available_mcs));
        }
        break;
    }
}

/* What a move takes from the hold's frozen and adds to its use. */
struct effect {
    int64_t frozen_mcs;
    int64_t used_mcs;
};

static int64_t expired_sum(void)
{
    int64_t expired = 0;
    for (int32_t i = 0; i < view.grant_count; i++) {
        expired += view.grants[i].expired_mcs;
    }
    return expired;
}

/* What returned is told, and has repaid the overdraft before it lies available. */
static void check_return(int64_t expired_before, int64_t told)
{
    cr_assert_eq(told, expired_sum() - expired_before);
    for (int32_t i = 0; i < view.grant_count; i++) {
        const struct grant *grant = &view.grants[i];
        cr_assert_not(overdraft()->available_mcs < 0 && grant->kind == GRANT_TIMED &&
                      funds_row_is_valid(grant, view.now_s) && grant->available_mcs > 0);
    }
}

static struct effect random_hold_move(struct test_random *random)
{
    int64_t expired = expired_sum();
    int64_t frozen = test_random_range(random, 0, view.hold.frozen_mcs);
    int64_t used = test_random_range(random, 0, view.hold.used_mcs);
    int64_t over = test_random_range(random, 0, 200);
    switch (test_random_range(random, 0, 4)) {
    case 0:
        funds_use_frozen(&view, &plan, &CONTEXT, frozen);
        return (struct effect){-frozen, frozen};
    case 1:
        use_over(over);
        return (struct effect){0, over};
    case 2:
        funds_refreeze(&view, &plan, &CONTEXT, used);
        return (struct effect){used, -used};
    case 3:
        check_return(expired, unfreeze(frozen));
        return (struct effect){-frozen, 0};
    default:
        check_return(expired, return_used(used));
        return (struct effect){0, -used};
    }
}

/* Any move; the hold's sums change by exactly what was asked. */
static void random_move(struct test_random *random)
{
    struct effect now = {view.hold.frozen_mcs, view.hold.used_mcs};
    struct effect effect = {0, 0};
    switch (test_random_range(random, 0, 6)) {
    case 0:
        effect.frozen_mcs = random_freeze(random);
        break;
    case 1:
        random_person(random);
        break;
    default:
        effect = random_hold_move(random);
        break;
    }
    cr_assert_eq(view.hold.frozen_mcs, now.frozen_mcs + effect.frozen_mcs);
    cr_assert_eq(view.hold.used_mcs, now.used_mcs + effect.used_mcs);
}

Test(funds, balances_are_the_sums_of_entries_after_any_sequence_of_moves)
{
    struct test_random random;
    test_random_init(&random, "funds/conservation");
    static struct view before;
    for (int64_t round = test_rounds(300); round > 0; round--) {
        random_setup(&random);
        for (int step = 0; step < 120; step++) {
            plan_reset(&plan);
            before = view;
            random_move(&random);
            check_all(before.hold.frozen_mcs);
            check_marks(&before);
        }
    }
}

/* Grants, their end, transfers, withdrawals (SPEC 3). */
#include <string.h>

#include <criterion/criterion.h>

#include "ledger/core/decide_money.h"

enum { ACME_NO = 13, AI_NO = 12, NOW = 1000000 };

static struct view view;
static struct plan plan;
static struct error err;

static void add_row(int64_t node_no, enum grant_kind kind, int64_t end_s, int64_t available_mcs)
{
    view.grants[view.grant_count++] = (struct grant){
        .grant_no = view.grant_count + 1,
        .root_no = ACME_NO,
        .node_no = node_no,
        .kind = kind,
        .end_s = end_s,
        .granted_mcs = kind == GRANT_TIMED ? available_mcs : 0,
        .moved_mcs = kind == GRANT_TIMED ? 0 : available_mcs,
        .available_mcs = available_mcs,
    };
}

static void name_node(int at, int64_t node_no, const char *name)
{
    view.nodes[at].node =
        (struct node){.node_no = node_no, .root_no = ACME_NO, .funding = FUNDING_SELF};
    strcpy(view.nodes[at].node.name, name);
}

/* acme has 100 until 2000000 and 50 until 3000000; acme-ai owes 30. */
static void begin(void)
{
    memset(&view, 0, sizeof view);
    plan_reset(&plan);
    error_clear(&err);
    view.now_s = NOW;
    view.next_grant_no = 100;
    view.node_count = 2;
    name_node(0, ACME_NO, "acme");
    name_node(1, AI_NO, "acme-ai");
    add_row(ACME_NO, GRANT_TIMED, 2000000, 100);
    add_row(ACME_NO, GRANT_TIMED, 3000000, 50);
    add_row(ACME_NO, GRANT_OVERDRAFT, INT64_MAX, 0);
    add_row(AI_NO, GRANT_OVERDRAFT, INT64_MAX, -30);
}

TestSuite(money, .init = begin);

static struct command movement(int64_t mcs, int64_t start_s, int64_t end_s)
{
    return (struct command){.movement = {.amount_mcs = mcs, .start_s = start_s, .end_s = end_s}};
}

static enum error_code grant(int64_t mcs, int64_t start_s, int64_t end_s)
{
    struct command command = movement(mcs, start_s, end_s);
    return decide_grant(&view, &command, 1, &plan, &err);
}

static enum error_code transfer(int64_t mcs)
{
    struct command command = movement(mcs, 0, 0);
    return decide_transfer(&view, &command, &plan, &err);
}

static enum error_code withdraw(int64_t mcs)
{
    struct command command = movement(mcs, 0, 0);
    return decide_withdraw(&view, &command, &plan, &err);
}

/* acme's second row is the new one; acme owes 40. */
static void begin_grant(void)
{
    view.grant_count = 3;
    view.grants[1] = (struct grant){.grant_no = 2, .root_no = ACME_NO, .node_no = ACME_NO};
    view.grants[0].available_mcs = 0;
    view.grants[0].withdrawn_mcs = 100;
    view.grants[2].available_mcs = -40;
}

Test(money, a_grant_repays_overdraft_first)
{
    begin_grant();
    cr_expect_eq(grant(100, 0, 2500000), ERR_OK);
    cr_expect_eq(view.grants[1].available_mcs, 60);
    cr_expect_eq(view.grants[1].start_s, NOW);
    cr_expect_eq(view.grants[1].end_s, 2500000);
    cr_expect_eq(view.grants[2].available_mcs, 0);
    cr_expect(plan.room_freed);
    cr_expect_eq(plan.entry_count, 2);
    cr_expect_eq(plan.entries[0].from_part, PART_ISSUED);
    cr_expect_eq(plan.entries[1].kind, ENTRY_REPAY);
}

Test(money, a_grant_that_begins_later_gives_nothing_yet)
{
    begin_grant();
    cr_expect_eq(grant(100, NOW + 1, 0), ERR_OK);
    cr_expect_eq(view.grants[1].available_mcs, 100);
    cr_expect_eq(view.grants[1].end_s, INT64_MAX);
    cr_expect_eq(view.grants[2].available_mcs, -40);
    cr_expect_not(plan.room_freed);
}

Test(money, a_grant_ends_after_it_starts_and_after_now)
{
    begin_grant();
    cr_expect_eq(grant(1, 2000000, 2000000), ERR_INVALID_FIELD);
    cr_expect_str_eq(err.field, "end");
    cr_expect_eq(grant(1, 10, NOW), ERR_INVALID_FIELD);
    cr_expect_str_eq(err.field, "end");
    cr_expect_eq(grant(0, 0, 0), ERR_INVALID_FIELD);
    cr_expect_str_eq(err.field, "core_hours");
    cr_expect_eq(grant(LIMIT_COMMAND_MCS + 1, 0, 0), ERR_INVALID_FIELD);
    cr_expect_eq(plan.entry_count, 0);
}

Test(money, only_nodes_funded_by_self_are_named)
{
    view.nodes[0].node.funding = FUNDING_PARENT;
    cr_expect_eq(withdraw(1), ERR_NOT_FUNDED_HERE);
    cr_expect_eq(transfer(1), ERR_NOT_FUNDED_HERE);
    cr_expect_str_eq(err.field, "from");
    view.nodes[0].node.funding = FUNDING_SELF;
    view.nodes[1].node.funding = FUNDING_PARENT;
    cr_expect_eq(transfer(1), ERR_NOT_FUNDED_HERE);
    cr_expect_str_eq(err.field, "to");
    begin_grant();
    view.nodes[0].node.funding = FUNDING_UNLIMITED;
    cr_expect_eq(grant(1, 0, 0), ERR_NOT_FUNDED_HERE);
}

Test(money, at_its_end_the_rest_of_a_grant_repays_and_then_expires)
{
    view.grants[2].available_mcs = -30;
    view.now_s = 1999999;
    cr_expect_eq(decide_grant_end(&view, 0, &plan, &err), ERR_OK);
    cr_expect(plan.no_effect);
    plan_reset(&plan);
    view.now_s = 2000000;
    cr_expect_eq(decide_grant_end(&view, 0, &plan, &err), ERR_OK);
    cr_expect_eq(view.grants[0].available_mcs, 0);
    cr_expect_eq(view.grants[0].expired_mcs, 70);
    cr_expect_eq(view.grants[0].end_s, 2000000);
    cr_expect_eq(view.grants[0].ended, 1);
    cr_expect_eq(view.grants[2].available_mcs, 0);
    cr_expect(plan_is_balanced(&plan));
    plan_reset(&plan);
    cr_expect_eq(decide_grant_end(&view, 0, &plan, &err), ERR_OK);
    cr_expect(plan.no_effect);
}

Test(money, a_withdrawal_takes_the_earliest_ending_first_and_no_more_than_there_is)
{
    cr_expect_eq(withdraw(151), ERR_QUOTA_INSUFFICIENT);
    cr_expect_eq(plan.violation_count, 1);
    cr_expect_eq(plan.violations[0].kind, CAP_FUNDS);
    cr_expect_eq(plan.violations[0].missing, 1);
    plan_reset(&plan);
    cr_expect_eq(withdraw(120), ERR_OK);
    cr_expect_eq(view.grants[0].available_mcs, 0);
    cr_expect_eq(view.grants[1].available_mcs, 30);
    cr_expect_eq(plan.entry_count, 2);
    cr_expect_not(plan.room_freed);
}

Test(money, a_transfer_keeps_validity_and_repays_the_receiver)
{
    cr_expect_eq(transfer(120), ERR_OK);
    cr_assert_eq(view.grant_count, 6);
    cr_expect_eq(view.grants[0].available_mcs, 0);
    cr_expect_eq(view.grants[0].out_mcs, 100);
    cr_expect_eq(view.grants[1].node_no, AI_NO);
    cr_expect_eq(view.grants[1].grant_no, 100);
    cr_expect_eq(view.grants[1].end_s, 2000000);
    cr_expect_eq(view.grants[1].in_mcs, 100);
    cr_expect_eq(view.grants[1].available_mcs, 70, "30 were owed");
    cr_expect_eq(view.grants[2].available_mcs, 30);
    cr_expect_eq(view.grants[3].node_no, AI_NO);
    cr_expect_eq(view.grants[3].end_s, 3000000);
    cr_expect_eq(view.grants[3].available_mcs, 20);
    cr_expect_eq(view.grants[5].available_mcs, 0);
    cr_expect_eq(view.next_grant_no, 102);
    cr_expect(plan.room_freed);
    cr_expect_eq(plan.grants_changed[0], 0x2f, "all but acme's overdraft");
}

Test(money, a_second_transfer_fills_the_row_of_the_first)
{
    cr_assert_eq(transfer(40), ERR_OK);
    plan_reset(&plan);
    cr_expect_eq(transfer(40), ERR_OK);
    cr_expect_eq(view.grant_count, 5);
    cr_expect_eq(view.grants[1].in_mcs, 80);
    cr_expect_eq(plan.entry_count, 1);
}

Test(money, a_transfer_goes_to_another_node_of_the_same_root)
{
    cr_expect_eq(transfer(151), ERR_QUOTA_INSUFFICIENT);
    view.nodes[1].node.root_no = 99;
    cr_expect_eq(transfer(1), ERR_INVALID_FIELD);
    cr_expect_str_eq(err.field, "to");
    view.nodes[1] = view.nodes[0];
    cr_expect_eq(transfer(1), ERR_INVALID_FIELD);
    cr_expect_eq(plan.entry_count, 0);
}

Test(money, a_transfer_that_has_no_room_for_its_rows_moves_nothing)
{
    view.grant_count = 0;
    for (int i = 0; i < VIEW_GRANTS - 1; i++) {
        add_row(ACME_NO, GRANT_TIMED, 2000000 + i, 1);
    }
    add_row(ACME_NO, GRANT_OVERDRAFT, INT64_MAX, 0);
    cr_expect_eq(transfer(5), ERR_TOO_MANY_DRAWS);
    cr_expect_eq(plan.entry_count, 0);
}

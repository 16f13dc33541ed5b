/* Settle, correct, refund, charge, requeue: what use costs and what comes back (SPEC 5.5 to 5.11, 8). */
#include <string.h>

#include <criterion/criterion.h>

#include "ledger/core/hold_state.h"
#include "tests/lib/world.h"

#define SECOND_MCS 16000
#define DECEMBER   (2026 * 12 + 11)
#define NOVEMBER   (DECEMBER - 1)

static struct world *world;

static enum error_code act(struct command command)
{
    return world_do(world, &command);
}

/* A hold of `tasks` tasks, one A100 for limit_s each, made long ago. */
static void begin_with(int64_t tasks, int64_t limit_s)
{
    world = world_new();
    struct command freeze = freeze_command("a", 1, limit_s);
    freeze.freeze.tasks = tasks;
    cr_assert_eq(act(freeze), ERR_OK);
    world->now_s += 86400 * 10;
}

static void begin(void)
{
    begin_with(1, 300);
}

TestSuite(settle, .init = begin);

static void expect_totals(int64_t charged, int64_t refunded, int64_t overrun)
{
    cr_expect_eq(world->plan.run_charged_mcs, charged);
    cr_expect_eq(world->plan.run_refunded_mcs, refunded);
    cr_expect_eq(world->plan.run_overrun_mcs, overrun);
}

Test(settle, a_job_that_ends_early_gets_the_rest_back)
{
    cr_expect_eq(act(settle_command(0, 0, 0, 60)), ERR_OK);
    expect_totals(960000, 3840000, 0);
    cr_expect_eq(world_available(world), 1000 * HOUR_MCS - 960000);
    cr_expect_eq(world_hold(world)->frozen_mcs, 0);
    cr_expect(world->plan.room_freed);
    cr_expect_neq(world_hold(world)->bound_ms, 0);
}

Test(settle, books_the_overrun_when_the_job_ran_long)
{
    cr_expect_eq(act(settle_command(0, 0, 0, 400)), ERR_OK);
    expect_totals(400 * SECOND_MCS, 0, 100 * SECOND_MCS);
    cr_expect(world->plan.warnings & FLAG_OVERRUN);
}

Test(settle, books_use_above_everything_granted_into_overdraft)
{
    cr_expect_eq(act(settle_command(0, 0, 0, 86400 * 5)), ERR_OK);
    cr_expect_lt(world_available(world), 0);
    cr_expect_eq(world_hold(world)->used_mcs, 86400LL * 5 * SECOND_MCS);
    world_grant(world, 2000 * HOUR_MCS, WORLD_NOW, NOT_GIVEN);
    cr_expect_gt(world_available(world), 0);
    cr_expect_eq(world->grants[world->grant_count - 1].available_mcs, 0, "repaid first");
}

Test(settle, a_charge_is_one_entry_whatever_the_depth_of_the_tree)
{
    cr_assert_eq(act(settle_command(0, 0, 0, 300)), ERR_OK);
    cr_expect_eq(world->plan.entry_count, 1);
    cr_expect_eq(world->plan.entries[0].kind, ENTRY_CHARGE);
    cr_expect_eq(world->plan.entries[0].amount_mcs, JOB_MCS);
    cr_expect_eq(world->plan.usage_count, 1);
}

Test(settle, a_run_of_length_0_is_legal_and_costs_nothing)
{
    cr_expect_eq(act(settle_command(0, 0, 5, 5)), ERR_OK);
    expect_totals(0, JOB_MCS, 0);
    cr_expect_eq(world->plan.usage_count, 1, "the run is counted");
}

Test(settle, times_may_precede_the_freeze)
{
    cr_expect_eq(act(settle_command(0, 0, -7200, -7140)), ERR_OK);
    expect_totals(960000, 3840000, 0);
}

Test(settle, an_end_before_the_start_is_refused)
{
    cr_expect_eq(act(settle_command(0, 0, 10, 9)), ERR_INVALID_FIELD);
    cr_expect_str_eq(world->err.field, "ended_at");
    cr_assert_eq(act(start_command(0, 0, 50)), ERR_OK);
    cr_expect_eq(act(settle_command(0, 0, NOT_GIVEN, 40)), ERR_INVALID_FIELD);
}

Test(settle, its_times_win_over_those_of_the_start)
{
    cr_assert_eq(act(start_command(0, 0, 100)), ERR_OK);
    cr_expect_eq(act(settle_command(0, 0, 120, 180)), ERR_OK);
    expect_totals(960000, 3840000, 0);
}

Test(settle, charges_what_was_allocated_and_not_what_was_asked_for)
{
    struct command settle = settle_command(0, 0, 0, 60);
    settle.run.resources = a100s(2);
    cr_expect_eq(act(settle), ERR_OK);
    expect_totals(1920000, 2880000, 0);
    cr_expect_eq(act(settle), ERR_OK);
    cr_expect(world->plan.replayed);
    settle.run.resources = a100s(3);
    cr_expect_eq(act(settle), ERR_RUN_CONFLICT);
}

/* Two of a model that no row of the card prices. */
static struct command unpriced(struct command command)
{
    command.run.resources = a100s(2);
    strcpy(command.run.resources.gpus[0].model, "b200");
    return command;
}

Test(settle, what_was_allocated_without_a_price_is_charged_as_what_was_asked_for_and_flagged)
{
    struct command settle = unpriced(settle_command(0, 0, 0, 60));
    cr_expect_eq(act(settle), ERR_OK);
    expect_totals(960000, 3840000, 0);
    cr_expect(world->plan.warnings & FLAG_UNPRICED);
    cr_expect(world_run(world, 0, 0)->flags & FLAG_UNPRICED);
    cr_expect_eq(act(settle), ERR_OK);
    cr_expect(world->plan.replayed);
    expect_totals(960000, 3840000, 0);
}

Test(settle, what_has_no_price_is_another_settle_than_what_had_one)
{
    cr_assert_eq(act(settle_command(0, 0, 0, 60)), ERR_OK);
    cr_expect_eq(act(unpriced(settle_command(0, 0, 0, 60))), ERR_RUN_CONFLICT);
}

Test(settle, a_requeue_of_what_has_no_price_freezes_the_next_all_the_same)
{
    cr_assert_eq(act(start_command(0, 0, 0)), ERR_OK);
    cr_expect_eq(act(unpriced(requeue_command(0, 0, NOT_GIVEN, 60))), ERR_OK);
    expect_totals(960000, 3840000, 0);
    cr_expect(world_run(world, 0, 0)->flags & FLAG_UNPRICED);
    cr_expect_eq(world_run(world, 0, 1)->flags & FLAG_UNPRICED, 0);
    cr_expect_eq(world_state(world), TASK_FROZEN);
}

Test(settle, a_correction_to_what_has_no_price_is_refused_for_a_person_can_act)
{
    cr_assert_eq(act(settle_command(0, 0, 0, 60)), ERR_OK);
    cr_expect_eq(act(unpriced(correct_command(0, 0, 0, 60))), ERR_NO_RATE);
}

Test(settle, suspended_time_is_not_charged)
{
    cr_assert_eq(act(start_command(0, 0, 0)), ERR_OK);
    cr_assert_eq(act(pause_command(COMMAND_SUSPEND, 0, 20)), ERR_OK);
    cr_expect_eq(world_state(world), TASK_SUSPENDED);
    cr_assert_eq(act(pause_command(COMMAND_RESUME, 0, 50)), ERR_OK);
    cr_expect_eq(act(settle_command(0, 0, NOT_GIVEN, 100)), ERR_OK);
    expect_totals(70 * SECOND_MCS, 230 * SECOND_MCS, 0);
}

Test(settle, the_total_of_suspended_time_wins_over_the_intervals)
{
    cr_assert_eq(act(start_command(0, 0, 0)), ERR_OK);
    cr_assert_eq(act(pause_command(COMMAND_SUSPEND, 0, 20)), ERR_OK);
    struct command settle = settle_command(0, 0, NOT_GIVEN, 100);
    settle.run.suspended_given = true;
    settle.run.suspended_s = 101;
    cr_expect_eq(act(settle), ERR_INVALID_FIELD);
    cr_expect_str_eq(world->err.field, "suspended_s");
    settle.run.suspended_s = 10;
    cr_expect_eq(act(settle), ERR_OK);
    expect_totals(90 * SECOND_MCS, 210 * SECOND_MCS, 0);
}

Test(settle, waived_outcomes_cost_nothing_and_stay_visible)
{
    struct command settle = settle_command(0, 0, 0, 60);
    settle.run.outcome = OUTCOME_NODE_FAIL;
    cr_expect_eq(act(settle), ERR_OK);
    expect_totals(0, JOB_MCS, 0);
    cr_expect_eq(world->plan.run_waived_mcs, 960000);
    cr_assert_eq(world->plan.usage_count, 1);
    cr_expect_eq(world->plan.usage[0].kind, USAGE_WAIVED);
    cr_expect_eq(world->plan.usage[0].waived_mcs, 960000);
}

Test(settle, a_waiver_takes_provisional_charges_back)
{
    cr_assert_eq(act(start_command(0, 0, 0)), ERR_OK);
    cr_assert_eq(act(turn_command(0, 0, 100)), ERR_OK);
    cr_expect_eq(world_hold(world)->used_mcs, 100 * SECOND_MCS);
    struct command settle = settle_command(0, 0, NOT_GIVEN, 200);
    settle.run.outcome = OUTCOME_NODE_FAIL;
    cr_expect_eq(act(settle), ERR_OK);
    expect_totals(0, JOB_MCS, 0);
    cr_expect_eq(world_hold(world)->used_mcs, 0);
}

Test(settle, a_settle_before_what_was_charged_books_the_difference_down)
{
    cr_assert_eq(act(start_command(0, 0, 0)), ERR_OK);
    cr_assert_eq(act(turn_command(0, 0, 200)), ERR_OK);
    cr_expect_eq(act(settle_command(0, 0, NOT_GIVEN, 50)), ERR_OK);
    expect_totals(50 * SECOND_MCS, 250 * SECOND_MCS, 0);
}

Test(settle, what_returns_to_a_grant_that_has_ended_is_expired)
{
    world = world_new();
    world->grants[0].available_mcs = 0;
    world->grants[0].withdrawn_mcs = 1000 * HOUR_MCS;
    world->entry_count = 0;
    world_grant(world, 1000 * HOUR_MCS, WORLD_NOW, WORLD_NOW + 100);
    cr_assert_eq(act(freeze_command("a", 1, 300)), ERR_OK);
    world->now_s += 200;
    world_end_grants(world);
    cr_expect_eq(act(settle_command(0, 0, 0, 60)), ERR_OK);
    expect_totals(960000, 3840000, 0);
    cr_expect_eq(world->plan.run_expired_mcs, 3840000);
    cr_expect_eq(world_available(world), 0);
}

/* ---- months ---- */

Test(settle, a_run_over_the_turn_of_a_month_is_split_there_exactly)
{
    begin_with(1, 7200);
    cr_expect_eq(act(settle_command(0, 0, -1001, 999)), ERR_OK);
    cr_expect_eq(world_used(world, NOVEMBER), 1001 * SECOND_MCS);
    cr_expect_eq(world_used(world, DECEMBER), 999 * SECOND_MCS);
}

Test(settle, the_turn_of_a_month_charges_what_has_run_and_settle_the_rest)
{
    begin_with(1, 7200);
    cr_assert_eq(act(start_command(0, 0, -1000)), ERR_OK);
    cr_expect_eq(act(turn_command(0, 0, 0)), ERR_OK);
    cr_expect_eq(world_used(world, NOVEMBER), 1000 * SECOND_MCS);
    cr_expect_eq(world_hold(world)->frozen_mcs, 6200 * SECOND_MCS);
    cr_expect_eq(act(turn_command(0, 0, 0)), ERR_OK);
    cr_expect(world->plan.no_effect);
    cr_expect_eq(act(settle_command(0, 0, NOT_GIVEN, 500)), ERR_OK);
    cr_expect_eq(world_used(world, NOVEMBER), 1000 * SECOND_MCS);
    expect_totals(1500 * SECOND_MCS, 5700 * SECOND_MCS, 0);
}

Test(settle, the_turn_of_a_month_charges_at_most_what_is_frozen)
{
    begin_with(1, 600);
    cr_assert_eq(act(start_command(0, 0, -1000)), ERR_OK);
    cr_expect_eq(act(turn_command(0, 0, 0)), ERR_OK);
    cr_expect_eq(world_used(world, NOVEMBER), 600 * SECOND_MCS);
    cr_expect_eq(act(settle_command(0, 0, NOT_GIVEN, 0)), ERR_OK);
    cr_expect_eq(world_used(world, NOVEMBER), 1000 * SECOND_MCS);
    expect_totals(1000 * SECOND_MCS, 0, 400 * SECOND_MCS);
}

Test(settle, use_of_a_closed_month_is_booked_in_the_oldest_open_one)
{
    begin_with(1, 7200);
    world->oldest_open_month = DECEMBER;
    cr_expect_eq(act(settle_command(0, 0, -1000, 1000)), ERR_OK);
    for (int32_t i = 0; i < world->plan.entry_count; i++) {
        cr_expect_geq(world->plan.entries[i].month, DECEMBER);
    }
    cr_assert_eq(world->plan.usage_count, 2);
    cr_expect_eq(world->plan.usage[0].kind, USAGE_CORRECTION);
    cr_expect_eq(world->plan.usage[0].month, DECEMBER);
    cr_expect_eq(world->plan.usage[0].period, NOVEMBER);
}

Test(settle, the_longest_run_may_be_charged_refunded_and_corrected)
{
    const int64_t longest_s = (LIMIT_RUN_DAYS - 1) * INT64_C(86400);
    const int64_t start_s = -longest_s - 3600;
    world->oldest_open_month = DECEMBER - 200;
    cr_assert_eq(act(settle_command(0, 0, start_s, -3600)), ERR_OK);
    cr_expect_eq(act(refund_command("r", 0, 0, -1)), ERR_OK);
    struct command correct = correct_command(0, 0, start_s + 86400, -3600);
    correct.run.outcome = OUTCOME_FAILED;
    cr_expect_eq(act(correct), ERR_OK, "%s", world->err.detail);
    correct.run.outcome = OUTCOME_NODE_FAIL;
    cr_expect_eq(act(correct), ERR_OK);
    cr_expect_eq(world_hold(world)->used_mcs, 0);
    cr_expect_eq(act(settle_command(0, 1, start_s - 3 * 86400, -3600)), ERR_INVALID_FIELD);
}

/* ---- refund ---- */

Test(settle, a_refund_returns_a_part_and_never_more_than_the_charge)
{
    cr_assert_eq(act(settle_command(0, 0, 0, 60)), ERR_OK);
    cr_expect_eq(act(refund_command("r1", 0, 0, 360000)), ERR_OK);
    cr_expect_eq(world_hold(world)->used_mcs, 600000);
    cr_expect(world->plan.adjustment_made);
    cr_expect_eq(world->plan.adjustment.is_refund, 1);
    cr_expect_eq(world->plan.adjustment.amount_mcs, 360000);
    cr_expect_eq(act(refund_command("r2", 0, 0, 600001)), ERR_INVALID_STATE);
    cr_expect_str_eq(world->err.field, "core_hours");
    cr_expect_eq(act(refund_command("r2", 0, 0, -1)), ERR_OK);
    cr_expect_eq(world_hold(world)->used_mcs, 0);
    cr_expect_eq(world_available(world), 1000 * HOUR_MCS);
    cr_expect_eq(act(refund_command("r3", 0, 0, -1)), ERR_INVALID_STATE);
    cr_expect_eq(act(refund_command("r3", 0, 0, 0)), ERR_INVALID_FIELD);
}

Test(settle, a_part_is_refunded_from_the_latest_month_first)
{
    begin_with(1, 7200);
    cr_assert_eq(act(settle_command(0, 0, -1000, 500)), ERR_OK);
    cr_expect_eq(act(refund_command("r", 0, 0, 600 * SECOND_MCS)), ERR_OK);
    cr_expect_eq(world_used(world, DECEMBER), 0);
    cr_expect_eq(world_used(world, NOVEMBER), 900 * SECOND_MCS);
    cr_assert_eq(world->plan.usage_count, 2);
    cr_expect_eq(world->plan.usage[0].kind, USAGE_REFUND);
    cr_expect_eq(world->plan.usage[0].period, DECEMBER);
    cr_expect_eq(world->plan.usage[1].day, WORLD_NOW / 86400 - 1, "the run's last day there");
}

Test(settle, only_what_is_settled_can_be_refunded)
{
    cr_assert_eq(act(start_command(0, 0, 0)), ERR_OK);
    cr_expect_eq(act(refund_command("r", 0, 0, 1)), ERR_INVALID_STATE);
    cr_expect_eq(act(refund_command("r", 0, 7, 1)), ERR_INVALID_STATE);
}

/* ---- correct ---- */

Test(settle, a_correction_books_the_difference_and_keeps_the_first_charge_readable)
{
    cr_assert_eq(act(settle_command(0, 0, 0, 60)), ERR_OK);
    int32_t entries = world->entry_count;
    cr_expect_eq(act(correct_command(0, 0, 0, 90)), ERR_OK);
    expect_totals(90 * SECOND_MCS, 210 * SECOND_MCS, 0);
    cr_expect_eq(world->entry_count, entries + 1);
    cr_expect_eq(world->entries[entries].kind, ENTRY_CORRECT);
    cr_expect_eq(world->entries[entries].amount_mcs, 30 * SECOND_MCS);
    cr_expect_eq(world->plan.adjustment.amount_mcs, 30 * SECOND_MCS);
    cr_expect_str_eq(world->plan.adjustment.source, "sacct");
    cr_expect(world_run(world, 0, 0)->flags & FLAG_CORRECTED);
    cr_expect_eq(act(correct_command(0, 0, 0, 90)), ERR_OK);
    cr_expect(world->plan.replayed);
    cr_expect_eq(act(correct_command(0, 0, 0, 20)), ERR_OK);
    expect_totals(20 * SECOND_MCS, 280 * SECOND_MCS, 0);
}

Test(settle, a_correction_keeps_what_it_does_not_name)
{
    struct command settle = settle_command(0, 0, 0, 60);
    settle.run.outcome = OUTCOME_TIMEOUT;
    settle.run.resources = a100s(2);
    cr_assert_eq(act(settle), ERR_OK);
    struct command correct = correct_command(0, 0, NOT_GIVEN, 90);
    cr_expect_eq(act(correct), ERR_OK);
    cr_expect_eq(world_run(world, 0, 0)->outcome, OUTCOME_TIMEOUT);
    cr_expect_eq(world->plan.run_charged_mcs, 2 * 90 * SECOND_MCS);
}

Test(settle, a_correction_below_the_refunds_cuts_them_in_the_same_set)
{
    cr_assert_eq(act(settle_command(0, 0, 0, 100)), ERR_OK);
    cr_assert_eq(act(refund_command("r", 0, 0, 80 * SECOND_MCS)), ERR_OK);
    cr_expect_eq(act(correct_command(0, 0, 0, 50)), ERR_OK);
    cr_expect_eq(world_run(world, 0, 0)->charged_mcs, 50 * SECOND_MCS);
    cr_expect_eq(world_run(world, 0, 0)->refunded_mcs, 50 * SECOND_MCS);
    cr_expect_eq(world_hold(world)->used_mcs, 0);
    cr_expect_eq(world_available(world), 1000 * HOUR_MCS);
}

Test(settle, a_correction_that_moves_the_run_moves_its_refunds_along)
{
    begin_with(1, 7200);
    cr_assert_eq(act(settle_command(0, 0, -1000, 0)), ERR_OK);
    cr_assert_eq(act(refund_command("r", 0, 0, 400 * SECOND_MCS)), ERR_OK);
    cr_expect_eq(act(correct_command(0, 0, 0, 500)), ERR_OK);
    cr_expect_eq(world_used(world, NOVEMBER), 0);
    cr_expect_eq(world_used(world, DECEMBER), 100 * SECOND_MCS);
    cr_expect_eq(world_run(world, 0, 0)->refunded_mcs, 400 * SECOND_MCS);
}

Test(settle, a_correction_to_a_waived_outcome_reverses_charge_and_refunds)
{
    cr_assert_eq(act(settle_command(0, 0, 0, 100)), ERR_OK);
    cr_assert_eq(act(refund_command("r", 0, 0, 30 * SECOND_MCS)), ERR_OK);
    struct command correct = correct_command(0, 0, NOT_GIVEN, NOT_GIVEN);
    correct.run.outcome = OUTCOME_NODE_FAIL;
    cr_expect_eq(act(correct), ERR_OK);
    expect_totals(0, JOB_MCS, 0);
    cr_expect_eq(world->plan.run_waived_mcs, 100 * SECOND_MCS);
    cr_expect_eq(world_run(world, 0, 0)->refunded_mcs, 0);
    cr_expect_eq(world_available(world), 1000 * HOUR_MCS);
}

/* ---- charge ---- */

Test(settle, a_charge_makes_a_settled_hold_marked_unfrozen)
{
    cr_expect_eq(act(charge_command("c", 1, 0, 60)), ERR_OK);
    const struct hold *hold = world_hold(world);
    cr_expect_eq(world_state(world), TASK_SETTLED);
    cr_expect(hold->flags & FLAG_UNFROZEN);
    cr_expect_eq(hold->used_mcs, 960000);
    cr_expect_eq(hold->frozen_mcs, 0);
    expect_totals(960000, 0, 960000);
    cr_expect_str_eq(hold->job_key, "77@1");
    cr_expect(world->plan.bound);
    cr_expect_eq(act(settle_command(0, 0, 0, 60)), ERR_OK);
    cr_expect(world->plan.replayed);
    cr_expect_eq(act(refund_command("r", 0, 0, 1000)), ERR_OK);
}

Test(settle, use_that_happened_is_booked_for_closed_nodes_and_non_members)
{
    world->nodes[VISION].node.state = NODE_CLOSED;
    world->nodes[VISION].node.membership = MEMBERSHIP_LISTED;
    world->new_member = true;
    world_cap(world, VISION, CAP_TOTAL, 0);
    cr_expect_eq(act(charge_command("c", 1, 0, 60)), ERR_OK);
    cr_expect(world->plan.warnings & FLAG_CLOSED_NODE);
    cr_expect(world->plan.warnings & FLAG_NON_MEMBER);
    cr_expect(world->view.nodes[0].node.flags & NODE_GUEST);
}

Test(settle, a_charge_says_when_it_ran_and_what)
{
    cr_expect_eq(act(charge_command("c", 1, NOT_GIVEN, 60)), ERR_INVALID_FIELD);
    cr_expect_str_eq(world->err.field, "started_at");
    cr_expect_eq(act(charge_command("c", 1, 0, NOT_GIVEN)), ERR_INVALID_FIELD);
    cr_expect_str_eq(world->err.field, "ended_at");
    cr_expect_eq(act(charge_command("c", 1, 60, 0)), ERR_INVALID_FIELD);
    struct command charge = charge_command("c", 1, 0, 60);
    charge.charge.run.resources.gpu_count = 0;
    cr_expect_eq(act(charge), ERR_INVALID_FIELD);
    cr_expect_str_eq(world->err.field, "resources");
    charge = charge_command("c", 1, 0, 60);
    strcpy(charge.charge.run.resources.gpus[0].model, "b200");
    cr_expect_eq(act(charge), ERR_NO_RATE);
}

/* ---- requeue ---- */

Test(settle, a_requeue_settles_and_freezes_the_next_in_one_step)
{
    world_cap(world, VISION, CAP_TOTAL, JOB_MCS + 960000);
    cr_assert_eq(act(start_command(0, 0, 0)), ERR_OK);
    cr_expect_eq(act(requeue_command(0, 0, NOT_GIVEN, 60)), ERR_OK);
    expect_totals(960000, 3840000, 0);
    cr_expect_not(world->plan.waits);
    cr_expect_eq(world_state(world), TASK_FROZEN);
    cr_expect_eq(world_task(world, 0)->attempt, 1);
    cr_expect_eq(world_hold(world)->frozen_mcs, JOB_MCS);
}

Test(settle, a_requeue_without_room_waits_by_itself_and_is_promoted)
{
    begin_with(3, 300);
    world_cap(world, VISION, CAP_TOTAL, 3 * JOB_MCS);
    cr_assert_eq(act(start_command(1, 0, 0)), ERR_OK);
    cr_expect_eq(act(requeue_command(1, 0, NOT_GIVEN, 60)), ERR_OK);
    cr_expect(world->plan.waits);
    cr_expect_eq(world_task(world, 1)->state, TASK_WAITING);
    cr_expect_eq(world->waiting_count, 1);
    cr_expect_eq(world->waiting[0].task, 1);
    cr_expect_eq(world_promote(world), 0);
    cr_assert_eq(act(release_command(2)), ERR_OK);
    cr_expect_eq(world_promote(world), 1);
    cr_expect_eq(world_task(world, 1)->state, TASK_FROZEN);
    cr_expect_str_eq(world->feed[0].tasks, "1");
}

Test(settle, a_requeue_that_waits_is_started_late_all_the_same)
{
    world_cap(world, VISION, CAP_TOTAL, JOB_MCS);
    cr_assert_eq(act(requeue_command(0, 0, 0, 60)), ERR_OK);
    cr_assert_eq(world_state(world), TASK_WAITING);
    cr_expect_eq(act(start_command(0, 1, 100)), ERR_OK);
    cr_expect_eq(world_state(world), TASK_RUNNING);
    cr_expect(world_run(world, 0, 1)->flags & FLAG_LATE);
    cr_expect_eq(world->waiting_count, 0);
}

Test(settle, a_requeue_without_room_in_a_closed_node_is_released_and_told)
{
    world_cap(world, VISION, CAP_TOTAL, JOB_MCS);
    world->nodes[VISION].node.state = NODE_CLOSED;
    cr_expect_eq(act(requeue_command(0, 0, 0, 60)), ERR_OK);
    cr_expect_eq(world_state(world), TASK_RELEASED);
    cr_assert_eq(world->feed_count, 1);
    cr_expect_eq(world->feed[0].type, FEED_RELEASED);
    cr_expect_not_null(strstr(world->feed[0].message, "vision"));
}

Test(settle, each_attempt_that_was_requeued_is_charged)
{
    for (int attempt = 0; attempt < 4; attempt++) {
        cr_expect_eq(act(requeue_command(0, attempt, attempt * 100, attempt * 100 + 60)), ERR_OK);
    }
    cr_expect_eq(world_hold(world)->used_mcs, 4 * 960000);
    cr_expect_eq(world_hold(world)->frozen_mcs, JOB_MCS);
}

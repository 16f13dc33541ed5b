/* Window mode: heartbeats charge and renew (SPEC 5.4); suspend and resume (SPEC 5.5). */
#include <string.h>

#include <criterion/criterion.h>

#include "ledger/core/hold_state.h"
#include "tests/lib/world.h"

#define SECOND_MCS 16000
#define WINDOW_MCS JOB_MCS

static struct world *world;

static enum error_code act(struct command command)
{
    return world_do(world, &command);
}

static void begin_with(enum on_exhausted policy, int64_t limit_s)
{
    world = world_new();
    world->cluster.mode = MODE_WINDOW;
    world->cluster.on_exhausted = policy;
    cr_assert_eq(act(freeze_command("a", 1, limit_s)), ERR_OK);
    cr_assert_eq(act(start_command(0, 0, 0)), ERR_OK);
    world->now_s += 100000;
}

static void begin(void)
{
    begin_with(EXHAUSTED_CONTINUE, 0);
}

TestSuite(window, .init = begin);

static struct run *run(void)
{
    return world_run(world, 0, 0);
}

Test(window, a_heartbeat_charges_up_to_its_time_and_tops_up_to_one_window)
{
    cr_expect_eq(act(beat_command(0, 0, 60)), ERR_OK);
    cr_expect_eq(run()->charged_mcs, 60 * SECOND_MCS);
    cr_expect_eq(run()->frozen_mcs, WINDOW_MCS);
    cr_expect_eq(act(beat_command(0, 0, 120)), ERR_OK);
    cr_expect_eq(run()->charged_mcs, 120 * SECOND_MCS);
    cr_expect_eq(run()->frozen_mcs, WINDOW_MCS);
    cr_expect_eq(run()->seen_s, WORLD_NOW + 120);
    cr_expect_eq(world_hold(world)->seen_s, WORLD_NOW + 120);
}

Test(window, a_heartbeat_after_a_long_silence_charges_all_of_it)
{
    cr_expect_eq(act(beat_command(0, 0, 5000)), ERR_OK);
    cr_expect_eq(run()->charged_mcs, 5000 * SECOND_MCS);
    cr_expect_eq(run()->frozen_mcs, WINDOW_MCS);
}

Test(window, the_same_heartbeat_again_changes_nothing)
{
    cr_assert_eq(act(beat_command(0, 0, 60)), ERR_OK);
    int32_t entries = world->entry_count;
    cr_expect_eq(act(beat_command(0, 0, 60)), ERR_OK);
    cr_expect_eq(world->plan.heartbeat, HEARTBEAT_OK);
    cr_expect_eq(world->entry_count, entries);
}

Test(window, a_heartbeat_of_a_suspended_run_charges_up_to_the_suspension)
{
    cr_assert_eq(act(beat_command(0, 0, 60)), ERR_OK);
    cr_assert_eq(act(pause_command(COMMAND_SUSPEND, 0, 100)), ERR_OK);
    cr_expect_eq(act(beat_command(0, 0, 160)), ERR_OK);
    cr_expect_eq(world->plan.heartbeat, HEARTBEAT_OK);
    cr_expect_eq(run()->charged_mcs, 100 * SECOND_MCS);
    cr_expect_eq(run()->seen_s, WORLD_NOW + 160);
    int32_t entries = world->entry_count;
    cr_expect_eq(act(beat_command(0, 0, 220)), ERR_OK);
    cr_expect_eq(world->entry_count, entries, "nothing more to charge");
    cr_assert_eq(act(pause_command(COMMAND_RESUME, 0, 300)), ERR_OK);
    cr_expect_eq(act(beat_command(0, 0, 320)), ERR_OK);
    cr_expect_eq(run()->charged_mcs, 120 * SECOND_MCS);
    cr_expect_eq(run()->frozen_mcs, WINDOW_MCS);
}

Test(window, renewals_end_at_the_time_limit)
{
    begin_with(EXHAUSTED_CONTINUE, 1000);
    cr_expect_eq(act(beat_command(0, 0, 600)), ERR_OK);
    cr_expect_eq(run()->frozen_mcs, 300 * SECOND_MCS);
    cr_expect_eq(act(beat_command(0, 0, 900)), ERR_OK);
    cr_expect_eq(run()->frozen_mcs, 100 * SECOND_MCS);
    cr_expect_eq(act(beat_command(0, 0, 1100)), ERR_OK);
    cr_expect_eq(run()->charged_mcs, 1100 * SECOND_MCS);
    cr_expect_eq(run()->frozen_mcs, 0);
}

Test(window, a_settle_after_heartbeats_books_only_the_rest)
{
    cr_assert_eq(act(beat_command(0, 0, 600)), ERR_OK);
    cr_expect_eq(act(settle_command(0, 0, NOT_GIVEN, 700)), ERR_OK);
    cr_expect_eq(world->plan.run_charged_mcs, 700 * SECOND_MCS);
    cr_expect_eq(world->plan.run_refunded_mcs, 200 * SECOND_MCS);
    cr_expect_eq(world->plan.run_overrun_mcs, 0);
}

Test(window, continue_freezes_past_the_limits_and_flags)
{
    world_cap(world, VISION, CAP_TOTAL, WINDOW_MCS);
    cr_expect_eq(act(beat_command(0, 0, 60)), ERR_OK);
    cr_expect_eq(world->plan.heartbeat, HEARTBEAT_OK);
    cr_expect_eq(run()->frozen_mcs, WINDOW_MCS);
    cr_expect(run()->flags & FLAG_EXHAUSTED);
    cr_expect(run()->flags & FLAG_OVER_CAP);
    cr_expect_eq(world->feed_count, 0);
}

Test(window, continue_runs_into_overdraft_without_funds)
{
    cr_expect_eq(act(beat_command(0, 0, 90000)), ERR_OK);
    cr_assert_eq(act(beat_command(0, 0, 100000)), ERR_OK);
    world->now_s += 200000;
    cr_assert_eq(act(beat_command(0, 0, 250000)), ERR_OK);
    cr_expect(run()->flags & FLAG_OVERDRAWN);
    cr_expect_lt(world_available(world), 0);
    cr_expect_eq(run()->frozen_mcs, WINDOW_MCS);
}

Test(window, notify_says_exhausted_once_until_there_was_room_again)
{
    begin_with(EXHAUSTED_NOTIFY, 0);
    world_cap(world, VISION, CAP_TOTAL, WINDOW_MCS);
    cr_assert_eq(act(beat_command(0, 0, 60)), ERR_OK);
    cr_assert_eq(act(beat_command(0, 0, 120)), ERR_OK);
    cr_expect_eq(world->feed_count, 1);
    cr_expect_eq(world->feed[0].type, FEED_EXHAUSTED);
    cr_expect_eq(run()->frozen_mcs, WINDOW_MCS);
    world_cap(world, VISION, CAP_TOTAL, 100 * WINDOW_MCS);
    cr_assert_eq(act(beat_command(0, 0, 180)), ERR_OK);
    cr_expect_eq(run()->flags & FLAG_EXHAUSTED, 0);
    world_cap(world, VISION, CAP_TOTAL, 0);
    cr_assert_eq(act(beat_command(0, 0, 240)), ERR_OK);
    cr_expect_eq(world->feed_count, 2);
}

Test(window, stop_renews_nothing_tells_once_and_charges_what_is_frozen)
{
    begin_with(EXHAUSTED_STOP, 0);
    world_cap(world, VISION, CAP_TOTAL, WINDOW_MCS);
    cr_expect_eq(act(beat_command(0, 0, 60)), ERR_OK);
    cr_expect_eq(world->plan.heartbeat, HEARTBEAT_STOP);
    cr_expect_eq(run()->frozen_mcs, WINDOW_MCS - 60 * SECOND_MCS);
    cr_expect_eq(run()->charged_mcs, 60 * SECOND_MCS);
    cr_expect_eq(world->feed[0].type, FEED_STOP);
    cr_expect_eq(act(beat_command(0, 0, 400)), ERR_OK);
    cr_expect_eq(world->plan.heartbeat, HEARTBEAT_STOP);
    cr_expect_eq(world->feed_count, 1);
    cr_expect_eq(run()->charged_mcs, WINDOW_MCS);
    cr_expect_eq(act(settle_command(0, 0, NOT_GIVEN, 420)), ERR_OK);
    cr_expect_eq(world->plan.run_charged_mcs, 420 * SECOND_MCS);
    cr_expect_eq(world->plan.run_overrun_mcs, 120 * SECOND_MCS);
}

Test(window, renewals_are_not_held_back_by_what_waits)
{
    world_cap(world, VISION, CAP_TOTAL, 3 * WINDOW_MCS);
    struct command freeze = freeze_command("w", 3, 300);
    freeze.freeze.on_insufficient = INSUFFICIENT_WAIT;
    cr_assert_eq(act(freeze), ERR_OK);
    cr_assert_eq(world_state(world), TASK_WAITING);
    struct command beat = beat_command(0, 0, 60);
    strcpy(beat.hold, "a");
    cr_expect_eq(act(beat), ERR_OK);
    cr_expect_eq(world->plan.warnings, 0);
}

Test(window, nothing_is_charged_while_suspended)
{
    cr_assert_eq(act(beat_command(0, 0, 60)), ERR_OK);
    cr_assert_eq(act(pause_command(COMMAND_SUSPEND, 0, 100)), ERR_OK);
    cr_expect_eq(act(beat_command(0, 0, 1000)), ERR_OK);
    cr_expect_eq(world->plan.heartbeat, HEARTBEAT_OK);
    cr_assert_eq(act(pause_command(COMMAND_RESUME, 0, 1100)), ERR_OK);
    cr_expect_eq(act(beat_command(0, 0, 1150)), ERR_OK);
    cr_expect_eq(run()->charged_mcs, 150 * SECOND_MCS);
}

Test(window, a_suspension_that_is_told_late_takes_its_charge_back)
{
    cr_assert_eq(act(beat_command(0, 0, 200)), ERR_OK);
    cr_expect_eq(act(pause_command(COMMAND_SUSPEND, 0, 50)), ERR_OK);
    cr_expect_eq(run()->charged_mcs, 50 * SECOND_MCS);
    cr_expect_eq(run()->frozen_mcs, WINDOW_MCS + 150 * SECOND_MCS);
}

Test(window, a_suspended_run_is_turned_without_charge_and_a_late_resume_books_it)
{
    cr_assert_eq(act(pause_command(COMMAND_SUSPEND, 0, 50)), ERR_OK);
    cr_expect_eq(act(turn_command(0, 0, 500)), ERR_OK);
    cr_expect_eq(run()->charged_mcs, 50 * SECOND_MCS);
    cr_expect_eq(run()->booked_until_s, WORLD_NOW + 500);
    cr_expect_eq(act(pause_command(COMMAND_RESUME, 0, 400)), ERR_OK);
    cr_expect_eq(run()->charged_mcs, 150 * SECOND_MCS);
}

Test(window, an_earlier_start_charges_what_is_frozen_at_most)
{
    cr_assert_eq(act(beat_command(0, 0, 60)), ERR_OK);
    cr_expect_eq(act(start_command(0, 0, -1000)), ERR_OK);
    cr_expect_eq(run()->started_s, WORLD_NOW - 1000);
    cr_expect_eq(run()->charged_mcs, 60 * SECOND_MCS + WINDOW_MCS);
    cr_expect_eq(act(beat_command(0, 0, 100)), ERR_OK);
    cr_expect_eq(run()->charged_mcs, 1100 * SECOND_MCS);
    cr_expect_eq(run()->frozen_mcs, WINDOW_MCS);
}

Test(window, a_heartbeat_opens_the_next_attempt)
{
    cr_assert_eq(act(settle_command(0, 0, NOT_GIVEN, 60)), ERR_OK);
    cr_expect_eq(act(beat_command(0, 1, 200)), ERR_OK);
    cr_expect_eq(world_run(world, 0, 1)->started_s, WORLD_NOW + 200);
    cr_expect_eq(world_run(world, 0, 1)->frozen_mcs, WINDOW_MCS);
}

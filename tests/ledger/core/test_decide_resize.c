/* Resize: the difference is frozen, or refused with nothing changed, or returned (SPEC 5.5). */
#include <string.h>

#include <criterion/criterion.h>

#include "ledger/core/hold_state.h"
#include "tests/lib/world.h"

#define SECOND_MCS 16000

static struct world *world;

static enum error_code act(struct command command)
{
    return world_do(world, &command);
}

static void begin_with(int64_t tasks, int64_t max_running)
{
    world = world_new();
    struct command freeze = freeze_command("a", 1, 300);
    freeze.freeze.tasks = tasks;
    freeze.freeze.max_running = max_running;
    cr_assert_eq(act(freeze), ERR_OK);
    world->now_s += 100000;
}

static void begin(void)
{
    begin_with(1, 0);
}

TestSuite(resize, .init = begin);

static int64_t frozen(void)
{
    return world_hold(world)->frozen_mcs;
}

Test(resize, a_longer_limit_freezes_the_difference_and_a_shorter_one_returns_it)
{
    cr_expect_eq(act(resize_command(-1, NOT_GIVEN, 0, 600)), ERR_OK);
    cr_expect_eq(frozen(), 600 * SECOND_MCS);
    cr_expect_eq(world_hold(world)->time_limit_s, 600);
    cr_expect_eq(world_hold(world)->seconds, 600);
    cr_expect_eq(act(resize_command(0, NOT_GIVEN, 0, 100)), ERR_OK);
    cr_expect_eq(frozen(), 100 * SECOND_MCS);
    cr_expect(world->plan.room_freed);
}

Test(resize, equal_to_what_is_in_force_is_no_change)
{
    cr_expect_eq(act(resize_command(-1, NOT_GIVEN, 1, 300)), ERR_OK);
    cr_expect(world->plan.replayed);
    cr_expect_eq(act(resize_command(0, NOT_GIVEN, 0, 0)), ERR_OK);
    cr_expect(world->plan.replayed);
}

Test(resize, a_refusal_changes_nothing)
{
    world_cap(world, VISION, CAP_TOTAL, JOB_MCS);
    struct hold before = *world_hold(world);
    cr_expect_eq(act(resize_command(-1, NOT_GIVEN, 2, 0)), ERR_QUOTA_INSUFFICIENT);
    cr_expect_eq(world->plan.requested_mcs, JOB_MCS);
    cr_expect_arr_eq(&before, world_hold(world), sizeof before);
    cr_expect_eq(act(resize_command(-1, NOT_GIVEN, 0, 200)), ERR_OK, "less is never refused");
}

Test(resize, a_running_job_freezes_elapsed_time_at_its_rate_and_the_rest_at_the_new_one)
{
    cr_assert_eq(act(start_command(0, 0, 0)), ERR_OK);
    cr_expect_eq(act(resize_command(0, 100, 2, 600)), ERR_OK);
    cr_expect_eq(frozen(), 100 * SECOND_MCS + 500 * 2 * SECOND_MCS);
    cr_expect_eq(world->nodes[ACME].counter.mgpus, 2000);
    cr_expect_eq(act(settle_command(0, 0, NOT_GIVEN, 200)), ERR_OK);
    cr_expect_eq(world->plan.run_charged_mcs, 100 * SECOND_MCS + 100 * 2 * SECOND_MCS);
}

Test(resize, a_limit_below_what_has_run_keeps_what_has_run_frozen)
{
    cr_assert_eq(act(start_command(0, 0, 0)), ERR_OK);
    cr_expect_eq(act(resize_command(0, 200, 0, 100)), ERR_OK);
    cr_expect_eq(frozen(), 200 * SECOND_MCS);
    cr_assert_eq(act(turn_command(0, 0, 250)), ERR_OK);
    cr_expect_eq(act(resize_command(0, 260, 2, 0)), ERR_OK);
    cr_expect_eq(frozen(), 60 * SECOND_MCS, "260 s ran, 200 s are charged");
}

Test(resize, what_was_allocated_is_of_the_last_segment)
{
    cr_assert_eq(act(start_command(0, 0, 0)), ERR_OK);
    cr_assert_eq(act(resize_command(0, 100, 2, 0)), ERR_OK);
    struct command settle = settle_command(0, 0, NOT_GIVEN, 200);
    settle.run.resources = a100s(4);
    cr_expect_eq(act(settle), ERR_OK);
    cr_expect_eq(world->plan.run_charged_mcs, 100 * SECOND_MCS + 100 * 4 * SECOND_MCS);
}

Test(resize, a_late_one_changes_what_was_charged_provisionally)
{
    cr_assert_eq(act(start_command(0, 0, 0)), ERR_OK);
    cr_assert_eq(act(turn_command(0, 0, 200)), ERR_OK);
    struct command resize = resize_command(0, 100, 0, 0);
    resize.run.resources =
        (struct command_resources){.given = true, .cores = 8}; /* half of a GPU's rate */
    cr_expect_eq(act(resize), ERR_OK);
    cr_expect_eq(world_run(world, 0, 0)->charged_mcs, 100 * SECOND_MCS + 100 * 8000);
    cr_expect_eq(frozen(), 100 * 8000);
}

Test(resize, in_window_mode_one_window_at_the_new_rate_stays_frozen)
{
    world = world_new();
    world->cluster.mode = MODE_WINDOW;
    cr_assert_eq(act(freeze_command("a", 1, 0)), ERR_OK);
    cr_assert_eq(act(start_command(0, 0, 0)), ERR_OK);
    world->now_s += 100000;
    cr_assert_eq(act(beat_command(0, 0, 100)), ERR_OK);
    cr_expect_eq(act(resize_command(0, 150, 2, 0)), ERR_OK);
    cr_expect_eq(world_run(world, 0, 0)->frozen_mcs, 50 * SECOND_MCS + 300 * 2 * SECOND_MCS);
}

Test(resize, another_partition_or_qos_rates_again)
{
    struct command resize = resize_command(-1, NOT_GIVEN, 0, 0);
    resize.run.job.given = true;
    strcpy(resize.run.job.partition, "gold");
    cr_expect_eq(act(resize), ERR_OK);
    cr_expect_eq(frozen(), 2 * JOB_MCS);
    cr_expect(world->plan.dims_changed);
    cr_expect_str_eq(world->plan.partition, "gold");
    strcpy(resize.run.job.qos, "low");
    cr_expect_eq(act(resize), ERR_OK);
    cr_expect_eq(frozen(), JOB_MCS / 2);
}

Test(resize, another_account_is_refused)
{
    struct command resize = resize_command(-1, NOT_GIVEN, 0, 600);
    strcpy(resize.run.account, "speech");
    cr_expect_eq(act(resize), ERR_INVALID_STATE);
    cr_expect_str_eq(world->err.field, "account");
    strcpy(resize.run.account, "vision");
    cr_expect_eq(act(resize), ERR_OK);
}

Test(resize, nothing_that_is_released_or_unpriced_can_be_resized)
{
    struct command resize = resize_command(-1, NOT_GIVEN, 1, 0);
    strcpy(resize.run.resources.gpus[0].model, "b200");
    cr_expect_eq(act(resize), ERR_NO_RATE);
    resize = resize_command(-1, NOT_GIVEN, 0, 0);
    resize.run.resources.given = true;
    cr_expect_eq(act(resize), ERR_INVALID_FIELD);
    cr_assert_eq(act(release_command(-1)), ERR_OK);
    cr_expect_eq(act(resize_command(-1, NOT_GIVEN, 2, 0)), ERR_INVALID_STATE);
}

Test(resize, caps_on_one_job_look_only_at_what_grows)
{
    cr_assert_eq(act(resize_command(-1, NOT_GIVEN, 2, 7200)), ERR_OK);
    world_cap(world, VISION, CAP_JOB_DURATION, 3600);
    world_cap(world, VISION, CAP_JOB_GPUS, 1000);
    cr_expect_eq(act(resize_command(-1, NOT_GIVEN, 1, 0)), ERR_OK);
    cr_expect_eq(act(resize_command(-1, NOT_GIVEN, 2, 0)), ERR_QUOTA_INSUFFICIENT);
    cr_expect_eq(act(resize_command(-1, NOT_GIVEN, 0, 7201)), ERR_QUOTA_INSUFFICIENT);
}

Test(resize, an_array_resizes_all_of_its_tasks)
{
    begin_with(4, 0);
    cr_assert_eq(act(start_command(0, 0, 0)), ERR_OK);
    cr_assert_eq(act(settle_command(1, 0, 0, 60)), ERR_OK);
    cr_expect_eq(act(resize_command(-1, 100, 2, 0)), ERR_OK);
    cr_expect_eq(frozen(), 100 * SECOND_MCS + 200 * 2 * SECOND_MCS + 2 * 2 * JOB_MCS);
    cr_expect_eq(world->nodes[ACME].counter.mgpus, 3 * 2000);
    cr_expect_eq(world_hold(world)->own_open, 0);
}

Test(resize, one_task_of_an_array_gets_resources_of_its_own)
{
    begin_with(10, 2);
    cr_assert_eq(act(start_command(3, 0, 0)), ERR_OK);
    cr_expect_eq(act(resize_command(3, 0, 4, 0)), ERR_OK);
    cr_expect_eq(frozen(), 9 * JOB_MCS + 4 * JOB_MCS);
    cr_expect_eq(world_hold(world)->own_open, 1);
    cr_expect_eq(world->nodes[ACME].counter.jobs, 2);
    cr_expect_eq(world->nodes[ACME].counter.mgpus, 4000 + 1000);
    cr_expect_eq(act(requeue_command(3, 0, NOT_GIVEN, 60)), ERR_OK);
    cr_expect_eq(world_run(world, 3, 1)->frozen_mcs, 4 * JOB_MCS, "the next attempt keeps them");
    cr_expect_eq(act(resize_command(5, NOT_GIVEN, 3, 0)), ERR_OK);
    cr_expect_eq(world_run(world, 5, 0)->frozen_mcs, 3 * JOB_MCS);
    cr_expect_eq(world_task(world, 5)->state, TASK_FROZEN);
    cr_expect_eq(act(resize_command(-1, NOT_GIVEN, 2, 0)), ERR_OK);
    cr_expect_eq(world_hold(world)->own_open, 0);
    cr_expect_eq(frozen(), 10 * 2 * JOB_MCS);
}

static void begin_waiting(void)
{
    world = world_new();
    world_cap(world, VISION, CAP_GPUS, 2000);
    cr_assert_eq(act(freeze_command("x", 1, 300)), ERR_OK);
    for (char id[2] = "a"; id[0] < 'c'; id[0]++) {
        struct command freeze = freeze_command(id, 2, 300);
        freeze.freeze.on_insufficient = INSUFFICIENT_WAIT;
        cr_assert_eq(act(freeze), ERR_OK);
        cr_assert_eq(world_state(world), TASK_WAITING);
    }
}

Test(resize, what_waits_changes_what_it_waits_for_and_keeps_its_place)
{
    begin_waiting();
    struct command resize = resize_command(-1, NOT_GIVEN, 2, 600);
    strcpy(resize.hold, "a");
    cr_expect_eq(act(resize), ERR_OK);
    cr_expect_eq(world->waiting[0].wait_no, 1);
    cr_expect_eq(world->waiting_count, 2);
    cr_expect_eq(world->nodes[VISION].counter.waiting_mcs, 2 * 600 * SECOND_MCS + 2 * JOB_MCS);
    resize = resize_command(-1, NOT_GIVEN, 3, 0);
    cr_expect_eq(act(resize), ERR_QUOTA_INSUFFICIENT, "more than the cap by itself");
    cr_expect_eq(world->plan.requested_mcs, 3 * JOB_MCS);
}

Test(resize, what_waits_and_now_fits_is_promoted_at_its_turn)
{
    begin_waiting();
    cr_expect_eq(act(resize_command(-1, NOT_GIVEN, 1, 0)), ERR_OK);
    cr_expect(world->plan.room_freed);
    cr_expect_eq(world_promote(world), 1);
    cr_expect_eq(world_state(world), TASK_FROZEN);
    cr_expect_eq(world_hold(world)->frozen_mcs, JOB_MCS);
}

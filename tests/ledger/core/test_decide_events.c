/* Late, double and out-of-order events: every row of SPEC 5.12 and every stand of an attempt. */
#include <string.h>

#include <criterion/criterion.h>

#include "ledger/core/attempt.h"
#include "ledger/core/hold_state.h"
#include "tests/lib/world.h"

static struct world *world;

static enum error_code act(struct command command)
{
    return world_do(world, &command);
}

static void begin(void)
{
    world = world_new();
    cr_assert_eq(act(freeze_command("a", 1, 300)), ERR_OK);
    world->now_s += 100000;
}

TestSuite(events, .init = begin);

Test(events, the_same_settle_again_is_the_same_and_another_one_a_conflict)
{
    struct command settle = settle_command(0, 0, 0, 60);
    cr_expect_eq(act(settle), ERR_OK);
    cr_expect_eq(act(settle), ERR_OK);
    cr_expect(world->plan.replayed);
    cr_expect_eq(world->plan.run_charged_mcs, 960000);
    cr_expect_eq(world->plan.run_refunded_mcs, 3840000);
    settle.run.ended_at_s++;
    cr_expect_eq(act(settle), ERR_RUN_CONFLICT);
    settle.run.ended_at_s--;
    settle.run.outcome = OUTCOME_FAILED;
    cr_expect_eq(act(settle), ERR_RUN_CONFLICT);
    settle.run.outcome = OUTCOME_COMPLETED;
    settle.run.suspended_given = true;
    cr_expect_eq(act(settle), ERR_OK, "0 s suspended is what was said before");
    settle.run.suspended_s = 1;
    cr_expect_eq(act(settle), ERR_RUN_CONFLICT);
}

Test(events, the_settle_that_was_sent_is_the_same_again_after_a_correction)
{
    struct command settle = settle_command(0, 0, 0, 60);
    cr_assert_eq(act(settle), ERR_OK);
    cr_assert_eq(act(correct_command(0, 0, 0, 120)), ERR_OK);
    cr_expect_eq(act(settle), ERR_OK);
    cr_expect(world->plan.replayed);
    cr_expect_eq(world->plan.run_charged_mcs, 1920000);
}

Test(events, a_heartbeat_before_the_start_opens_the_run_and_an_earlier_start_wins_later)
{
    cr_expect_eq(act(beat_command(0, 0, 50)), ERR_OK);
    cr_expect_eq(world->plan.heartbeat, HEARTBEAT_OK);
    cr_expect_eq(world_run(world, 0, 0)->started_s, WORLD_NOW + 50);
    cr_expect(world_run(world, 0, 0)->flags & FLAG_BY_HEARTBEAT);
    cr_expect_eq(act(start_command(0, 0, 20)), ERR_OK);
    cr_expect_eq(world_run(world, 0, 0)->started_s, WORLD_NOW + 20);
    cr_expect_eq(world_run(world, 0, 0)->flags & (FLAG_BY_HEARTBEAT | FLAG_RESTARTED), 0);
}

Test(events, a_heartbeat_after_settle_says_ended_and_an_older_one_old)
{
    cr_assert_eq(act(start_command(0, 0, 0)), ERR_OK);
    cr_expect_eq(act(beat_command(0, 0, 50)), ERR_OK);
    cr_expect_eq(act(beat_command(0, 0, 49)), ERR_OK);
    cr_expect_eq(world->plan.heartbeat, HEARTBEAT_OLD);
    cr_assert_eq(act(settle_command(0, 0, NOT_GIVEN, 60)), ERR_OK);
    cr_expect_eq(act(beat_command(0, 0, 70)), ERR_OK);
    cr_expect_eq(world->plan.heartbeat, HEARTBEAT_ENDED);
}

Test(events, suspend_resume_and_resize_after_settle_have_no_effect)
{
    cr_assert_eq(act(settle_command(0, 0, 0, 60)), ERR_OK);
    struct run before = *world_run(world, 0, 0);
    cr_expect_eq(act(pause_command(COMMAND_SUSPEND, 0, 10)), ERR_OK);
    cr_expect(world->plan.no_effect);
    cr_expect_eq(act(pause_command(COMMAND_RESUME, 0, 20)), ERR_OK);
    cr_expect(world->plan.no_effect);
    cr_expect_eq(act(resize_command(0, 30, 2, 0)), ERR_OK);
    cr_expect(world->plan.no_effect);
    cr_expect_eq(act(resize_command(-1, 30, 2, 0)), ERR_OK);
    cr_expect_arr_eq(&before, world_run(world, 0, 0), sizeof before);
}

Test(events, a_start_of_the_next_attempt_is_accepted_while_this_one_is_open)
{
    cr_assert_eq(act(start_command(0, 0, 0)), ERR_OK);
    cr_expect_eq(act(start_command(0, 1, 100)), ERR_OK);
    cr_expect_eq(world_run(world, 0, 1)->frozen_mcs, JOB_MCS);
    cr_expect_eq(world_run(world, 0, 0)->frozen_mcs, JOB_MCS);
    cr_expect_eq(world_run(world, 0, 1)->flags & FLAG_LATE, 0);
    cr_expect_eq(world_state(world), TASK_RUNNING);
    cr_expect_eq(act(settle_command(0, 1, NOT_GIVEN, 200)), ERR_OK);
    cr_expect_eq(world_state(world), TASK_RUNNING, "the older attempt is open");
    cr_expect_eq(act(settle_command(0, 0, NOT_GIVEN, 90)), ERR_OK);
    cr_expect_eq(world_state(world), TASK_SETTLED);
    cr_expect_eq(world_hold(world)->frozen_mcs, 0);
    cr_expect_eq(world_hold(world)->used_mcs, 16000 * 190);
}

Test(events, a_start_of_the_next_attempt_without_room_runs_into_overdraft_late)
{
    cr_assert_eq(act(start_command(0, 0, 0)), ERR_OK);
    world_cap(world, VISION, CAP_MONTH, JOB_MCS);
    cr_expect_eq(act(start_command(0, 1, 100)), ERR_OK);
    cr_expect(world_run(world, 0, 1)->flags & FLAG_LATE);
    cr_expect(world_run(world, 0, 1)->flags & FLAG_OVER_CAP);
    cr_expect_eq(world_hold(world)->frozen_mcs, 2 * JOB_MCS);
}

Test(events, a_start_of_the_next_attempt_after_settle_freezes_again)
{
    cr_assert_eq(act(settle_command(0, 0, 0, 60)), ERR_OK);
    cr_expect_eq(act(start_command(0, 1, 100)), ERR_OK);
    cr_expect_eq(world_state(world), TASK_RUNNING);
    cr_expect_eq(world_hold(world)->frozen_mcs, JOB_MCS);
}

Test(events, a_next_attempt_takes_over_the_freeze_of_one_that_never_started)
{
    cr_expect_eq(act(start_command(0, 1, 100)), ERR_OK);
    cr_expect_eq(world_hold(world)->frozen_mcs, JOB_MCS);
    cr_assert_eq(act(requeue_command(0, 1, NOT_GIVEN, 160)), ERR_OK);
    cr_expect_eq(act(start_command(0, 3, 300)), ERR_OK);
    cr_expect_eq(world_run(world, 0, 2)->state, TASK_RELEASED);
    cr_expect_eq(world_run(world, 0, 3)->frozen_mcs, JOB_MCS);
    cr_expect_eq(world_hold(world)->frozen_mcs, JOB_MCS);
}

Test(events, a_requeue_of_the_next_attempt_takes_over_and_freezes_the_one_after)
{
    cr_assert_eq(act(requeue_command(0, 0, 0, 60)), ERR_OK);
    cr_expect_eq(act(requeue_command(0, 2, 100, 160)), ERR_OK);
    cr_expect_eq(world_run(world, 0, 1)->state, TASK_RELEASED);
    cr_expect_eq(world->plan.run_refunded_mcs, 3840000);
    cr_expect_eq(world_run(world, 0, 3)->frozen_mcs, JOB_MCS);
    cr_expect_eq(world_hold(world)->frozen_mcs, JOB_MCS);
}

Test(events, a_requeue_of_a_settled_attempt_freezes_the_next)
{
    cr_assert_eq(act(settle_command(0, 0, 0, 60)), ERR_OK);
    cr_expect_eq(act(requeue_command(0, 0, NOT_GIVEN, 60)), ERR_OK);
    cr_expect_eq(world_state(world), TASK_FROZEN);
    cr_expect_eq(world_run(world, 0, 1)->frozen_mcs, JOB_MCS);
    cr_expect_eq(world->plan.run_charged_mcs, 960000);
    cr_expect_eq(act(requeue_command(0, 0, NOT_GIVEN, 60)), ERR_OK);
    cr_expect(world->plan.replayed);
    cr_expect_null(world_run(world, 0, 2));
}

Test(events, a_settle_without_any_known_start_is_refused)
{
    cr_expect_eq(act(settle_command(0, 0, NOT_GIVEN, 60)), ERR_INVALID_FIELD);
    cr_expect_str_eq(world->err.field, "started_at");
    cr_expect_eq(world_state(world), TASK_FROZEN);
    cr_expect_eq(act(settle_command(0, 0, 0, NOT_GIVEN)), ERR_INVALID_FIELD);
    cr_expect_str_eq(world->err.field, "ended_at");
}

Test(events, a_start_after_settle_has_no_effect)
{
    cr_assert_eq(act(settle_command(0, 0, 0, 60)), ERR_OK);
    cr_expect_eq(act(start_command(0, 0, 10)), ERR_OK);
    cr_expect(world->plan.no_effect);
    cr_expect_eq(world_state(world), TASK_SETTLED);
}

Test(events, of_two_starts_the_earlier_stays_in_either_order)
{
    cr_assert_eq(act(start_command(0, 0, 50)), ERR_OK);
    cr_expect_eq(act(start_command(0, 0, 50)), ERR_OK);
    cr_expect(world->plan.replayed);
    cr_expect_eq(act(start_command(0, 0, 70)), ERR_OK);
    cr_expect_eq(world_run(world, 0, 0)->started_s, WORLD_NOW + 50);
    cr_expect(world_run(world, 0, 0)->flags & FLAG_RESTARTED);
    cr_expect_eq(act(start_command(0, 0, 30)), ERR_OK);
    cr_expect_eq(world_run(world, 0, 0)->started_s, WORLD_NOW + 30);
}

static void end_unstarted(enum command_kind how)
{
    begin();
    world->now_s = WORLD_NOW + 700;
    cr_assert_eq(act(how == COMMAND_RELEASE ? release_command(-1) : expire_command()), ERR_OK);
    cr_assert_eq(world_hold(world)->frozen_mcs, 0);
    world->now_s += 100000;
}

static const enum command_kind ENDS[] = {COMMAND_RELEASE, COMMAND_EXPIRE_HOLD};

Test(events, a_bind_of_an_expired_or_released_hold_freezes_again_late)
{
    for (size_t i = 0; i < ARRAY_LEN(ENDS); i++) {
        end_unstarted(ENDS[i]);
        cr_expect_eq(act(bind_command("1", "1@1")), ERR_OK);
        cr_expect_eq(world_state(world), TASK_FROZEN);
        cr_expect_eq(world_hold(world)->frozen_mcs, JOB_MCS);
        cr_expect(world_hold(world)->flags & FLAG_LATE);
        cr_expect_eq(world_hold(world)->flags & FLAG_OVER_CAP, 0);
    }
}

Test(events, a_bind_of_an_expired_hold_without_room_freezes_past_the_limits)
{
    end_unstarted(COMMAND_EXPIRE_HOLD);
    world_cap(world, VISION, CAP_JOBS, 0);
    cr_expect_eq(act(bind_command("1", "1@1")), ERR_OK);
    cr_expect_eq(world_hold(world)->frozen_mcs, JOB_MCS);
    cr_expect(world_hold(world)->flags & FLAG_OVER_CAP);
}

Test(events, a_start_of_an_expired_or_released_task_freezes_again_late)
{
    for (size_t i = 0; i < ARRAY_LEN(ENDS); i++) {
        end_unstarted(ENDS[i]);
        cr_expect_eq(act(start_command(0, 0, 10)), ERR_OK);
        cr_expect_eq(world_state(world), TASK_RUNNING);
        cr_expect_eq(world_run(world, 0, 0)->frozen_mcs, JOB_MCS);
        cr_expect(world_run(world, 0, 0)->flags & FLAG_LATE);
    }
}

Test(events, a_settle_of_an_expired_or_released_task_books_its_full_use_as_overrun)
{
    for (size_t i = 0; i < ARRAY_LEN(ENDS); i++) {
        end_unstarted(ENDS[i]);
        cr_expect_eq(act(settle_command(0, 0, 10, 70)), ERR_OK);
        cr_expect_eq(world_state(world), TASK_SETTLED);
        cr_expect_eq(world->plan.run_charged_mcs, 960000);
        cr_expect_eq(world->plan.run_overrun_mcs, 960000);
        cr_expect_eq(world->plan.run_refunded_mcs, 0);
        cr_expect(world->plan.warnings & FLAG_LATE);
    }
}

Test(events, a_settle_of_the_next_attempt_leaves_this_one_open)
{
    cr_assert_eq(act(start_command(0, 0, 0)), ERR_OK);
    cr_expect_eq(act(settle_command(0, 1, 100, 160)), ERR_OK);
    cr_expect_eq(world->plan.run_overrun_mcs, 960000);
    cr_expect_eq(world_run(world, 0, 0)->state, TASK_RUNNING);
    cr_expect_eq(world_state(world), TASK_RUNNING);
    cr_expect_eq(world_hold(world)->frozen_mcs, JOB_MCS);
    cr_expect_eq(act(settle_command(0, 0, NOT_GIVEN, 90)), ERR_OK);
    cr_expect_eq(world_state(world), TASK_SETTLED);
}

Test(events, an_attempt_that_was_skipped_may_still_be_told_of)
{
    cr_assert_eq(act(settle_command(0, 1, 100, 160)), ERR_OK);
    cr_expect_eq(act(beat_command(0, 0, 50)), ERR_OK);
    cr_expect_eq(world->plan.heartbeat, HEARTBEAT_OLD);
    cr_expect_eq(act(start_command(0, 0, 10)), ERR_OK);
    cr_expect_eq(world_state(world), TASK_RUNNING);
    cr_expect_eq(act(settle_command(0, 0, NOT_GIVEN, 70)), ERR_OK);
    cr_expect_eq(world_state(world), TASK_SETTLED);
    cr_expect_eq(world_hold(world)->used_mcs, 2 * 960000);
}

Test(events, times_ahead_of_the_clock_by_more_than_five_minutes_are_refused)
{
    world->now_s = WORLD_NOW;
    static const struct {
        enum command_kind kind;
        const char *field;
    } cases[] = {
        {COMMAND_START, "started_at"}, {COMMAND_SETTLE, "ended_at"}, {COMMAND_REQUEUE, "ended_at"},
        {COMMAND_SUSPEND, "at"},       {COMMAND_RESUME, "at"},       {COMMAND_RESIZE, "at"},
        {COMMAND_HEARTBEAT, "at"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct command command = {
            .kind = cases[i].kind,
            .run = {.at_s = WORLD_NOW + 301, .ended_at_s = WORLD_NOW + 301},
        };
        command.run.started_at_s = WORLD_NOW + (cases[i].kind == COMMAND_START ? 301 : 0);
        cr_expect_eq(world_do(world, &command), ERR_TIME_IN_FUTURE, "command %d", cases[i].kind);
        cr_expect_str_eq(world->err.field, cases[i].field);
    }
    cr_expect_eq(act(start_command(0, 0, 300)), ERR_OK);
}

Test(events, tasks_and_attempts_that_cannot_be_are_refused_by_name)
{
    cr_expect_eq(act(start_command(1, 0, 0)), ERR_INVALID_FIELD);
    cr_expect_str_eq(world->err.field, "task");
    cr_expect_not_null(strstr(world->err.detail, "0 to 0"));
    cr_expect_eq(act(start_command(-1, 0, 0)), ERR_INVALID_FIELD);
    cr_expect_eq(act(settle_command(0, -1, 0, 1)), ERR_INVALID_FIELD);
    cr_expect_str_eq(world->err.field, "attempt");
}

/* The same events in every order: the settle says all, so that what it costs is the same. */
Test(events, the_order_in_which_events_arrive_changes_no_charge)
{
    enum { EVENTS = 5, ORDERS = 120 };
    struct command events[EVENTS] = {
        start_command(0, 0, 10),
        beat_command(0, 0, 40),
        pause_command(COMMAND_SUSPEND, 0, 50),
        pause_command(COMMAND_RESUME, 0, 70),
        settle_command(0, 0, 10, 130),
    };
    events[4].run.suspended_given = true;
    events[4].run.suspended_s = 20;
    for (int order = 0; order < ORDERS; order++) {
        begin();
        bool sent[EVENTS] = {false};
        for (int rest = order, left = EVENTS; left > 0; rest /= left, left--) {
            int skip = rest % left;
            int i = 0;
            while (sent[i] || skip-- > 0) {
                i++;
            }
            sent[i] = true;
            enum error_code code = act(events[i]);
            cr_expect(code == ERR_OK || code == ERR_INVALID_STATE);
        }
        cr_expect_eq(world_state(world), TASK_SETTLED);
        cr_expect_eq(world_hold(world)->used_mcs, 100 * 16000, "order %d", order);
        cr_expect_eq(world_hold(world)->frozen_mcs, 0);
    }
}

/* ---- state x event, all of it ---- */

static void reach(enum stand stand)
{
    world = world_new();
    struct command freeze = freeze_command("a", 1, 300);
    if (stand == STAND_WAITING) {
        world_cap(world, VISION, CAP_GPUS, 1000);
        cr_assert_eq(act(freeze_command("x", 1, 300)), ERR_OK);
        freeze.freeze.on_insufficient = INSUFFICIENT_WAIT;
    }
    cr_assert_eq(act(freeze), ERR_OK);
    world->now_s += 100000;
    switch (stand) {
    case STAND_WAITING:
    case STAND_FROZEN:
        break;
    case STAND_SUSPENDED:
    case STAND_RUNNING:
        cr_assert_eq(act(start_command(0, 0, 0)), ERR_OK);
        if (stand == STAND_SUSPENDED) {
            cr_assert_eq(act(pause_command(COMMAND_SUSPEND, 0, 10)), ERR_OK);
        }
        break;
    case STAND_SETTLED:
        cr_assert_eq(act(settle_command(0, 0, 0, 60)), ERR_OK);
        break;
    case STAND_RELEASED:
        cr_assert_eq(act(release_command(-1)), ERR_OK);
        break;
    case STAND_EXPIRED:
        cr_assert_eq(act(expire_command()), ERR_OK);
        break;
    case STAND_OLDER:
        cr_assert_eq(act(start_command(0, 1, 0)), ERR_OK);
        break;
    case STAND_NEXT:
    case STAND__COUNT:
        cr_assert_fail("not reached so");
    }
}

/* What each event about attempt 0 does to a hold of one task by where the attempt stands: the
 * hold's state after it, or the refusal. "-": no effect. */
Test(events, every_state_has_one_answer_to_every_event)
{
    enum { W, F, R, S, T, L, E, O, STANDS };
    static const enum stand stands[STANDS] = {
        [W] = STAND_WAITING, [F] = STAND_FROZEN,   [R] = STAND_RUNNING, [S] = STAND_SUSPENDED,
        [T] = STAND_SETTLED, [L] = STAND_RELEASED, [E] = STAND_EXPIRED, [O] = STAND_OLDER,
    };
    static const struct {
        enum command_kind kind;
        const char
            *answers[STANDS]; /* waiting frozen running suspended settled released expired older */
    } rows[] = {
        {COMMAND_BIND,
         {"waiting", "frozen", "running", "suspended", "settled", "frozen", "frozen", "running"}},
        {COMMAND_START, {"running", "running", "-", "-", "-", "running", "running", "running"}},
        {COMMAND_HEARTBEAT,
         {"running", "running", "running", "suspended", "-", "running", "running", "-"}},
        {COMMAND_SUSPEND, {"!", "!", "suspended", "-", "-", "!", "!", "suspended"}},
        {COMMAND_RESUME, {"!", "!", "-", "running", "-", "!", "!", "-"}},
        {COMMAND_RESIZE, {"waiting", "frozen", "running", "suspended", "-", "!", "!", "running"}},
        {COMMAND_SETTLE,
         {"settled", "settled", "settled", "settled", "-", "settled", "settled", "running"}},
        {COMMAND_REQUEUE,
         {"waiting", "frozen", "frozen", "frozen", "frozen", "frozen", "frozen", "running"}},
        {COMMAND_RELEASE, {"released", "released", "-", "-", "-", "-", "-", "-"}},
        {COMMAND_EXPIRE_HOLD, {"expired", "expired", "-", "-", "-", "-", "-", "-"}},
        {COMMAND_CORRECT, {"!", "!", "!", "!", "settled", "!", "!", "!"}},
        {COMMAND_REFUND, {"!", "!", "!", "!", "settled", "!", "!", "!"}},
        {COMMAND_TURN_RUN, {"-", "-", "running", "suspended", "-", "-", "-", "-"}},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        for (int s = 0; s < STANDS; s++) {
            reach(stands[s]);
            struct command command = {.kind = rows[i].kind};
            switch ((int)rows[i].kind) {
            case COMMAND_BIND:
                command = bind_command("1", "1@1");
                break;
            case COMMAND_START:
                command = start_command(0, 0, 0);
                break;
            case COMMAND_HEARTBEAT:
                command = beat_command(0, 0, 30);
                break;
            case COMMAND_SUSPEND:
            case COMMAND_RESUME:
                command = pause_command(rows[i].kind, 0, 20);
                break;
            case COMMAND_RESIZE:
                command = resize_command(0, 20, 0, 600);
                break;
            case COMMAND_SETTLE:
            case COMMAND_REQUEUE:
                command = settle_command(0, 0, 0, 60);
                command.kind = rows[i].kind;
                break;
            case COMMAND_RELEASE:
                command = release_command(-1);
                break;
            case COMMAND_EXPIRE_HOLD:
                command = expire_command();
                break;
            case COMMAND_CORRECT:
                command = correct_command(0, 0, 0, 90);
                break;
            case COMMAND_REFUND:
                command = refund_command("r", 0, 0, -1);
                break;
            case COMMAND_TURN_RUN:
                command = turn_command(0, 0, 40);
                break;
            default:
                break;
            }
            enum task_state before = world_state(world);
            enum error_code code = act(command);
            const char *answer = rows[i].answers[s];
            const char *state = task_state_name(world_state(world));
            if (answer[0] == '!') {
                cr_expect_eq(code, ERR_INVALID_STATE, "command %d at stand %d", rows[i].kind, s);
            } else if (answer[0] == '-') {
                cr_expect_eq(code, ERR_OK, "command %d at stand %d", rows[i].kind, s);
                cr_expect(world->plan.no_effect || world->plan.replayed);
                cr_expect_eq(world_state(world), before);
            } else {
                cr_expect_eq(code, ERR_OK, "command %d at stand %d", rows[i].kind, s);
                cr_expect_str_eq(state, answer, "command %d at stand %d: %s", rows[i].kind, s,
                                 state);
            }
        }
    }
}

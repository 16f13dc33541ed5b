/* Freeze, bind, expiry, release: before a job runs (SPEC 5.2, 5.3, 5.9, 6.2). */
#include <string.h>

#include <criterion/criterion.h>

#include "tests/lib/world.h"

static struct world *world;

static void begin(void)
{
    world = world_new();
}

TestSuite(freeze, .init = begin);

static enum error_code freeze(const char *id, int64_t gpus, int64_t limit_s)
{
    struct command command = freeze_command(id, gpus, limit_s);
    return world_do(world, &command);
}

static enum error_code freeze_tasks(int64_t tasks, int64_t max_running)
{
    struct command command = freeze_command("array", 1, 300);
    command.freeze.tasks = tasks;
    command.freeze.max_running = max_running;
    return world_do(world, &command);
}

static const struct violation *violation(enum cap_kind kind)
{
    for (int32_t i = 0; i < world->plan.violation_count; i++) {
        if (world->plan.violations[i].kind == kind) {
            return &world->plan.violations[i];
        }
    }
    cr_assert_fail("no violation of kind %d", (int)kind);
    return NULL;
}

Test(freeze, one_gpu_for_five_minutes_freezes_one_and_a_third_core_hours)
{
    cr_assert_eq(freeze("a", 1, 300), ERR_OK);
    const struct hold *hold = world_hold(world);
    cr_expect_eq(hold->frozen_mcs, JOB_MCS);
    cr_expect_eq(hold->rate_mcores, 16000);
    cr_expect_eq(hold->seconds, 300);
    cr_expect_eq(hold->card_version, 1);
    cr_expect_eq(hold->due_s, WORLD_NOW + 600);
    cr_expect_eq(world->plan.requested_mcs, JOB_MCS);
    cr_expect_eq(world_state(world), TASK_FROZEN);
    cr_expect_eq(world_available(world), 1000 * HOUR_MCS - JOB_MCS);
    cr_expect_eq(world->nodes[ACME].counter.jobs, 1);
    cr_expect_eq(world->nodes[VISION].counter.mgpus, 1000);
}

Test(freeze, a_frozen_hold_counts_in_the_available_balance)
{
    world_cap(world, VISION, CAP_MONTH, 2 * JOB_MCS);
    cr_expect_eq(freeze("a", 1, 300), ERR_OK);
    cr_expect_eq(freeze("b", 1, 300), ERR_OK);
    cr_expect_eq(freeze("c", 1, 300), ERR_QUOTA_INSUFFICIENT);
}

Test(freeze, exactly_as_many_pass_as_fit_at_any_level)
{
    static const int nodes[] = {ALICE, VISION, ACME_AI, ACME};
    for (size_t i = 0; i < ARRAY_LEN(nodes); i++) {
        begin();
        world_cap(world, nodes[i], CAP_TOTAL, 3 * JOB_MCS + JOB_MCS - 1);
        char id[2] = "a";
        int passed = 0;
        for (; id[0] < 'h'; id[0]++) {
            passed += freeze(id, 1, 300) == ERR_OK;
        }
        cr_expect_eq(passed, 3, "node %d let %d pass", nodes[i], passed);
    }
}

Test(freeze, exactly_as_many_pass_as_the_payer_has)
{
    world->grants[0].available_mcs = 0;
    world->grants[0].withdrawn_mcs = 1000 * HOUR_MCS;
    world->entry_count = 0;
    world_grant(world, 2 * JOB_MCS + 1, WORLD_NOW, NOT_GIVEN);
    cr_expect_eq(freeze("a", 1, 300), ERR_OK);
    cr_expect_eq(freeze("b", 1, 300), ERR_OK);
    cr_expect_eq(freeze("c", 1, 300), ERR_QUOTA_INSUFFICIENT);
    cr_expect_eq(violation(CAP_FUNDS)->available, 1);
    cr_expect_eq(violation(CAP_FUNDS)->missing, JOB_MCS - 1);
}

Test(freeze, a_refusal_lists_every_limit_that_failed_with_its_figures)
{
    cr_assert_eq(freeze("a", 1, 300), ERR_OK);
    world_cap(world, ALICE, CAP_JOBS, 1);
    world_cap(world, VISION, CAP_MONTH, JOB_MCS + 100);
    world_cap(world, ACME, CAP_GPUS, 1000);
    cr_expect_eq(freeze("b", 1, 300), ERR_QUOTA_INSUFFICIENT);
    cr_expect_eq(world->plan.violation_count, 3);
    cr_expect_eq(violation(CAP_MONTH)->limit, JOB_MCS + 100);
    cr_expect_eq(violation(CAP_MONTH)->frozen, JOB_MCS);
    cr_expect_eq(violation(CAP_MONTH)->requested, JOB_MCS);
    cr_expect_eq(violation(CAP_MONTH)->available, 100);
    cr_expect_eq(violation(CAP_MONTH)->missing, JOB_MCS - 100);
    cr_expect_str_eq(violation(CAP_MONTH)->node, "vision");
    cr_expect_eq(violation(CAP_JOBS)->missing, 1);
    cr_expect_eq(violation(CAP_GPUS)->frozen, 1000);
    cr_expect_eq(world->plan.requested_mcs, JOB_MCS);
    cr_expect_eq(world->plan.requested_mcores, 16000);
    cr_expect_eq(world->plan.requested_s, 300);
    cr_expect_eq(world->hold_count, 1);
}

Test(freeze, a_soft_cap_warns_and_never_refuses)
{
    world_cap(world, VISION, CAP_MONTH, 1);
    world->nodes[VISION].node.caps[0].soft = 1;
    cr_expect_eq(freeze("a", 1, 300), ERR_OK);
    cr_expect_eq(world->plan.violation_count, 1);
    cr_expect(world->plan.violations[0].soft);
}

Test(freeze, an_array_is_counted_task_by_task)
{
    cr_assert_eq(freeze_tasks(10, 0), ERR_OK);
    cr_expect_eq(world_hold(world)->frozen_mcs, 10 * JOB_MCS);
    cr_expect_eq(world->nodes[ACME].counter.jobs, 10);
    cr_expect_eq(world->nodes[ACME].counter.mgpus, 10000);
}

Test(freeze, an_array_with_max_running_is_in_flight_only_so_often)
{
    world_cap(world, VISION, CAP_JOBS, 4);
    cr_assert_eq(freeze_tasks(500, 4), ERR_OK);
    cr_expect_eq(world->nodes[ACME].counter.jobs, 4);
    cr_expect_eq(world_hold(world)->frozen_mcs, 500 * JOB_MCS);
}

Test(freeze, window_mode_freezes_the_window_or_the_shorter_limit)
{
    static const struct {
        int64_t limit_s;
        int64_t seconds;
    } cases[] = {{0, 300}, {299, 299}, {300, 300}, {86400, 300}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        begin();
        world->nodes[VISION].node.mode = MODE_WINDOW;
        cr_assert_eq(freeze("a", 1, cases[i].limit_s), ERR_OK);
        cr_expect_eq(world_hold(world)->seconds, cases[i].seconds);
        cr_expect_eq(world_hold(world)->frozen_mcs, 16000 * cases[i].seconds);
    }
}

Test(freeze, what_is_not_given_comes_from_the_project_then_the_cluster)
{
    world->cluster.mode = MODE_WINDOW;
    world->cluster.window_s = 100;
    world->cluster.ttl_s = 50;
    world->nodes[VISION].node.window_s = 200;
    cr_assert_eq(freeze("a", 1, 0), ERR_OK);
    cr_expect_eq(world_hold(world)->mode, MODE_WINDOW);
    cr_expect_eq(world_hold(world)->window_s, 200);
    cr_expect_eq(world_hold(world)->ttl_s, 50);
    struct command command = freeze_command("b", 1, 300);
    command.freeze.mode = MODE_FULL;
    command.freeze.ttl_s = 7;
    cr_assert_eq(world_do(world, &command), ERR_OK);
    cr_expect_eq(world_hold(world)->mode, MODE_FULL);
    cr_expect_eq(world_hold(world)->due_s, WORLD_NOW + 7);
}

/* Each case is refused for one reason more than the case before it: the first reason is told. */
Test(freeze, refusals_come_in_their_order)
{
    world_cap(world, VISION, CAP_TOTAL, 0);
    struct command command = freeze_command("a", 1, 300);
    cr_expect_eq(world_do(world, &command), ERR_QUOTA_INSUFFICIENT);
    command.freeze.tasks = LIMIT_TASKS;
    command.freeze.time_limit_s = 86400 * 365;
    cr_expect_eq(world_do(world, &command), ERR_INVALID_FIELD);
    cr_expect_str_eq(world->err.field, "tasks");
    strcpy(command.freeze.resources.gpus[0].model, "b200");
    cr_expect_eq(world_do(world, &command), ERR_NO_RATE);
    command.freeze.time_limit_s = 0;
    cr_expect_eq(world_do(world, &command), ERR_NO_TIME_LIMIT);
    cr_expect_str_eq(world->err.field, "time_limit_s");
    world->new_member = true;
    world->nodes[VISION].node.membership = MEMBERSHIP_LISTED;
    cr_expect_eq(world_do(world, &command), ERR_NOT_A_MEMBER);
    cr_expect_str_eq(world->err.field, "user");
    world->nodes[ACME_AI].node.state = NODE_CLOSED;
    strcpy(world->nodes[ACME_AI].node.contact, "ops@acme");
    cr_expect_eq(world_do(world, &command), ERR_NODE_CLOSED);
    cr_expect_not_null(strstr(world->err.detail, "organization acme-ai is closed"));
    cr_expect_not_null(strstr(world->err.detail, "ops@acme"));
    command.freeze.resources = (struct command_resources){.given = true};
    cr_expect_eq(world_do(world, &command), ERR_INVALID_FIELD);
    cr_expect_str_eq(world->err.field, "resources");
    command.freeze.tasks = LIMIT_TASKS + 1;
    cr_expect_eq(world_do(world, &command), ERR_TOO_MANY_TASKS);
}

Test(freeze, a_guest_of_a_listed_project_is_no_member)
{
    world->nodes[VISION].node.membership = MEMBERSHIP_LISTED;
    cr_expect_eq(freeze("a", 1, 300), ERR_OK);
    world->nodes[ALICE].node.flags = NODE_GUEST;
    cr_expect_eq(freeze("b", 1, 300), ERR_NOT_A_MEMBER);
}

Test(freeze, what_no_row_of_the_card_matches_has_no_rate)
{
    world->card.version.row_count = 2;
    cr_expect_eq(freeze("a", 1, 300), ERR_NO_RATE);
}

Test(freeze, a_job_without_a_limit_breaks_a_job_duration_cap)
{
    world->nodes[VISION].node.mode = MODE_WINDOW;
    world_cap(world, VISION, CAP_JOB_DURATION, 3600);
    cr_expect_eq(freeze("a", 1, 3600), ERR_OK);
    cr_expect_eq(freeze("b", 1, 3601), ERR_QUOTA_INSUFFICIENT);
    cr_expect_eq(freeze("b", 1, 0), ERR_QUOTA_INSUFFICIENT);
    cr_expect_eq(violation(CAP_JOB_DURATION)->requested, 0);
}

Test(freeze, the_cap_on_core_hours_of_a_job_is_measured_by_its_whole_limit)
{
    world->nodes[VISION].node.mode = MODE_WINDOW;
    world_cap(world, VISION, CAP_JOB_CORE_HOURS, 16000 * 3600);
    cr_expect_eq(freeze("a", 1, 3600), ERR_OK);
    cr_expect_eq(freeze("b", 1, 3601), ERR_QUOTA_INSUFFICIENT);
}

Test(freeze, one_that_waits_freezes_nothing_and_keeps_its_limits)
{
    world_cap(world, VISION, CAP_GPUS, 1000);
    cr_assert_eq(freeze("a", 1, 300), ERR_OK);
    struct command command = freeze_command("b", 1, 300);
    command.freeze.on_insufficient = INSUFFICIENT_WAIT;
    cr_assert_eq(world_do(world, &command), ERR_OK);
    cr_expect(world->plan.waits);
    cr_expect_eq(world_state(world), TASK_WAITING);
    cr_expect_eq(world_hold(world)->frozen_mcs, 0);
    cr_expect_eq(world->waiting_count, 1);
    cr_expect_eq(world->waiting[0].limit_count, 1);
    cr_expect_eq(world->waiting[0].limits[0].kind, CAP_GPUS);
    cr_expect_eq(world->nodes[VISION].counter.waiting_mcs, JOB_MCS);
}

Test(freeze, a_quote_says_which_limits_fail_also_where_jobs_wait)
{
    world_cap(world, VISION, CAP_GPUS, 1000);
    cr_assert_eq(freeze("a", 1, 300), ERR_OK);
    struct command command = freeze_command("b", 1, 300);
    command.kind = COMMAND_QUOTE;
    command.freeze.on_insufficient = INSUFFICIENT_WAIT;
    cr_expect_eq(world_do(world, &command), ERR_QUOTA_INSUFFICIENT);
    cr_expect_not_null(violation(CAP_GPUS));
}

Test(freeze, what_exceeds_a_cap_by_itself_is_refused_even_with_wait)
{
    world_cap(world, VISION, CAP_GPUS, 1000);
    struct command command = freeze_command("b", 2, 300);
    command.freeze.on_insufficient = INSUFFICIENT_WAIT;
    cr_expect_eq(world_do(world, &command), ERR_QUOTA_INSUFFICIENT);
    cr_expect(violation(CAP_GPUS)->beyond);
}

Test(freeze, funds_alone_never_forbid_to_wait)
{
    struct command command = freeze_command("b", 8, 86400 * 300);
    command.freeze.on_insufficient = INSUFFICIENT_WAIT;
    cr_expect_eq(world_do(world, &command), ERR_OK);
    cr_expect_eq(world_state(world), TASK_WAITING);
}

Test(freeze, what_waits_holds_back_later_freezes_at_its_limits_only)
{
    world_cap(world, VISION, CAP_GPUS, 3000);
    cr_assert_eq(freeze("a", 2, 300), ERR_OK);
    struct command command = freeze_command("b", 2, 300);
    command.freeze.on_insufficient = INSUFFICIENT_WAIT;
    cr_assert_eq(world_do(world, &command), ERR_OK);
    cr_expect_eq(freeze("c", 1, 300), ERR_QUOTA_INSUFFICIENT);
    cr_expect_eq(violation(CAP_GPUS)->missing, 0);
    command = freeze_command("d", 1, 300);
    command.freeze.resources = (struct command_resources){.given = true, .cores = 1};
    cr_expect_eq(world_do(world, &command), ERR_OK);
}

Test(freeze, what_waits_is_promoted_in_order_and_its_ttl_starts_again)
{
    world_cap(world, VISION, CAP_GPUS, 1000);
    cr_assert_eq(freeze("a", 1, 300), ERR_OK);
    struct command command = freeze_command("b", 1, 300);
    command.freeze.on_insufficient = INSUFFICIENT_WAIT;
    cr_assert_eq(world_do(world, &command), ERR_OK);
    cr_expect_eq(world_promote(world), 0);
    world->now_s += 100;
    command = release_command(-1);
    strcpy(command.hold, "a");
    cr_assert_eq(world_do(world, &command), ERR_OK);
    cr_expect(world->plan.room_freed);
    cr_expect_eq(world_promote(world), 1);
    cr_expect_eq(world_state(world), TASK_FROZEN);
    cr_expect_eq(world_hold(world)->due_s, WORLD_NOW + 700);
    cr_assert_eq(world->feed_count, 1);
    cr_expect_eq(world->feed[0].type, FEED_FROZEN);
    cr_expect_str_eq(world->feed[0].tasks, "0");
    cr_expect_eq(world->waiting_count, 0);
}

Test(freeze, a_quote_is_decided_as_a_freeze_is)
{
    cr_expect_eq(decision_of(COMMAND_QUOTE)->decide, decision_of(COMMAND_FREEZE)->decide);
    cr_expect_eq(decision_of(COMMAND_QUOTE)->scope, DECIDE_NEW);
}

Test(freeze, sixteen_grants_may_be_drawn_on_and_not_more)
{
    world->grants[0].available_mcs = 0;
    world->grants[0].withdrawn_mcs = 1000 * HOUR_MCS;
    world->entry_count = 0;
    for (int i = 1; i <= 17; i++) {
        world_grant(world, JOB_MCS / 16, WORLD_NOW, WORLD_NOW + 1000 * i);
    }
    cr_expect_eq(freeze("a", 1, 300), ERR_OK);
    cr_expect_eq(world_hold(world)->draw_count, 16);
    struct command command = release_command(-1);
    cr_assert_eq(world_do(world, &command), ERR_OK);
    cr_expect_eq(freeze("b", 1, 301), ERR_TOO_MANY_DRAWS);
}

/* ---- bind, expiry, release ---- */

Test(freeze, bind_ends_the_ttl_and_the_same_bind_again_is_the_same)
{
    struct command bind = bind_command("1234", "1234@1796058251");
    cr_assert_eq(freeze("a", 1, 300), ERR_OK);
    cr_expect_eq(world_do(world, &bind), ERR_OK);
    cr_expect(world->plan.bound);
    cr_expect_eq(world_hold(world)->due_s, 0);
    cr_expect_str_eq(world_hold(world)->job_key, "1234@1796058251");
    cr_expect_eq(world_do(world, &bind), ERR_OK);
    cr_expect(world->plan.replayed);
    bind = bind_command("1234", "1234@1796099999");
    cr_expect_eq(world_do(world, &bind), ERR_INVALID_STATE);
    cr_expect_str_eq(world->err.field, "job_key");
}

Test(freeze, a_bind_without_a_key_takes_the_job_id)
{
    struct command bind = bind_command("1234", "");
    cr_assert_eq(freeze("a", 1, 300), ERR_OK);
    cr_expect_eq(world_do(world, &bind), ERR_OK);
    cr_expect_str_eq(world_hold(world)->job_key, "1234");
    bind = bind_command("", "");
    cr_expect_eq(world_do(world, &bind), ERR_INVALID_FIELD);
}

Test(freeze, a_job_id_that_was_seen_before_does_not_matter)
{
    struct command bind = bind_command("1234", "1234@1");
    cr_assert_eq(freeze("a", 1, 300), ERR_OK);
    cr_assert_eq(world_do(world, &bind), ERR_OK);
    cr_assert_eq(freeze("b", 1, 300), ERR_OK);
    bind = bind_command("1234", "1234@2");
    cr_expect_eq(world_do(world, &bind), ERR_OK);
    cr_expect_str_eq(world->holds[0].job_key, "1234@1");
    cr_expect_str_eq(world->holds[1].job_key, "1234@2");
}

Test(freeze, an_unbound_hold_expires_and_returns_everything)
{
    struct command expire = expire_command();
    cr_assert_eq(freeze_tasks(3, 0), ERR_OK);
    world->now_s += 599;
    cr_expect_eq(world_do(world, &expire), ERR_OK);
    cr_expect_eq(world_state(world), TASK_FROZEN);
    world->now_s += 1;
    cr_expect_eq(world_do(world, &expire), ERR_OK);
    cr_expect_eq(world_state(world), TASK_EXPIRED);
    cr_expect_eq(world_hold(world)->due_s, 0);
    cr_expect_eq(world_available(world), 1000 * HOUR_MCS);
    cr_expect(world->plan.no_effect || world->plan.room_freed);
}

Test(freeze, a_bound_hold_never_ends_by_time)
{
    struct command expire = expire_command();
    struct command bind = bind_command("1", "1@1");
    cr_assert_eq(freeze("a", 1, 300), ERR_OK);
    cr_assert_eq(world_do(world, &bind), ERR_OK);
    world->now_s += 86400 * 365;
    cr_expect_eq(world_do(world, &expire), ERR_OK);
    cr_expect_eq(world_state(world), TASK_FROZEN);
}

Test(freeze, a_silent_agent_stops_the_ttl_and_finds_a_full_one_when_it_returns)
{
    struct command expire = expire_command();
    world->cluster.agent_seen_s = WORLD_NOW;
    cr_assert_eq(freeze("a", 1, 300), ERR_OK);
    world->now_s += 600;
    cr_expect_eq(world_do(world, &expire), ERR_OK);
    cr_expect_eq(world_state(world), TASK_FROZEN);
    cr_expect_eq(world_hold(world)->due_s, WORLD_NOW + 1200);
    world->now_s = WORLD_NOW + 1200;
    world->cluster.agent_resumed_s = WORLD_NOW + 1000;
    world->cluster.agent_seen_s = WORLD_NOW + 1190;
    cr_expect_eq(world_do(world, &expire), ERR_OK);
    cr_expect_eq(world_state(world), TASK_FROZEN);
    cr_expect_eq(world_hold(world)->due_s, WORLD_NOW + 1600);
    world->now_s = WORLD_NOW + 1600;
    world->cluster.agent_seen_s = WORLD_NOW + 1590;
    cr_expect_eq(world_do(world, &expire), ERR_OK);
    cr_expect_eq(world_state(world), TASK_EXPIRED);
}

Test(freeze, an_unbound_waiting_hold_expires_too)
{
    struct command command = freeze_command("b", 8, 86400 * 300);
    command.freeze.on_insufficient = INSUFFICIENT_WAIT;
    cr_assert_eq(world_do(world, &command), ERR_OK);
    world->now_s += 600;
    command = expire_command();
    cr_expect_eq(world_do(world, &command), ERR_OK);
    cr_expect_eq(world_state(world), TASK_EXPIRED);
    cr_expect_eq(world->waiting_count, 0);
}

Test(freeze, a_release_returns_everything_and_again_is_the_same)
{
    struct command release = release_command(-1);
    cr_assert_eq(freeze_tasks(3, 0), ERR_OK);
    cr_expect_eq(world_do(world, &release), ERR_OK);
    cr_expect_eq(world_state(world), TASK_RELEASED);
    cr_expect_eq(world_available(world), 1000 * HOUR_MCS);
    cr_expect_eq(world->plan.run_refunded_mcs, 3 * JOB_MCS);
    cr_expect_eq(world_do(world, &release), ERR_OK);
    cr_expect(world->plan.replayed);
}

Test(freeze, a_release_of_some_tasks_leaves_the_others)
{
    struct command release = release_command(1);
    cr_assert_eq(freeze_tasks(3, 0), ERR_OK);
    cr_expect_eq(world_do(world, &release), ERR_OK);
    cr_expect_eq(world_hold(world)->frozen_mcs, 2 * JOB_MCS);
    cr_expect_eq(world_hold(world)->counts[TASK_RELEASED], 1);
    cr_expect_eq(world_state(world), TASK_FROZEN);
    release = release_command(3);
    cr_expect_eq(world_do(world, &release), ERR_INVALID_FIELD);
    cr_expect_str_eq(world->err.field, "task");
}

Test(freeze, a_release_of_some_that_wait_lets_the_others_be_looked_at_again)
{
    world_cap(world, VISION, CAP_GPUS, 3000);
    cr_assert_eq(freeze("a", 1, 300), ERR_OK);
    struct command command = freeze_command("b", 1, 300);
    command.freeze.tasks = 3;
    command.freeze.on_insufficient = INSUFFICIENT_WAIT;
    cr_assert_eq(world_do(world, &command), ERR_OK);
    command = release_command(1);
    cr_assert_eq(world_do(world, &command), ERR_OK);
    cr_expect_eq(world->plan.hold_wait, WAIT_STAY);
    cr_expect_eq(world_promote(world), 1);
    cr_expect_eq(world_state(world), TASK_FROZEN);
}

Test(freeze, a_release_leaves_what_has_started)
{
    struct command start = start_command(1, 0, 0);
    struct command release = release_command(1);
    cr_assert_eq(freeze_tasks(3, 0), ERR_OK);
    cr_assert_eq(world_do(world, &start), ERR_OK);
    cr_expect_eq(world_do(world, &release), ERR_OK);
    cr_expect(world->plan.left);
    release = release_command(-1);
    cr_expect_eq(world_do(world, &release), ERR_OK);
    cr_expect_eq(world_hold(world)->counts[TASK_RUNNING], 1);
    cr_expect_eq(world_hold(world)->counts[TASK_RELEASED], 2);
    cr_expect_eq(world_hold(world)->frozen_mcs, JOB_MCS);
}

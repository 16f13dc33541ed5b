/*
 * Seeded random lives of holds: any event at any time, in any order. World_do() recounts everything
 * after each step; here are the properties that span steps.
 */
#include <stdio.h>
#include <string.h>

#include <criterion/criterion.h>

#include "ledger/core/hold_state.h"
#include "tests/lib/random.h"
#include "tests/lib/world.h"

static struct world *world;
static struct test_random random_state;

static int64_t pick(int64_t low, int64_t high)
{
    return test_random_range(&random_state, low, high);
}

static bool chance(int64_t percent)
{
    return test_random_chance(&random_state, percent, 100);
}

/* Seconds after WORLD_NOW, mostly a little before now. */
static int64_t some_time(void)
{
    int64_t now = world->now_s - WORLD_NOW;
    return now - (chance(80) ? pick(0, 600) : pick(0, 86400 * 40));
}

static struct command random_freeze(void)
{
    char id[16];
    (void)snprintf(id, sizeof id, "h%d", world->hold_count);
    struct command command = freeze_command(id, pick(1, 3), chance(90) ? pick(1, 2000) : 0);
    command.freeze.tasks = chance(50) ? 1 : pick(1, 6);
    command.freeze.max_running = chance(70) ? 0 : pick(1, 4);
    command.freeze.mode = chance(50) ? MODE_FULL : MODE_WINDOW;
    command.freeze.on_insufficient = chance(50) ? INSUFFICIENT_WAIT : INSUFFICIENT_REJECT;
    return command;
}

static struct command random_settle(enum command_kind kind, int64_t task, int64_t attempt)
{
    int64_t ended = some_time();
    struct command command =
        settle_command(task, attempt, chance(60) ? ended - pick(0, 3000) : NOT_GIVEN, ended);
    command.kind = kind;
    if (chance(10)) {
        command.run.started_at_s -= command.run.started_at_s > 0 ? 86400 * pick(1, 70) : 0;
    }
    if (chance(25)) {
        command.run.suspended_given = true;
        command.run.suspended_s = pick(0, 400);
    }
    command.run.outcome = chance(70) ? OUTCOME_COMPLETED : (enum outcome)pick(1, OUTCOME_OTHER);
    if (chance(25)) {
        command.run.resources = a100s(pick(1, 4));
    }
    return command;
}

static struct command random_resize(int64_t task)
{
    struct command command =
        resize_command(chance(40) ? -1 : task, some_time(), chance(60) ? pick(1, 4) : 0,
                       chance(60) ? pick(1, 3000) : 0);
    if (chance(20)) {
        command.run.job.given = true;
        strcpy(command.run.job.partition, chance(50) ? "gold" : "silver");
    }
    return command;
}

static struct command random_command(void)
{
    static const enum command_kind verbs[] = {
        COMMAND_BIND,      COMMAND_START,       COMMAND_START,   COMMAND_HEARTBEAT,
        COMMAND_HEARTBEAT, COMMAND_SUSPEND,     COMMAND_RESUME,  COMMAND_RESIZE,
        COMMAND_RESIZE,    COMMAND_REQUEUE,     COMMAND_REQUEUE, COMMAND_SETTLE,
        COMMAND_SETTLE,    COMMAND_RELEASE,     COMMAND_CORRECT, COMMAND_REFUND,
        COMMAND_TURN_RUN,  COMMAND_EXPIRE_HOLD,
    };
    if (world->hold_count == 0 || (world->hold_count < WORLD_HOLDS && chance(8))) {
        return chance(80)
                   ? random_freeze()
                   : charge_command(chance(50) ? "c" : "d", 1, some_time() - 4000, some_time());
    }
    const struct hold *hold = &world->holds[pick(0, world->hold_count - 1)];
    int64_t task = pick(0, hold->tasks - 1 + chance(2));
    int64_t attempt = chance(60) ? 0 : pick(0, 3);
    char id[RECORD_ID_BYTES];
    strcpy(id, hold->id);
    struct command command = {.kind = COMMAND_BIND};
    enum command_kind kind = verbs[pick(0, ARRAY_LEN(verbs) - 1)];
    switch ((int)kind) {
    case COMMAND_BIND:
        command = bind_command("7", chance(50) ? "7@1" : "7@2");
        break;
    case COMMAND_START:
        command = start_command(task, attempt, some_time());
        break;
    case COMMAND_HEARTBEAT:
        command = beat_command(task, attempt, some_time());
        break;
    case COMMAND_SUSPEND:
    case COMMAND_RESUME:
        command = pause_command(kind, task, some_time());
        break;
    case COMMAND_RESIZE:
        command = random_resize(task);
        break;
    case COMMAND_RELEASE:
        command = release_command(chance(30) ? -1 : task);
        break;
    case COMMAND_REFUND:
        command = refund_command("r", task, attempt, chance(30) ? -1 : pick(1, 3000000));
        break;
    case COMMAND_TURN_RUN:
        command = turn_command(task, attempt, 0);
        break;
    case COMMAND_EXPIRE_HOLD:
        command = expire_command();
        break;
    default:
        command = random_settle(kind, task, attempt);
        break;
    }
    strcpy(command.hold, id);
    return command;
}

static void change_surroundings(void)
{
    static const enum cap_kind kinds[] = {CAP_MONTH, CAP_YEAR, CAP_TOTAL,         CAP_GPUS,
                                          CAP_CORES, CAP_JOBS, CAP_JOB_CORE_HOURS};
    if (chance(6)) {
        enum cap_kind kind = kinds[pick(0, ARRAY_LEN(kinds) - 1)];
        static const int64_t units[] = {JOB_MCS, 1000, 16000, 1, JOB_MCS};
        int64_t unit = kind <= CAP_TOTAL   ? units[0]
                       : kind == CAP_GPUS  ? units[1]
                       : kind == CAP_CORES ? units[2]
                       : kind == CAP_JOBS  ? units[3]
                                           : units[4];
        world_cap(world, (int)pick(ALICE, ACME), kind,
                  chance(30) ? RECORD_UNLIMITED : unit * pick(0, 12));
    }
    if (chance(3) && world->grant_count < WORLD_GRANTS - 1) {
        world_grant(world, pick(1, 20 * HOUR_MCS), world->now_s,
                    world->now_s + pick(1, 86400 * 20));
    }
    world->now_s += chance(95) ? pick(0, 300) : pick(0, 86400 * 10);
    world_end_grants(world);
    if (chance(10)) {
        world->cluster.on_exhausted = (enum on_exhausted)pick(0, 2);
    }
    if (chance(3)) {
        world->oldest_open_month = calendar_month(&world->calendar, world->now_s) - pick(0, 2);
    }
    if (chance(5)) {
        world->nodes[pick(ALICE, ACME)].node.state = chance(30) ? NODE_CLOSED : NODE_OPEN;
    }
    if (chance(40)) {
        world->feed_count = 0;
        (void)world_promote(world);
    }
}

/* Twice the same is the same once: the second time nothing is booked (SPEC 6.1). Some commands mean
 * "now" and are judged against what is now. */
static void repeat(const struct command *command)
{
    static const bool repeatable[COMMAND__COUNT] = {
        [COMMAND_BIND] = true,     [COMMAND_START] = true,   [COMMAND_RESIZE] = true,
        [COMMAND_REQUEUE] = true,  [COMMAND_SETTLE] = true,  [COMMAND_RELEASE] = true,
        [COMMAND_CORRECT] = true,  [COMMAND_SUSPEND] = true, [COMMAND_RESUME] = true,
        [COMMAND_TURN_RUN] = true,
    };
    if (!repeatable[command->kind]) {
        return;
    }
    int32_t entries = world->entry_count;
    int32_t usage = world->usage_count;
    enum error_code code = world_do(world, command);
    cr_assert_eq(code, ERR_OK, "command %d again: %s", command->kind, world->err.detail);
    cr_assert_eq(world->entry_count, entries, "command %d booked twice", command->kind);
    cr_assert_eq(world->usage_count, usage);
}

static void live(int steps)
{
    world = world_new();
    world_cap(world, VISION, CAP_GPUS, 6000);
    for (int i = 0; i < steps; i++) {
        struct command command = random_command();
        if (world->run_count > WORLD_RUNS - 4 || world->task_count > WORLD_TASKS - 4 ||
            world->entry_count > WORLD_ENTRIES - 2000 || world->usage_count > WORLD_USAGE - 2000) {
            return;
        }
        enum error_code code = world_do(world, &command);
        cr_assert_neq(code, ERR_INTERNAL);
        if (code == ERR_OK) {
            repeat(&command);
        }
        change_surroundings();
    }
}

/* Whatever happened, when each open run has been settled and the rest released, nothing is frozen and
 * nothing waits. */
static void wind_up(void)
{
    for (int32_t i = 0; i < world->hold_count; i++) {
        struct command release = release_command(-1);
        strcpy(release.hold, world->holds[i].id);
        cr_assert_eq(world_do(world, &release), ERR_OK);
    }
    for (int32_t i = 0; i < world->run_count; i++) {
        const struct run *run = &world->runs[i];
        if (task_state_is_open(run->state)) {
            struct command settle = settle_command(run->task, run->attempt, NOT_GIVEN, 0);
            int64_t now_s = world->now_s;
            settle.run.ended_at_s = run->started_s > now_s ? run->started_s : now_s;
            strcpy(settle.hold, world->holds[run->hold_no - 1].id);
            cr_assert_eq(world_do(world, &settle), ERR_OK, "%s", world->err.detail);
        }
    }
    cr_assert_eq(world->waiting_count, 0);
    cr_assert_eq(world->nodes[ACME].counter.frozen_mcs, 0);
    cr_assert_eq(world->nodes[ACME].counter.open_tasks, 0);
    cr_assert_eq(world->nodes[ACME].counter.jobs, 0);
}

Test(decide_random, any_order_of_events_keeps_every_account_whole, .timeout = 3000)
{
    test_random_init(&random_state, "decide_random");
    for (int64_t round = 0; round < test_rounds(40); round++) {
        live(300);
        wind_up();
    }
}

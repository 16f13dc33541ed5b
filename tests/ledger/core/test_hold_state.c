/* The table of moves and the counts that follow it (SPEC 5.1). */
#include <string.h>

#include <criterion/criterion.h>

#include "ledger/core/hold_state.h"
#include "tests/lib/random.h"

enum { W = TASK_WAITING, F, R, S, T, L, E };

Test(hold_state, the_table_has_the_moves_of_the_diagram_and_no_other)
{
    /* Row: from; column: to. Order: waiting frozen running suspended settled released expired. */
    static const char *const allowed[TASK__COUNT] = {
        [W] = ".xx.xxx", [F] = "x.x.xxx", [R] = "xx.xx..", [S] = "xxx.x..",
        [T] = "xxx....", [L] = ".xx.x..", [E] = ".xx.x..",
    };
    for (int from = 0; from < TASK__COUNT; from++) {
        for (int to = 0; to < TASK__COUNT; to++) {
            cr_assert_eq(task_may_move((enum task_state)from, (enum task_state)to),
                         allowed[from][to] == 'x', "%s -> %s",
                         task_state_name((enum task_state)from),
                         task_state_name((enum task_state)to));
        }
    }
}

Test(hold_state, states_are_named_as_in_answers)
{
    static const char *const names[TASK__COUNT] = {"waiting", "frozen",   "running", "suspended",
                                                   "settled", "released", "expired"};
    for (int state = 0; state < TASK__COUNT; state++) {
        cr_assert_str_eq(task_state_name((enum task_state)state), names[state]);
    }
}

Test(hold_state, frozen_running_and_suspended_tasks_are_open)
{
    struct hold hold = {.counts = {1, 20, 300, 4000, 50000, 600000, 7000000}};
    cr_assert_eq(hold_open_tasks(&hold), 4320);
    cr_assert(task_state_is_open(TASK_FROZEN));
    cr_assert(task_state_is_open(TASK_RUNNING));
    cr_assert(task_state_is_open(TASK_SUSPENDED));
    cr_assert_not(task_state_is_open(TASK_WAITING));
    cr_assert_not(task_state_is_open(TASK_SETTLED));
    cr_assert_not(task_state_is_open(TASK_RELEASED));
    cr_assert_not(task_state_is_open(TASK_EXPIRED));
}

Test(hold_state, a_hold_shows_running_before_suspended_before_waiting_before_frozen)
{
    static const enum task_state order[] = {TASK_RUNNING, TASK_SUSPENDED, TASK_WAITING,
                                            TASK_FROZEN};
    struct hold hold = {.last_terminal = TASK_EXPIRED, .counts = {5, 5, 5, 5, 5, 5, 5}};
    for (size_t i = 0; i < ARRAY_LEN(order); i++) {
        cr_assert_eq(hold_state(&hold), order[i]);
        hold.counts[order[i]] = 0;
    }
    cr_assert_eq(hold_state(&hold), TASK_EXPIRED, "no open task: the last terminal state");
}

Test(hold_state, a_touched_task_leaves_the_untouched_ones_in_their_state)
{
    struct hold hold = {.hold_no = 7,
                        .tasks = 3,
                        .untouched = 3,
                        .untouched_state = TASK_FROZEN,
                        .counts = {[TASK_FROZEN] = 3}};
    struct task task = {.attempt = 9, .wait_no = 9};
    hold_touch_task(&hold, 2, &task);
    cr_assert_eq(task.hold_no, 7);
    cr_assert_eq(task.task, 2);
    cr_assert_eq(task.state, TASK_FROZEN);
    cr_assert_eq(task.attempt, 0);
    cr_assert_eq(task.wait_no, 0);
    cr_assert_eq(hold.untouched, 2);
    cr_assert_eq(hold.counts[TASK_FROZEN], 3);

    hold_move_task(&hold, &task, TASK_RUNNING);
    cr_assert_eq(task.state, TASK_RUNNING);
    cr_assert_eq(hold.counts[TASK_FROZEN], 2);
    cr_assert_eq(hold.counts[TASK_RUNNING], 1);

    hold_move_untouched(&hold, TASK_RELEASED);
    cr_assert_eq(hold.untouched_state, TASK_RELEASED);
    cr_assert_eq(hold.counts[TASK_FROZEN], 0);
    cr_assert_eq(hold.counts[TASK_RELEASED], 2);
    cr_assert_eq(hold.last_terminal, TASK_RELEASED);
    cr_assert_eq(hold_state(&hold), TASK_RUNNING);
}

enum { TASKS = 12 };

/* The counts, told anew from every task. */
static void counts_told_anew(const struct hold *hold,
                             const struct task *tasks,
                             const bool *touched,
                             int64_t counts[TASK__COUNT])
{
    memset(counts, 0, TASK__COUNT * sizeof counts[0]);
    for (int i = 0; i < TASKS; i++) {
        counts[touched[i] ? tasks[i].state : hold->untouched_state]++;
    }
}

static void move_one(struct test_random *random, struct hold *hold, struct task *task)
{
    enum task_state to = (enum task_state)test_random_range(random, 0, TASK__COUNT - 1);
    if (task_may_move(task->state, to)) {
        hold_move_task(hold, task, to);
    }
}

Test(hold_state, counts_follow_any_sequence_of_moves)
{
    struct test_random random;
    test_random_init(&random, "hold_state/counts");
    for (int64_t round = test_rounds(200); round > 0; round--) {
        struct hold hold = {.tasks = TASKS, .untouched = TASKS, .untouched_state = TASK_WAITING};
        struct task tasks[TASKS];
        bool touched[TASKS] = {false};
        hold.counts[TASK_WAITING] = TASKS;
        for (int step = 0; step < 60; step++) {
            int i = (int)test_random_range(&random, 0, TASKS - 1);
            enum task_state to = (enum task_state)test_random_range(&random, 0, TASK__COUNT - 1);
            if (hold.untouched > 0 && test_random_chance(&random, 1, 8)) {
                if (task_may_move(hold.untouched_state, to)) {
                    hold_move_untouched(&hold, to);
                }
            } else if (!touched[i]) {
                hold_touch_task(&hold, i, &tasks[i]);
                touched[i] = true;
            } else {
                move_one(&random, &hold, &tasks[i]);
            }
            int64_t counts[TASK__COUNT];
            counts_told_anew(&hold, tasks, touched, counts);
            cr_assert_arr_eq(counts, hold.counts, sizeof counts);
        }
    }
}

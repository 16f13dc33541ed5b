/*
 * Task states: one table of moves, and the counts of a hold that follow every move. Pure.
 *
 * Invariants: counts[] adds up to hold.tasks; the untouched tasks are in it under untouched_state.
 */
#include "ledger/core/hold_state.h"

#include <stddef.h>

#include "ledger/base/check.h"

#define BIT(state) (1U << (state))

/* The diagram in hold_state.h, as sets of targets. */
static const unsigned MOVES[TASK__COUNT] = {
    [TASK_WAITING] = BIT(TASK_FROZEN) | BIT(TASK_RELEASED) | BIT(TASK_EXPIRED) | BIT(TASK_RUNNING) |
                     BIT(TASK_SETTLED),
    [TASK_FROZEN] = BIT(TASK_RUNNING) | BIT(TASK_SETTLED) | BIT(TASK_RELEASED) | BIT(TASK_EXPIRED) |
                    BIT(TASK_WAITING),
    [TASK_RUNNING] = BIT(TASK_SUSPENDED) | BIT(TASK_SETTLED) | BIT(TASK_FROZEN) | BIT(TASK_WAITING),
    [TASK_SUSPENDED] = BIT(TASK_RUNNING) | BIT(TASK_SETTLED) | BIT(TASK_FROZEN) | BIT(TASK_WAITING),
    [TASK_SETTLED] = BIT(TASK_FROZEN) | BIT(TASK_WAITING) | BIT(TASK_RUNNING),
    [TASK_RELEASED] = BIT(TASK_FROZEN) | BIT(TASK_RUNNING) | BIT(TASK_SETTLED),
    [TASK_EXPIRED] = BIT(TASK_FROZEN) | BIT(TASK_RUNNING) | BIT(TASK_SETTLED),
};

static const unsigned OPEN_STATES = BIT(TASK_FROZEN) | BIT(TASK_RUNNING) | BIT(TASK_SUSPENDED);
static const unsigned TERMINAL_STATES = BIT(TASK_SETTLED) | BIT(TASK_RELEASED) | BIT(TASK_EXPIRED);

/* What a hold shows is the first of these that any of its tasks is in. */
static const enum task_state SHOWN_ORDER[] = {
    TASK_RUNNING,
    TASK_SUSPENDED,
    TASK_WAITING,
    TASK_FROZEN,
};

static const char *const NAMES[TASK__COUNT] = {
    [TASK_WAITING] = "waiting",     [TASK_FROZEN] = "frozen",   [TASK_RUNNING] = "running",
    [TASK_SUSPENDED] = "suspended", [TASK_SETTLED] = "settled", [TASK_RELEASED] = "released",
    [TASK_EXPIRED] = "expired",
};

bool task_may_move(enum task_state from, enum task_state to)
{
    assert(from < TASK__COUNT && to < TASK__COUNT);
    return (MOVES[from] & BIT(to)) != 0;
}

bool task_state_is_open(enum task_state state)
{
    return (OPEN_STATES & BIT(state)) != 0;
}

int64_t hold_open_tasks(const struct hold *hold)
{
    return hold->counts[TASK_FROZEN] + hold->counts[TASK_RUNNING] + hold->counts[TASK_SUSPENDED];
}

static void move_count(struct hold *hold, enum task_state from, enum task_state to, int64_t tasks)
{
    assert(task_may_move(from, to));
    assert(hold->counts[from] >= tasks);
    hold->counts[from] -= tasks;
    hold->counts[to] += tasks;
    if ((TERMINAL_STATES & BIT(to)) != 0) {
        hold->last_terminal = to;
    }
}

void hold_move_task(struct hold *hold, struct task *task, enum task_state to)
{
    assert(task->hold_no == hold->hold_no);
    move_count(hold, task->state, to, 1);
    task->state = to;
}

void hold_move_untouched(struct hold *hold, enum task_state to)
{
    assert(hold->untouched > 0);
    move_count(hold, hold->untouched_state, to, hold->untouched);
    hold->untouched_state = to;
}

void hold_touch_task(struct hold *hold, int64_t number, struct task *ret_task)
{
    assert(hold->untouched > 0);
    assert(number >= 0 && number < hold->tasks);
    hold->untouched--;
    *ret_task = (struct task){
        .hold_no = hold->hold_no,
        .task = number,
        .state = hold->untouched_state,
    };
}

enum task_state hold_state(const struct hold *hold)
{
    for (size_t i = 0; i < ARRAY_LEN(SHOWN_ORDER); i++) {
        if (hold->counts[SHOWN_ORDER[i]] > 0) {
            return SHOWN_ORDER[i];
        }
    }
    return hold->last_terminal;
}

const char *task_state_name(enum task_state state)
{
    assert(state < TASK__COUNT);
    return NAMES[state];
}

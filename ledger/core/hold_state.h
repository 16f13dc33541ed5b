/*
 * The states of tasks and the one table of their moves (SPEC 5.1).
 *
 *     waiting -> frozen | released | expired            frozen -> running | settled | released |
 * expired (unbound only) | waiting running -> suspended | settled | frozen (requeued) | waiting
 * (requeued, no room)      suspended -> running | settled | frozen | waiting released, expired ->
 * frozen | running | settled (late evidence)       settled -> frozen | waiting | running (next
 * attempt)
 */
#ifndef LEDGER_CORE_HOLD_STATE_H
#define LEDGER_CORE_HOLD_STATE_H

#include "ledger/core/record.h"

/* Whether the table has this move. */
bool task_may_move(enum task_state from, enum task_state to);

/* frozen, running, suspended: committed. waiting is not. */
bool task_state_is_open(enum task_state state);

/* Move one task (its row and the hold's counts), or all untouched ones together when task is NULL.
 * The move must be legal (assert). */
void hold_move_task(struct hold *hold, struct task *task, enum task_state to);
void hold_move_untouched(struct hold *hold, enum task_state to);

/* Take one task out of the untouched ones: fills ret_task in the state they are in. */
void hold_touch_task(struct hold *hold, int64_t number, struct task *ret_task);

/* What the hold shows: running if any runs, else suspended, waiting, frozen, else the last terminal
 * state. */
enum task_state hold_state(const struct hold *hold);

const char *task_state_name(enum task_state state);

#endif

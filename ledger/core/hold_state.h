/*
 * The states of tasks and the one table of their moves (SPEC 5.1).
 *
 *     waiting            -> frozen | released | expired | running | settled (late evidence)
 *     frozen             -> running | settled | released | expired (unbound only) | waiting
 *     running            -> suspended | settled | frozen (requeued) | waiting (requeued, no room)
 *     suspended          -> running | settled | frozen | waiting
 *     settled            -> frozen | waiting | running (next attempt)
 *     released, expired  -> frozen | running | settled (late evidence)
 *
 * Pure, any thread.
 */
#ifndef LEDGER_CORE_HOLD_STATE_H
#define LEDGER_CORE_HOLD_STATE_H

#include "ledger/core/record.h"

/* Whether the table has this move. */
bool task_may_move(enum task_state from, enum task_state to);

/* frozen, running, suspended: committed. waiting is not. */
bool task_state_is_open(enum task_state state);

/* Open tasks of a hold. */
int64_t hold_open_tasks(const struct hold *hold);

/* Move one task (its row and the hold's counts), or all untouched ones together. The move must be
 * legal (assert). own_open is the caller's: it alone knows whose resources are the task's own. */
void hold_move_task(struct hold *hold, struct task *task, enum task_state to);
void hold_move_untouched(struct hold *hold, enum task_state to);

/* Take one task out of the untouched ones: fills ret_task in the state they are in, attempt 0. */
void hold_touch_task(struct hold *hold, int64_t number, struct task *ret_task);

/* What the hold shows: running if any runs, else suspended, waiting, frozen, else the last terminal
 * state. */
enum task_state hold_state(const struct hold *hold);

/* "frozen"; static. */
const char *task_state_name(enum task_state state);

#endif

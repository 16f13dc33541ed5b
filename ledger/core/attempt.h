/*
 * Where an attempt of a task stands when an event about it arrives, and bringing it into being.
 *
 * Events come late, double and out of order (SPEC 5.12). What each means depends on one thing, the
 * stand of the attempt it names; each decision has a table over it. Pure, any thread.
 */
#ifndef LEDGER_CORE_ATTEMPT_H
#define LEDGER_CORE_ATTEMPT_H

#include "ledger/core/booking.h"

/* The first are the states of tasks, value for value. */
enum stand {
    STAND_WAITING = TASK_WAITING,
    STAND_FROZEN = TASK_FROZEN,
    STAND_RUNNING = TASK_RUNNING,
    STAND_SUSPENDED = TASK_SUSPENDED,
    STAND_SETTLED = TASK_SETTLED,
    STAND_RELEASED = TASK_RELEASED,
    STAND_EXPIRED = TASK_EXPIRED,
    STAND_NEXT = TASK__COUNT, /* newer than any attempt known */
    STAND_OLDER,              /* older than the newest, and never heard of */
    STAND__COUNT
};

/* Whether the command's task and attempt are numbers that the hold can have: ERR_OK or
 * ERR_INVALID_FIELD. */
MUST_USE enum error_code attempt_check(const struct view *view,
                                       int64_t task,
                                       int64_t attempt,
                                       struct error *err);

/* Where the attempt stands. The view is as for DECIDE_RUN. */
enum stand attempt_stand(const struct view *view, int64_t attempt);

/* Give the view's task a row of its own. */
void attempt_touch(struct booking *booking);

/*
 * Make sure that view->run is the attempt: make it where it has no row, with what is frozen for it.
 * A next attempt takes over what is frozen or waits for one that never started; one that runs stays
 * open beside it (SPEC 5.12). Touches the task, and makes a next attempt the task's newest. Moves
 * neither states nor counters.
 */
void attempt_bring(struct booking *booking, int64_t attempt, enum stand stand);

/*
 * The attempt starts at @started_s: brings it into being, freezes for it where nothing is frozen,
 * past the limits if need be, opens it and binds the hold. For every stand but running, suspended
 * and settled.
 */
MUST_USE enum error_code attempt_start(struct booking *booking,
                                       int64_t attempt,
                                       enum stand stand,
                                       int64_t started_s,
                                       struct error *err);

/* view->run has just been settled: move the task accordingly. @was_open: it had started before. */
void attempt_closed(struct booking *booking, bool was_open);

/* A start or settle of any task binds the whole hold (SPEC 5.3). */
void hold_bind(struct view *view);

/* Move the view's task, where it is not there already. */
void task_move(struct view *view, enum task_state to);

/* A time of a job against the ledger's clock: ERR_OK or ERR_TIME_IN_FUTURE (SPEC 5.6). */
MUST_USE enum error_code time_check(const struct view *view,
                                    const char *field,
                                    int64_t time_s,
                                    struct error *err);

/* "task 3 of hold ..., attempt 1" for messages. */
#define ATTEMPT_TEXT_BYTES 128
const char *attempt_text(const struct view *view,
                         int64_t attempt,
                         char ret_text[ATTEMPT_TEXT_BYTES]);

#endif

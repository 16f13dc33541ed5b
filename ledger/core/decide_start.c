/*
 * Start opens a run (SPEC 5.4, 5.12). Pure.
 */
#include <stdio.h>

#include "ledger/core/attempt.h"
#include "ledger/core/decide.h"

/* What a start means by where its attempt stands. */
enum start_action {
    START_OPEN,  /* the run starts; freeze for it where nothing is frozen */
    START_AGAIN, /* it has started: the earlier time stays */
    START_NONE,  /* it has ended: no effect */
};

static const enum start_action ACTIONS[STAND__COUNT] = {
    [STAND_WAITING] = START_OPEN,    [STAND_FROZEN] = START_OPEN,  [STAND_RUNNING] = START_AGAIN,
    [STAND_SUSPENDED] = START_AGAIN, [STAND_SETTLED] = START_NONE, [STAND_RELEASED] = START_OPEN,
    [STAND_EXPIRED] = START_OPEN,    [STAND_NEXT] = START_OPEN,    [STAND_OLDER] = START_OPEN,
};

static void note_seen(struct view *view, const struct command_run *given, int64_t started_s)
{
    struct run *run = &view->run;
    if (run->run_key[0] == '\0' && given->run_key[0] != '\0') {
        (void)snprintf(run->run_key, sizeof run->run_key, "%s", given->run_key);
    }
    run->seen_s = started_s > run->seen_s ? started_s : run->seen_s;
    view->hold.seen_s = view->now_s > view->hold.seen_s ? view->now_s : view->hold.seen_s;
}

/* A second start. The earlier of two times stays, whichever came first; a start that a heartbeat
 * only guessed gives way without a mark. */
static enum error_code start_again(struct booking *booking, int64_t started_s, struct error *err)
{
    struct run *run = &booking->view->run;
    bool guessed = (run->flags & FLAG_BY_HEARTBEAT) != 0;
    booking->plan->run_changed = true;
    if (started_s >= run->started_s) {
        booking_flag(booking, guessed ? 0 : FLAG_RESTARTED);
        return ERR_OK;
    }
    struct run before = *run;
    run_start_move(run, started_s);
    run->flags &= ~(int64_t)FLAG_BY_HEARTBEAT;
    booking_flag(booking, guessed ? 0 : FLAG_RESTARTED);
    return booking_charge_open(booking, &before, err);
}

static enum error_code act(struct booking *booking,
                           const struct command *command,
                           enum stand stand,
                           int64_t started_s,
                           struct error *err)
{
    switch (ACTIONS[stand]) {
    case START_OPEN:
        return attempt_start(booking, command->attempt, stand, started_s, err);
    case START_AGAIN:
        if (started_s == booking->view->run.started_s) {
            booking->plan->replayed = true;
            return ERR_OK;
        }
        return start_again(booking, started_s, err);
    case START_NONE:
        booking->plan->no_effect = true;
        return ERR_OK;
    }
    return ERR_OK;
}

enum error_code decide_start(struct view *view,
                             const struct command *command,
                             const struct calendar *calendar,
                             struct plan *plan,
                             struct error *err)
{
    int64_t started_s = command->run.started_at_s > 0 ? command->run.started_at_s : view->now_s;
    enum error_code code = attempt_check(view, command->task, command->attempt, err);
    if (code == ERR_OK) {
        code = time_check(view, "started_at", started_s, err);
    }
    if (code != ERR_OK) {
        return code;
    }
    struct booking booking;
    booking_begin(&booking, view, calendar, plan);
    code = act(&booking, command, attempt_stand(view, command->attempt), started_s, err);
    if (code != ERR_OK || plan->replayed || plan->no_effect) {
        return code;
    }
    note_seen(view, &command->run, started_s);
    booking_finish(&booking);
    return ERR_OK;
}

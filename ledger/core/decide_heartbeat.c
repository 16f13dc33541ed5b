/*
 * Heartbeats say that runs live, and in window mode charge and renew them (SPEC 5.4); the turn of a
 * month charges what ran before it (SPEC 8.1). Pure.
 */
#include <inttypes.h>
#include <stdio.h>

#include "ledger/base/amount.h"
#include "ledger/core/attempt.h"
#include "ledger/core/decide.h"

/* What a heartbeat means by where its attempt stands. */
enum beat_action {
    BEAT_OPEN, /* before its start: opens the run at its time */
    BEAT_LIVE,
    BEAT_ENDED,
    BEAT_OLD,
};

static const enum beat_action ACTIONS[STAND__COUNT] = {
    [STAND_WAITING] = BEAT_OPEN,   [STAND_FROZEN] = BEAT_OPEN,   [STAND_RUNNING] = BEAT_LIVE,
    [STAND_SUSPENDED] = BEAT_LIVE, [STAND_SETTLED] = BEAT_ENDED, [STAND_RELEASED] = BEAT_OPEN,
    [STAND_EXPIRED] = BEAT_OPEN,   [STAND_NEXT] = BEAT_OPEN,     [STAND_OLDER] = BEAT_OLD,
};

/* What the cluster wants done when a renewal does not fit (SPEC 5.4). */
static const struct {
    bool freeze; /* all the same, past the limits */
    bool tell;
    enum feed_type feed;
    int64_t flag;
    enum heartbeat_result result;
} EXHAUSTED[] = {
    [EXHAUSTED_CONTINUE] = {true, false, FEED_EXHAUSTED, FLAG_EXHAUSTED, HEARTBEAT_OK},
    [EXHAUSTED_NOTIFY] = {true, true, FEED_EXHAUSTED, FLAG_EXHAUSTED, HEARTBEAT_OK},
    [EXHAUSTED_STOP] = {false, true, FEED_STOP, FLAG_EXHAUSTED | FLAG_STOPPED, HEARTBEAT_STOP},
};

static void tell(struct booking *booking, enum feed_type type, int64_t mcs)
{
    char task[24];
    char amount[AMOUNT_TEXT_BYTES];
    char message[RECORD_NOTE_BYTES];
    (void)snprintf(task, sizeof task, "%" PRId64, booking->view->run.task);
    (void)snprintf(message, sizeof message,
                   "quota insufficient to renew the freeze by %s core-hours",
                   amount_format_core_hours(amount_from_mcs(mcs), 2, amount));
    plan_feed(booking->plan, booking->view, type, task, message);
}

/* The renewal does not fit: by the cluster's policy. Tells the adapter once a run. */
static enum error_code exhausted(struct booking *booking,
                                 const struct booking_freeze *freeze,
                                 struct error *err)
{
    struct run *run = &booking->view->run;
    enum on_exhausted policy = booking->view->cluster.on_exhausted;
    bool told = (run->flags & EXHAUSTED[policy].flag) == EXHAUSTED[policy].flag;
    if (EXHAUSTED[policy].tell && !told) {
        tell(booking, EXHAUSTED[policy].feed, freeze->mcs);
    }
    booking_flag(booking, EXHAUSTED[policy].flag);
    booking->plan->heartbeat = EXHAUSTED[policy].result;
    if (!EXHAUSTED[policy].freeze) {
        booking->plan->violation_count = 0;
        return ERR_OK;
    }
    bool fits = false;
    enum error_code code = booking_freeze_anyway(booking, freeze, &fits, err);
    run->frozen_mcs += code == ERR_OK ? freeze->mcs : 0;
    return code;
}

static enum error_code top_up(struct booking *booking, int64_t mcs, struct error *err)
{
    struct run *run = &booking->view->run;
    struct booking_freeze freeze = {.mcs = mcs, .task = run->task, .attempt = run->attempt};
    enum error_code code = booking_freeze_more(booking, &freeze, err);
    if (code == ERR_QUOTA_INSUFFICIENT) {
        error_clear(err);
        return exhausted(booking, &freeze, err);
    }
    if (code == ERR_OK) {
        run->frozen_mcs += mcs;
        run->flags &= ~(int64_t)FLAG_EXHAUSTED;
    }
    return code;
}

/* Charge up to at_s and keep one window frozen beyond it. */
static enum error_code renew(struct booking *booking, int64_t at_s, struct error *err)
{
    struct view *view = booking->view;
    struct run *run = &view->run;
    if (at_s <= run->booked_until_s) {
        return ERR_OK;
    }
    struct run before = *run;
    int64_t wanted_mcs = 0;
    enum error_code code = run_needed_mcs(&view->hold, run, at_s, &wanted_mcs, err);
    if (code != ERR_OK) {
        return code;
    }
    if ((run->flags & FLAG_STOPPED) != 0) {
        booking->plan->heartbeat = HEARTBEAT_STOP;
    } else if (wanted_mcs > run->frozen_mcs) {
        code = top_up(booking, wanted_mcs - run->frozen_mcs, err);
        if (code != ERR_OK) {
            return code;
        }
    }
    run->booked_until_s = at_s;
    return booking_charge_open(booking, &before, err);
}

/* Up to when the run ran, by at_s: while it is suspended, up to the suspension (SPEC 5.5). */
static int64_t ran_until(const struct run *run, int64_t at_s)
{
    if (run->state != TASK_SUSPENDED || run->suspension_count == 0) {
        return at_s;
    }
    int64_t from_s = run->suspensions[run->suspension_count - 1].from_s;
    return from_s < at_s ? from_s : at_s;
}

/* A heartbeat of a run that lives. */
static enum error_code beat(struct booking *booking, int64_t at_s, struct error *err)
{
    struct view *view = booking->view;
    struct run *run = &view->run;
    if (at_s < run->seen_s || at_s < run->started_s) {
        booking->plan->heartbeat = HEARTBEAT_OLD;
        booking->plan->no_effect = true;
        return ERR_OK;
    }
    run->seen_s = at_s;
    booking->plan->run_changed = true;
    booking->plan->heartbeat = (run->flags & FLAG_STOPPED) != 0 ? HEARTBEAT_STOP : HEARTBEAT_OK;
    if (view->hold.mode != MODE_WINDOW) {
        return ERR_OK;
    }
    return renew(booking, ran_until(run, at_s), err);
}

static enum error_code act(struct booking *booking,
                           int64_t attempt,
                           int64_t at_s,
                           struct error *err)
{
    enum stand stand = attempt_stand(booking->view, attempt);
    switch (ACTIONS[stand]) {
    case BEAT_OPEN: {
        enum error_code code = attempt_start(booking, attempt, stand, at_s, err);
        booking_flag(booking, FLAG_BY_HEARTBEAT);
        booking->view->run.seen_s = at_s;
        return code;
    }
    case BEAT_LIVE:
        return beat(booking, at_s, err);
    case BEAT_ENDED:
    case BEAT_OLD:
        booking->plan->heartbeat = ACTIONS[stand] == BEAT_ENDED ? HEARTBEAT_ENDED : HEARTBEAT_OLD;
        booking->plan->no_effect = true;
        return ERR_OK;
    }
    return ERR_OK;
}

enum error_code decide_heartbeat(struct view *view,
                                 const struct command *command,
                                 const struct calendar *calendar,
                                 struct plan *plan,
                                 struct error *err)
{
    int64_t at_s = command->run.at_s > 0 ? command->run.at_s : view->now_s;
    enum error_code code = attempt_check(view, command->task, command->attempt, err);
    if (code == ERR_OK) {
        code = time_check(view, "at", at_s, err);
    }
    if (code != ERR_OK) {
        return code;
    }
    struct booking booking;
    booking_begin(&booking, view, calendar, plan);
    code = act(&booking, command->attempt, at_s, err);
    if (code != ERR_OK || plan->no_effect) {
        return code;
    }
    view->hold.seen_s = at_s > view->hold.seen_s ? at_s : view->hold.seen_s;
    booking_finish(&booking);
    return ERR_OK;
}

enum error_code decide_turn_run(struct view *view,
                                const struct command *command,
                                const struct calendar *calendar,
                                struct plan *plan,
                                struct error *err)
{
    struct run *run = &view->run;
    bool goes_on = view->run_found && (run->state == TASK_RUNNING || run->state == TASK_SUSPENDED);
    if (!goes_on || run->booked_until_s >= command->due.at_s) {
        plan->no_effect = true;
        return ERR_OK;
    }
    struct run before = *run;
    struct booking booking;
    booking_begin(&booking, view, calendar, plan);
    run->booked_until_s = command->due.at_s;
    plan->run_changed = true;
    enum error_code code = booking_charge_open(&booking, &before, err);
    if (code == ERR_OK) {
        booking_finish(&booking);
    }
    return code;
}

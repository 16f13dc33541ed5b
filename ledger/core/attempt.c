/*
 * Stands of attempts, and bringing them into being. Pure.
 *
 * Invariants: task.attempt is the newest attempt with a row (0 where none has); task.state is that
 * attempt's state, or running where it is closed while an older one is still open.
 */
#include "ledger/core/attempt.h"

#include <inttypes.h>
#include <stdio.h>

#include "ledger/base/text.h"
#include "ledger/core/hold_state.h"
#include "ledger/core/rate.h"

enum error_code attempt_check(const struct view *view,
                              int64_t task,
                              int64_t attempt,
                              struct error *err)
{
    if (task < 0 || task >= view->hold.tasks) {
        return error_set_field(err, ERR_INVALID_FIELD, "task",
                               "task %" PRId64 " does not exist: hold %s has tasks 0 to %" PRId64,
                               task, view->hold.id, view->hold.tasks - 1);
    }
    if (attempt < 0 || attempt >= INT32_MAX) {
        return error_set_field(err, ERR_INVALID_FIELD, "attempt",
                               "attempt %" PRId64 " is out of range: 0 to %" PRId32, attempt,
                               INT32_MAX);
    }
    return ERR_OK;
}

enum error_code time_check(const struct view *view,
                           const char *field,
                           int64_t time_s,
                           struct error *err)
{
    if (time_s < 0 || time_s > LIMIT_TIME_S) {
        return error_set_field(err, ERR_INVALID_FIELD, field,
                               "%" PRId64 " s is out of range: 1970 to 9999", time_s);
    }
    if (time_s > view->now_s + LIMIT_FUTURE_S) {
        char text[TEXT_TIME_BYTES];
        char now[TEXT_TIME_BYTES];
        return error_set_field(err, ERR_TIME_IN_FUTURE, field,
                               "%s lies more than %d s after the ledger's time %s: check the clock "
                               "of the sender",
                               text_format_time(time_s, text), LIMIT_FUTURE_S,
                               text_format_time(view->now_s, now));
    }
    return ERR_OK;
}

const char *attempt_text(const struct view *view,
                         int64_t attempt,
                         char ret_text[ATTEMPT_TEXT_BYTES])
{
    (void)snprintf(ret_text, ATTEMPT_TEXT_BYTES,
                   "attempt %" PRId64 " of task %" PRId64 " of hold %s", attempt, view->task.task,
                   view->hold.id);
    return ret_text;
}

enum stand attempt_stand(const struct view *view, int64_t attempt)
{
    if (attempt > view->task.attempt) {
        return STAND_NEXT;
    }
    if (view->run_found) {
        return (enum stand)view->run.state;
    }
    return attempt == view->task.attempt ? (enum stand)view->task.state : STAND_OLDER;
}

void task_move(struct view *view, enum task_state to)
{
    if (view->task.state != to) {
        hold_move_task(&view->hold, &view->task, to);
    }
}

void hold_bind(struct view *view)
{
    struct hold *hold = &view->hold;
    hold->bound_ms = hold->bound_ms == 0 ? view->now_ms : hold->bound_ms;
    hold->due_s = 0;
}

void attempt_touch(struct booking *booking)
{
    struct view *view = booking->view;
    booking->plan->task_changed = true;
    if (view->task_found) {
        return;
    }
    int64_t number = view->task.task;
    hold_touch_task(&view->hold, number, &view->task);
    view->task_found = true;
    if (view->hold.untouched_state == TASK_WAITING) {
        /* The others wait for less than before, in their place. */
        booking->plan->hold_wait = view->hold.untouched == 0 ? WAIT_LEAVE : WAIT_STAY;
    }
}

/* Resources of its own, and its limit, go on to the next attempt. */
static void inherit(const struct view *view, const struct run *newest, struct run *run)
{
    run->limit_s = newest->limit_s;
    if (newest->own_resources == 0) {
        return;
    }
    run->own_resources = 1;
    run->resources = newest->resources;
    const struct segment *last = &newest->segments[newest->segment_count - 1];
    struct rate_price price = {.rate_mcores = last->rate_mcores, .mgpus = last->mgpus};
    /* A settled run's last segment tells what was allocated, not what was asked for. */
    if (newest->state == TASK_SETTLED) {
        struct error ignored;
        (void)!rate_price(&view->card, view->hold.partition, view->hold.qos, &run->resources,
                          &price, &ignored);
    }
    run->segments[0].rate_mcores = price.rate_mcores;
    run->segments[0].mgpus = price.mgpus;
}

static void make_run(struct view *view, int64_t attempt, const struct run *newest)
{
    const struct hold *hold = &view->hold;
    view->run = (struct run){
        .hold_no = hold->hold_no,
        .task = view->task.task,
        .attempt = attempt,
        .root_no = hold->root_no,
        .state = TASK_FROZEN,
        .limit_s = hold->time_limit_s,
        .segment_count = 1,
        .segments = {{.from_s = 0, .rate_mcores = hold->rate_mcores, .mgpus = hold->mgpus}},
    };
    view->run_found = true;
    if (newest != NULL) {
        inherit(view, newest, &view->run);
    }
}

/* What a next attempt takes over from the newest one: what is frozen for it where it never started,
 * or nothing. Returns mcs. */
static int64_t take_over(struct booking *booking, struct run *newest)
{
    struct view *view = booking->view;
    if (newest == NULL) {
        return view->task.state == TASK_FROZEN ? hold_task_mcs(&view->hold) : 0;
    }
    int64_t mcs = 0;
    if (task_state_is_open(newest->state) && newest->started_s != 0) {
        view->task.older_open++;
    } else if (newest->state == TASK_FROZEN || newest->state == TASK_WAITING) {
        mcs = newest->frozen_mcs;
        newest->frozen_mcs = 0;
        newest->state = TASK_RELEASED;
        booking->plan->previous_changed = true;
    }
    return mcs;
}

void attempt_bring(struct booking *booking, int64_t attempt, enum stand stand)
{
    struct view *view = booking->view;
    attempt_touch(booking);
    booking->plan->run_changed = true;
    if (view->task.state == TASK_WAITING && view->task.wait_no != 0 &&
        attempt >= view->task.attempt) {
        booking->plan->task_wait = WAIT_LEAVE;
    }
    if (view->run_found) {
        return;
    }
    struct run *newest = view->previous_found ? &view->previous : NULL;
    int64_t frozen_mcs = 0;
    if (stand == STAND_NEXT) {
        frozen_mcs = take_over(booking, newest);
        view->task.attempt = (int32_t)attempt;
    } else if (stand == STAND_FROZEN) {
        frozen_mcs = hold_task_mcs(&view->hold);
    }
    make_run(view, attempt, newest);
    view->run.frozen_mcs = frozen_mcs;
}

/* Open view->run among the attempts of its task. */
static void open_run(struct booking *booking, bool newest, int64_t started_s)
{
    struct view *view = booking->view;
    run_start_move(&view->run, started_s);
    view->run.booked_until_s = started_s;
    view->run.state = TASK_RUNNING;
    if (newest) {
        task_move(view, TASK_RUNNING);
        return;
    }
    view->task.older_open++;
    if (!task_state_is_open(view->task.state) && view->task.state != TASK_WAITING) {
        task_move(view, TASK_RUNNING);
    }
}

/* Freeze what a run that has just opened needs, where nothing is frozen for it. */
static enum error_code freeze_late(struct booking *booking, bool was_ended, struct error *err)
{
    struct view *view = booking->view;
    struct run *run = &view->run;
    struct booking_freeze freeze = {
        .mcs = run_wanted_mcs(&view->hold, run),
        .task = run->task,
        .attempt = run->attempt,
    };
    bool fits = false;
    enum error_code code = booking_freeze_anyway(booking, &freeze, &fits, err);
    if (code != ERR_OK) {
        return code;
    }
    run->frozen_mcs = freeze.mcs;
    if (!fits || was_ended) {
        booking_flag(booking, FLAG_LATE);
    }
    return ERR_OK;
}

enum error_code attempt_start(struct booking *booking,
                              int64_t attempt,
                              enum stand stand,
                              int64_t started_s,
                              struct error *err)
{
    struct view *view = booking->view;
    bool was_ended = view->task.state == TASK_RELEASED || view->task.state == TASK_EXPIRED;
    attempt_bring(booking, attempt, stand);
    open_run(booking, attempt >= view->task.attempt, started_s);
    hold_bind(view);
    if (view->run.frozen_mcs > 0) {
        return ERR_OK;
    }
    return freeze_late(booking, was_ended, err);
}

void attempt_closed(struct booking *booking, bool was_open)
{
    struct view *view = booking->view;
    struct task *task = &view->task;
    if (view->run.attempt >= task->attempt) {
        task_move(view, task->older_open > 0 ? TASK_RUNNING : TASK_SETTLED);
        return;
    }
    const struct run *newest = view->previous_found ? &view->previous : NULL;
    task->older_open -= was_open;
    bool newest_closed =
        newest == NULL || (newest->state != TASK_WAITING && !task_state_is_open(newest->state));
    if (newest_closed && task->older_open == 0 && task->state == TASK_RUNNING) {
        task_move(view, TASK_SETTLED);
    }
}

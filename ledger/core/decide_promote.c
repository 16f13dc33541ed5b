/*
 * Promotion: what waits is frozen when there is room (SPEC 5.13). Pure.
 */
#include <inttypes.h>
#include <stdio.h>

#include "ledger/base/amount.h"
#include "ledger/core/attempt.h"
#include "ledger/core/decide.h"
#include "ledger/core/hold_state.h"

/* The tasks of a feed event: numbers where they are known. */
static void name_tasks(const struct view *view, bool whole, char *text, size_t bytes)
{
    if (!whole) {
        (void)snprintf(text, bytes, "%" PRId64, view->task.task);
    } else if (view->hold.untouched == view->hold.tasks && view->hold.tasks > 1) {
        (void)snprintf(text, bytes, "0-%" PRId64, view->hold.tasks - 1);
    } else {
        (void)snprintf(text, bytes, "%s", view->hold.tasks == 1 ? "0" : "");
    }
}

static void tell(const struct view *view, struct plan *plan, bool whole, int64_t mcs)
{
    char tasks[32];
    char amount[AMOUNT_TEXT_BYTES];
    char message[RECORD_NOTE_BYTES];
    name_tasks(view, whole, tasks, sizeof tasks);
    (void)snprintf(message, sizeof message, "%s core-hours frozen after waiting",
                   amount_format_core_hours(amount_from_mcs(mcs), 2, amount));
    plan_feed(plan, view, FEED_FROZEN, tasks, message);
}

/* Freeze what waits and move it; hold or run keep what they got. */
static enum error_code promote(struct booking *booking,
                               bool whole,
                               int64_t *ret_mcs,
                               struct error *err)
{
    struct view *view = booking->view;
    struct hold *hold = &view->hold;
    struct run *run = &view->run;
    struct booking_freeze freeze = {
        .mcs = whole ? hold->untouched * hold_task_mcs(hold) : run_wanted_mcs(hold, run),
        .task = whole ? -1 : run->task,
        .attempt = whole ? 0 : run->attempt,
    };
    if (whole) {
        hold_move_untouched(hold, TASK_FROZEN);
    } else {
        task_move(view, TASK_FROZEN);
        run->state = TASK_FROZEN;
    }
    enum error_code code = booking_freeze_more(booking, &freeze, err);
    if (code == ERR_OK) {
        run->frozen_mcs = whole ? run->frozen_mcs : freeze.mcs;
        *ret_mcs = freeze.mcs;
    }
    return code;
}

enum error_code decide_promote(struct view *view,
                               const struct calendar *calendar,
                               struct plan *plan,
                               struct error *err)
{
    struct hold *hold = &view->hold;
    bool whole = view->task.task < 0;
    bool waits = whole ? hold->untouched > 0 && hold->untouched_state == TASK_WAITING
                       : view->run_found && view->run.state == TASK_WAITING;
    if (!waits) {
        plan->no_effect = true;
        return ERR_OK;
    }
    struct booking booking;
    int64_t mcs = 0;
    booking_begin(&booking, view, calendar, plan);
    enum error_code code = promote(&booking, whole, &mcs, err);
    if (code != ERR_OK) {
        return code;
    }
    if (hold->bound_ms == 0) {
        hold->due_s = view->now_s + hold->ttl_s;
    }
    plan->hold_wait = whole ? WAIT_LEAVE : WAIT_NONE;
    plan->task_wait = whole ? WAIT_NONE : WAIT_LEAVE;
    plan->task_changed = !whole;
    plan->run_changed = !whole;
    tell(view, plan, whole, mcs);
    booking_finish(&booking);
    return ERR_OK;
}

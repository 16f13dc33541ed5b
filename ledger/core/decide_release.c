/*
 * Release: cancelled before it started, everything returns (SPEC 5.9). Expiry of an unbound hold
 * does the same when its ttl is over (SPEC 5.3). Pure.
 */
#include "ledger/core/attempt.h"
#include "ledger/core/decide.h"
#include "ledger/core/hold_state.h"

/* An agent that has not polled for this long is silent, and stops the ttl. */
#define AGENT_SILENT_S 120

enum release_action {
    RELEASE_DO,
    RELEASE_AGAIN, /* it is so already */
    RELEASE_LEAVE, /* it has started: left, and named in the answer */
};

static const enum release_action ACTIONS[TASK__COUNT] = {
    [TASK_WAITING] = RELEASE_DO,    [TASK_FROZEN] = RELEASE_DO,
    [TASK_RUNNING] = RELEASE_LEAVE, [TASK_SUSPENDED] = RELEASE_LEAVE,
    [TASK_SETTLED] = RELEASE_LEAVE, [TASK_RELEASED] = RELEASE_AGAIN,
    [TASK_EXPIRED] = RELEASE_AGAIN,
};

static bool is_whole(const struct view *view)
{
    return !view->task_found && (view->task.task < 0 || view->hold.tasks == 1);
}

/* All untouched tasks at once. */
static void end_untouched(struct booking *booking, enum task_state to)
{
    struct hold *hold = &booking->view->hold;
    if (hold->untouched_state == TASK_FROZEN) {
        booking_unfreeze(booking, -1, 0, hold->untouched * hold_task_mcs(hold));
    } else {
        booking->plan->hold_wait = WAIT_LEAVE;
    }
    hold_move_untouched(hold, to);
}

static void end_task(struct booking *booking, enum task_state to)
{
    struct view *view = booking->view;
    struct task *task = &view->task;
    int64_t mcs = 0;
    attempt_touch(booking);
    if (view->run_found) {
        mcs = view->run.frozen_mcs;
        view->run.frozen_mcs = 0;
        view->run.returned_mcs = mcs;
        view->run.state = to;
        booking->plan->run_changed = true;
    } else if (task->state == TASK_FROZEN) {
        mcs = hold_task_mcs(&view->hold);
    }
    if (task->wait_no != 0) {
        booking->plan->task_wait = WAIT_LEAVE;
    }
    booking_unfreeze(booking, task->task, task->attempt, mcs);
    task_move(view, task->older_open > 0 ? TASK_RUNNING : to);
}

static enum task_state state_now(const struct view *view)
{
    if (is_whole(view)) {
        return view->hold.untouched_state;
    }
    return view->run_found ? view->run.state : view->task.state;
}

/* Move what the view is about to released or expired, where it has not started. */
static void end_unstarted(struct view *view,
                          const struct calendar *calendar,
                          enum task_state to,
                          struct plan *plan)
{
    bool whole = is_whole(view);
    enum release_action action = ACTIONS[state_now(view)];
    bool nothing = whole && view->hold.untouched == 0;
    if (nothing || action != RELEASE_DO) {
        plan->left = !nothing && action == RELEASE_LEAVE;
        plan->replayed = !nothing && action == RELEASE_AGAIN && !plan->hold_changed;
        plan->no_effect = !plan->hold_changed;
        return;
    }
    struct booking booking;
    booking_begin(&booking, view, calendar, plan);
    if (whole) {
        end_untouched(&booking, to);
    } else {
        end_task(&booking, to);
    }
    if (hold_open_tasks(&view->hold) + view->hold.counts[TASK_WAITING] == 0) {
        view->hold.due_s = 0;
    }
    booking_finish(&booking);
}

enum error_code decide_release(struct view *view,
                               const struct command *command,
                               const struct calendar *calendar,
                               struct plan *plan,
                               struct error *err)
{
    (void)command;
    if (view->task.task >= 0) {
        enum error_code code = attempt_check(view, view->task.task, 0, err);
        if (code != ERR_OK) {
            return code;
        }
    }
    end_unstarted(view, calendar, TASK_RELEASED, plan);
    return ERR_OK;
}

/* When the ttl ends now, or 0 when it is over. A silent agent stops it, and one that has come back
 * finds at least one full ttl left (SPEC 5.3). */
static int64_t postponed_until(const struct view *view)
{
    const struct cluster *cluster = &view->cluster;
    if (cluster->agent_seen_s == 0) {
        return 0;
    }
    if (view->now_s - cluster->agent_seen_s > AGENT_SILENT_S) {
        return view->now_s + view->hold.ttl_s;
    }
    int64_t back_s = cluster->agent_resumed_s + view->hold.ttl_s;
    return cluster->agent_resumed_s > 0 && back_s > view->now_s ? back_s : 0;
}

enum error_code decide_expire_hold(struct view *view,
                                   const struct command *command,
                                   const struct calendar *calendar,
                                   struct plan *plan,
                                   struct error *err)
{
    struct hold *hold = &view->hold;
    (void)command;
    (void)err;
    if (hold->bound_ms != 0 || hold->due_s > view->now_s) {
        plan->no_effect = true;
        return ERR_OK;
    }
    /* due_s is 0 once the hold itself has expired: its touched tasks follow. */
    if (hold->due_s != 0) {
        hold->due_s = postponed_until(view);
        plan->hold_changed = true;
    }
    if (hold->due_s != 0) {
        return ERR_OK;
    }
    end_unstarted(view, calendar, TASK_EXPIRED, plan);
    return ERR_OK;
}

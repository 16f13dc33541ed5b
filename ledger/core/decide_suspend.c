/*
 * Suspend and resume: suspended time is not charged (SPEC 5.5). Pure.
 */
#include "ledger/core/attempt.h"
#include "ledger/core/decide.h"
#include "ledger/core/hold_state.h"

/* What suspend and resume mean by where the newest attempt stands. */
enum pause_action {
    PAUSE_DO,
    PAUSE_AGAIN,  /* it is so already: the same answer */
    PAUSE_NONE,   /* it has ended: no effect (SPEC 5.12) */
    PAUSE_REFUSE, /* it has not started */
};

static const enum pause_action SUSPEND_ACTIONS[TASK__COUNT] = {
    [TASK_WAITING] = PAUSE_REFUSE,  [TASK_FROZEN] = PAUSE_REFUSE, [TASK_RUNNING] = PAUSE_DO,
    [TASK_SUSPENDED] = PAUSE_AGAIN, [TASK_SETTLED] = PAUSE_NONE,  [TASK_RELEASED] = PAUSE_REFUSE,
    [TASK_EXPIRED] = PAUSE_REFUSE,
};

static const enum pause_action RESUME_ACTIONS[TASK__COUNT] = {
    [TASK_WAITING] = PAUSE_REFUSE, [TASK_FROZEN] = PAUSE_REFUSE, [TASK_RUNNING] = PAUSE_AGAIN,
    [TASK_SUSPENDED] = PAUSE_DO,   [TASK_SETTLED] = PAUSE_NONE,  [TASK_RELEASED] = PAUSE_REFUSE,
    [TASK_EXPIRED] = PAUSE_REFUSE,
};

static enum error_code refuse(const struct view *view, enum task_state state, struct error *err)
{
    char text[ATTEMPT_TEXT_BYTES];
    return error_set(err, ERR_INVALID_STATE, "%s is %s, it has not started: send its start first",
                     attempt_text(view, view->task.attempt, text), task_state_name(state));
}

static enum error_code pause_run(struct booking *booking,
                                 bool suspend,
                                 int64_t at_s,
                                 struct error *err)
{
    struct view *view = booking->view;
    struct run *run = &view->run;
    struct run before = *run;
    at_s = at_s > run->started_s ? at_s : run->started_s;
    if (suspend) {
        run_suspend(run, at_s, booking->calendar);
    } else {
        run_resume(run, at_s);
    }
    run->state = suspend ? TASK_SUSPENDED : TASK_RUNNING;
    run->seen_s = at_s > run->seen_s ? at_s : run->seen_s;
    task_move(view, run->state);
    view->hold.seen_s = at_s > view->hold.seen_s ? at_s : view->hold.seen_s;
    booking->plan->run_changed = true;
    booking->plan->task_changed = true;
    return booking_charge_open(booking, &before, err);
}

static enum error_code decide_pause(struct view *view,
                                    const struct command *command,
                                    const struct calendar *calendar,
                                    bool suspend,
                                    struct plan *plan,
                                    struct error *err)
{
    int64_t at_s = command->run.at_s > 0 ? command->run.at_s : view->now_s;
    enum error_code code = attempt_check(view, command->task, 0, err);
    if (code == ERR_OK) {
        code = time_check(view, "at", at_s, err);
    }
    if (code != ERR_OK) {
        return code;
    }
    enum task_state state = view->run_found ? view->run.state : view->task.state;
    switch (suspend ? SUSPEND_ACTIONS[state] : RESUME_ACTIONS[state]) {
    case PAUSE_REFUSE:
        return refuse(view, state, err);
    case PAUSE_AGAIN:
        plan->replayed = true;
        return ERR_OK;
    case PAUSE_NONE:
        plan->no_effect = true;
        return ERR_OK;
    case PAUSE_DO:
        break;
    }
    struct booking booking;
    booking_begin(&booking, view, calendar, plan);
    code = pause_run(&booking, suspend, at_s, err);
    if (code == ERR_OK) {
        booking_finish(&booking);
    }
    return code;
}

enum error_code decide_suspend(struct view *view,
                               const struct command *command,
                               const struct calendar *calendar,
                               struct plan *plan,
                               struct error *err)
{
    return decide_pause(view, command, calendar, true, plan, err);
}

enum error_code decide_resume(struct view *view,
                              const struct command *command,
                              const struct calendar *calendar,
                              struct plan *plan,
                              struct error *err)
{
    return decide_pause(view, command, calendar, false, plan, err);
}

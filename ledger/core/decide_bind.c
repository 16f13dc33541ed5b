/*
 * Bind ties a hold to the scheduler's job (SPEC 5.3, 5.12). Pure.
 */
#include <stdio.h>
#include <string.h>

#include "ledger/core/attempt.h"
#include "ledger/core/booking.h"
#include "ledger/core/decide.h"
#include "ledger/core/hold_state.h"

/* The untouched tasks have expired or been released, and the job is there after all: freeze again,
 * past the limits if need be. */
static enum error_code freeze_again(struct booking *booking, struct error *err)
{
    struct view *view = booking->view;
    struct booking_freeze freeze = {
        .mcs = view->hold.untouched * hold_task_mcs(&view->hold),
        .task = -1,
    };
    bool fits = false;
    hold_move_untouched(&view->hold, TASK_FROZEN);
    enum error_code code = booking_freeze_anyway(booking, &freeze, &fits, err);
    if (code == ERR_OK) {
        booking_flag(booking, FLAG_LATE);
    }
    return code;
}

static bool has_ended_unstarted(const struct hold *hold)
{
    return hold->untouched > 0 &&
           (hold->untouched_state == TASK_EXPIRED || hold->untouched_state == TASK_RELEASED);
}

enum error_code decide_bind(struct view *view,
                            const struct command *command,
                            const struct calendar *calendar,
                            struct plan *plan,
                            struct error *err)
{
    const struct command_bind *bind = &command->bind;
    const char *key = bind->job_key[0] != '\0' ? bind->job_key : bind->job_id;
    struct hold *hold = &view->hold;
    if (key[0] == '\0') {
        return error_set_field(err, ERR_INVALID_FIELD, "job_id",
                               "missing: the scheduler's number of the job");
    }
    if (hold->job_key[0] != '\0') {
        plan->replayed = strcmp(hold->job_key, key) == 0;
        return plan->replayed
                   ? ERR_OK
                   : error_set_field(err, ERR_INVALID_STATE, "job_key",
                                     "hold %s is bound to job %s: freeze another hold for "
                                     "another job",
                                     hold->id, hold->job_key);
    }
    struct booking booking;
    booking_begin(&booking, view, calendar, plan);
    (void)snprintf(hold->job_id, sizeof hold->job_id, "%s", bind->job_id);
    (void)snprintf(hold->job_key, sizeof hold->job_key, "%s", key);
    hold_bind(view);
    plan->bound = true;
    if (has_ended_unstarted(hold)) {
        enum error_code code = freeze_again(&booking, err);
        if (code != ERR_OK) {
            return code;
        }
    }
    booking_finish(&booking);
    return ERR_OK;
}

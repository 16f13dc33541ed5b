/*
 * Refund: part or all of a charge returned by a person, with a reason (SPEC 5.10). Pure.
 */
#include <stdio.h>

#include "ledger/base/amount.h"
#include "ledger/core/attempt.h"
#include "ledger/core/decide.h"
#include "ledger/core/refunds.h"

static enum error_code check_amount(const struct run *run,
                                    const struct command_refund *refund,
                                    struct error *err)
{
    char asked[AMOUNT_TEXT_BYTES];
    char left[AMOUNT_TEXT_BYTES];
    int64_t left_mcs = refunds_left(run);
    if (!refund->all && refund->amount_mcs <= 0) {
        return error_set_field(err, ERR_INVALID_FIELD, "core_hours", "0 or less: more than 0");
    }
    if (left_mcs == 0) {
        return error_set(err, ERR_INVALID_STATE,
                         "nothing is left of this charge: all of it has been refunded or waived");
    }
    if (!refund->all && refund->amount_mcs > left_mcs) {
        return error_set_field(
            err, ERR_INVALID_STATE, "core_hours",
            "%s core-hours are more than the %s left of this charge: refund at "
            "most that",
            amount_format_core_hours(amount_from_mcs(refund->amount_mcs), 5, asked),
            amount_format_core_hours(amount_from_mcs(left_mcs), 5, left));
    }
    return ERR_OK;
}

static void note_adjustment(struct booking *booking,
                            const struct command_refund *refund,
                            int64_t amount_mcs)
{
    struct adjustment *adjustment = booking_adjust(booking, amount_mcs);
    adjustment->is_refund = 1;
    (void)snprintf(adjustment->id, sizeof adjustment->id, "%s", refund->id);
    (void)snprintf(adjustment->reason, sizeof adjustment->reason, "%s", refund->reason);
}

enum error_code decide_refund(struct view *view,
                              const struct command *command,
                              const struct calendar *calendar,
                              struct plan *plan,
                              struct error *err)
{
    const struct command_refund *refund = &command->refund;
    struct run *run = &view->run;
    enum error_code code = attempt_check(view, command->task, command->attempt, err);
    if (code != ERR_OK) {
        return code;
    }
    if (!view->run_found || run->state != TASK_SETTLED) {
        char text[ATTEMPT_TEXT_BYTES];
        return error_set(err, ERR_INVALID_STATE,
                         "%s has not been settled, so nothing can be refunded yet",
                         attempt_text(view, command->attempt, text));
    }
    code = check_amount(run, refund, err);
    if (code != ERR_OK) {
        return code;
    }
    struct booking booking;
    int64_t mcs = refund->all ? refunds_left(run) : refund->amount_mcs;
    booking_begin(&booking, view, calendar, plan);
    refunds_make(&booking, mcs);
    plan->run_changed = true;
    note_adjustment(&booking, refund, mcs);
    plan->requested_mcs = mcs;
    booking_finish(&booking);
    plan->run_charged_mcs = run->charged_mcs;
    plan->run_refunded_mcs = run->refunded_mcs;
    return ERR_OK;
}

/*
 * Correct: better evidence changes a charge by an entry for the difference (SPEC 5.11). Pure.
 *
 * Refunds stand beside the charge, by month, and never exceed it: where the corrected charge of a
 * month is below its refunds, the excess moves to other months of the run, and what fits nowhere is
 * cut.
 */
#include <stdio.h>

#include "ledger/core/attempt.h"
#include "ledger/core/decide.h"
#include "ledger/core/hold_state.h"
#include "ledger/core/refunds.h"
#include "ledger/core/run_facts.h"

enum correction { DOWN, UP };

/* One direction of the month differences. */
static enum error_code book_differences(struct booking *booking,
                                        const struct month_amount *months,
                                        int32_t count,
                                        enum correction direction,
                                        struct error *err)
{
    const struct run *run = &booking->view->run;
    enum error_code code = ERR_OK;
    for (int32_t i = 0; i < count && code == ERR_OK; i++) {
        if ((months[i].mcs < 0) != (direction == DOWN)) {
            continue;
        }
        struct funds_context context =
            booking_context(booking, ENTRY_CORRECT, run->task, run->attempt, months[i].month);
        if (direction == DOWN) {
            int64_t expired_mcs = 0;
            funds_return_used(booking->view, booking->plan, &context, -months[i].mcs, &expired_mcs);
            booking->plan->run_expired_mcs += expired_mcs;
        } else {
            code = funds_use_over(booking->view, booking->plan, &context, months[i].mcs, err);
        }
    }
    return code;
}

/* Cut refunds, charges down, charges up, refunds moved: in this order no sum passes below 0. */
static enum error_code book_correction(struct booking *booking,
                                       const struct run *before,
                                       struct error *err)
{
    struct run *run = &booking->view->run;
    struct charge_context context = {
        .calendar = booking->calendar,
        .oldest_open_month = booking->view->oldest_open_month,
        .kind = USAGE_CORRECTION,
    };
    enum error_code code = charge_difference(before, run, &context, booking->plan, err);
    if (code != ERR_OK) {
        return code;
    }
    struct month_amount months[BOOKING_MONTHS];
    int32_t count = booking_month_differences(before, run, booking->calendar, months);
    struct refunds refunds;
    refunds_fit(run, booking->calendar, &refunds);
    code = refunds_cut(booking, before, &refunds, err);
    if (code == ERR_OK) {
        code = book_differences(booking, months, count, DOWN, err);
    }
    if (code == ERR_OK) {
        code = book_differences(booking, months, count, UP, err);
    }
    if (code == ERR_OK) {
        refunds_move(booking, &refunds);
        run->charged_mcs = charge_total(run);
    }
    return code;
}

static void note_adjustment(struct booking *booking,
                            const struct command_run *given,
                            int64_t amount_mcs)
{
    struct adjustment *adjustment = booking_adjust(booking, amount_mcs);
    (void)snprintf(adjustment->source, sizeof adjustment->source, "%s", given->source);
    (void)snprintf(adjustment->reason, sizeof adjustment->reason, "%s", given->reason);
}

static enum error_code correct(struct booking *booking,
                               const struct command *command,
                               const struct run_facts *facts,
                               struct error *err)
{
    struct run *run = &booking->view->run;
    struct run before = *run;
    enum error_code code = run_facts_apply(booking->view, facts, booking->calendar, err);
    if (code == ERR_OK) {
        code = book_correction(booking, &before, err);
    }
    if (code != ERR_OK) {
        return code;
    }
    run_totals_set(run);
    run->expired_mcs += booking->plan->run_expired_mcs;
    booking->plan->run_changed = true;
    booking_flag(booking, FLAG_CORRECTED);
    note_adjustment(booking, &command->run, run->charged_mcs - before.charged_mcs);
    run_totals_answer(run, booking->plan);
    return ERR_OK;
}

enum error_code decide_correct(struct view *view,
                               const struct command *command,
                               const struct calendar *calendar,
                               struct plan *plan,
                               struct error *err)
{
    struct run_facts facts;
    enum error_code code = attempt_check(view, command->task, command->attempt, err);
    if (code == ERR_OK) {
        enum outcome known = view->run_found ? view->run.outcome : OUTCOME_COMPLETED;
        code = run_facts_read(view, &command->run, known, &facts, err);
    }
    if (code != ERR_OK) {
        return code;
    }
    if (!view->run_found || view->run.state != TASK_SETTLED) {
        char text[ATTEMPT_TEXT_BYTES];
        return error_set(err, ERR_INVALID_STATE,
                         "%s has not been settled, there is nothing to correct: send settle",
                         attempt_text(view, command->attempt, text));
    }
    if (run_facts_agree(&view->run, &facts)) {
        plan->replayed = true;
        run_totals_answer(&view->run, plan);
        return ERR_OK;
    }
    struct booking booking;
    booking_begin(&booking, view, calendar, plan);
    code = correct(&booking, command, &facts, err);
    if (code == ERR_OK) {
        booking_finish(&booking);
    }
    return code;
}

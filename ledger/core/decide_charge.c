/*
 * Charge: usage that had no hold makes a settled one, marked unfrozen (SPEC 5.9). Use that happened
 * is never refused: closed nodes and non-members are booked and flagged. Pure.
 */
#include <stdio.h>

#include "ledger/core/attempt.h"
#include "ledger/core/decide.h"
#include "ledger/core/new_hold.h"
#include "ledger/core/run_facts.h"

static enum error_code check_times(const struct view *view,
                                   const struct command_run *given,
                                   struct error *err)
{
    enum error_code code = new_hold_check_resources(&view->resources, "resources", err);
    if (code == ERR_OK && given->started_at_s == 0) {
        code = error_set_field(err, ERR_INVALID_FIELD, "started_at",
                               "missing: say when the run began");
    }
    if (code == ERR_OK && given->ended_at_s == 0) {
        code =
            error_set_field(err, ERR_INVALID_FIELD, "ended_at", "missing: say when the run ended");
    }
    return code;
}

/* Where a freeze would have been refused, the use is booked all the same and marked. */
static int64_t place_flags(struct view *view, bool assigned)
{
    struct error ignored;
    int64_t flags = FLAG_UNFROZEN | (assigned ? FLAG_ASSIGNED : 0);
    if (new_hold_check_open(view, &ignored) != ERR_OK) {
        flags |= FLAG_CLOSED_NODE;
    }
    if (new_hold_is_guest(view)) {
        flags |= FLAG_NON_MEMBER;
        view->nodes[0].node.flags |= NODE_GUEST;
    }
    return flags;
}

/* A hold of one task, settled. */
static void make_records(struct view *view, const struct command_charge *charge)
{
    struct hold *hold = &view->hold;
    hold->mode = MODE_FULL;
    hold->on_insufficient = INSUFFICIENT_REJECT;
    hold->tasks = 1;
    hold->counts[TASK_SETTLED] = 1;
    hold->untouched_state = TASK_SETTLED;
    hold->last_terminal = TASK_SETTLED;
    hold->bound_ms = view->now_ms;
    hold->seen_s = view->now_s;
    (void)snprintf(hold->job_key, sizeof hold->job_key, "%s", charge->job_key);
    view->task = (struct task){.hold_no = hold->hold_no, .state = TASK_SETTLED};
    view->run = (struct run){
        .hold_no = hold->hold_no,
        .root_no = hold->root_no,
        .state = TASK_SETTLED,
        .segment_count = 1,
        .segments = {{.rate_mcores = hold->rate_mcores, .mgpus = hold->mgpus}},
        .seen_s = charge->run.ended_at_s,
    };
    (void)snprintf(view->run.run_key, sizeof view->run.run_key, "%s", charge->run.run_key);
    view->task_found = true;
    view->run_found = true;
}

static enum error_code book(struct booking *booking,
                            const struct run_facts *facts,
                            struct error *err)
{
    struct run *run = &booking->view->run;
    enum error_code code = run_facts_apply(booking->view, facts, booking->calendar, err);
    if (code == ERR_OK) {
        code = booking_charge(booking, NULL, err);
    }
    if (code != ERR_OK) {
        return code;
    }
    run->settled = run_facts_digest(facts);
    run_totals_set(run);
    run_totals_answer(run, booking->plan);
    return ERR_OK;
}

enum error_code decide_charge(struct view *view,
                              const struct command *command,
                              const struct calendar *calendar,
                              struct plan *plan,
                              struct error *err)
{
    const struct command_charge *charge = &command->charge;
    struct command_run given = charge->run;
    struct run_facts facts;
    given.resources.given = false; /* they price the hold itself, not what was allocated of it */
    enum error_code code = check_times(view, &charge->run, err);
    if (code == ERR_OK) {
        code = run_facts_read(view, &given, OUTCOME_COMPLETED, &facts, err);
    }
    if (code != ERR_OK) {
        return code;
    }
    new_hold_name(view, charge->id, &charge->job);
    view->hold.resources = view->resources;
    code = new_hold_price(view, plan, err);
    if (code != ERR_OK) {
        return code;
    }
    struct booking booking;
    booking_begin(&booking, view, calendar, plan);
    make_records(view, charge);
    booking_flag(&booking, place_flags(view, charge->assigned));
    code = book(&booking, &facts, err);
    if (code != ERR_OK) {
        return code;
    }
    plan->task_changed = true;
    plan->run_changed = true;
    plan->bound = view->hold.job_key[0] != '\0';
    booking_finish(&booking);
    return ERR_OK;
}

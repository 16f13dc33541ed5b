/*
 * Settle: the run has ended, its use is charged and the rest returned (SPEC 5.6, 5.7). Requeue: the
 * attempt is settled and the next one frozen, in one step (SPEC 5.8). Pure.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ledger/core/attempt.h"
#include "ledger/core/decide.h"
#include "ledger/core/hold_state.h"
#include "ledger/core/new_hold.h"
#include "ledger/core/run_facts.h"

/* What is special about settling an attempt by where it stands. */
static const struct {
    bool settled; /* already: the same answer, or a conflict */
    bool open;    /* it has started */
    bool late;    /* its freeze is gone: all of its use is overrun (SPEC 5.12) */
} SETTLES[STAND__COUNT] = {
    [STAND_WAITING] = {false, false, true}, [STAND_FROZEN] = {false, false, false},
    [STAND_RUNNING] = {false, true, false}, [STAND_SUSPENDED] = {false, true, false},
    [STAND_SETTLED] = {true, false, false}, [STAND_RELEASED] = {false, false, true},
    [STAND_EXPIRED] = {false, false, true}, [STAND_NEXT] = {false, false, false},
    [STAND_OLDER] = {false, false, true},
};

static enum error_code settle_again(struct view *view,
                                    const struct run_facts *facts,
                                    struct plan *plan,
                                    struct error *err)
{
    const struct run *run = &view->run;
    struct digest16 digest = run_facts_digest(facts);
    bool same = memcmp(&digest, &run->settled, sizeof digest) == 0 || run_facts_agree(run, facts);
    if (!same) {
        char text[ATTEMPT_TEXT_BYTES];
        return error_set(err, ERR_RUN_CONFLICT,
                         "%s was settled with other facts: to change them, send correct with a "
                         "source and a reason",
                         attempt_text(view, run->attempt, text));
    }
    plan->replayed = true;
    run_totals_answer(run, plan);
    return ERR_OK;
}

/* Book a run that has ended: charge, return the rest, totals. view->run has its new facts. */
static enum error_code book(struct booking *booking, const struct run *before, struct error *err)
{
    struct run *run = &booking->view->run;
    run->settled_frozen_mcs = before->frozen_mcs + before->charged_mcs;
    enum error_code code = booking_charge(booking, before->started_s > 0 ? before : NULL, err);
    if (code != ERR_OK) {
        return code;
    }
    run_totals_set(run);
    assert(run->frozen_mcs == run->returned_mcs);
    booking_unfreeze(booking, run->task, run->attempt, run->frozen_mcs);
    run->frozen_mcs = 0;
    run->expired_mcs = booking->plan->run_expired_mcs;
    return ERR_OK;
}

/* Settle the attempt, which has not been. */
static enum error_code settle(struct booking *booking,
                              const struct command *command,
                              enum stand stand,
                              const struct run_facts *facts,
                              struct error *err)
{
    struct view *view = booking->view;
    struct run *run = &view->run;
    if (facts->ended_s == 0) {
        return error_set_field(err, ERR_INVALID_FIELD, "ended_at",
                               "missing: say when the run ended");
    }
    attempt_bring(booking, command->attempt, stand);
    struct run before = *run;
    enum error_code code = run_facts_apply(view, facts, booking->calendar, err);
    if (code == ERR_OK) {
        code = book(booking, &before, err);
    }
    if (code != ERR_OK) {
        return code;
    }
    run->state = TASK_SETTLED;
    run->settled = run_facts_digest(facts);
    if (run->run_key[0] == '\0' && command->run.run_key[0] != '\0') {
        (void)snprintf(run->run_key, sizeof run->run_key, "%s", command->run.run_key);
    }
    run->seen_s = run->ended_s > run->seen_s ? run->ended_s : run->seen_s;
    view->hold.seen_s = view->now_s > view->hold.seen_s ? view->now_s : view->hold.seen_s;
    attempt_closed(booking, SETTLES[stand].open);
    hold_bind(view);
    booking_flag(booking, (SETTLES[stand].late ? FLAG_LATE : 0) |
                              (run->overrun_mcs > 0 ? FLAG_OVERRUN : 0) |
                              (facts->unpriced ? FLAG_UNPRICED : 0));
    run_totals_answer(run, booking->plan);
    return ERR_OK;
}

/* What was allocated has no price. Use that happened is never refused (SPEC 5.9): the rate known for
 * the run stands, and the run is marked for a person to look into. */
static enum error_code read_unpriced(struct view *view,
                                     const struct command *command,
                                     struct run_facts *facts,
                                     struct error *err)
{
    struct command_run given = command->run;
    given.resources.given = false;
    error_clear(err);
    enum error_code code = run_facts_read(view, &given, OUTCOME_COMPLETED, facts, err);
    facts->unpriced = code == ERR_OK;
    return code;
}

static enum error_code read_command(struct view *view,
                                    const struct command *command,
                                    struct run_facts *facts,
                                    struct error *err)
{
    enum error_code code = attempt_check(view, command->task, command->attempt, err);
    if (code == ERR_OK) {
        code = run_facts_read(view, &command->run, OUTCOME_COMPLETED, facts, err);
    }
    return code == ERR_NO_RATE ? read_unpriced(view, command, facts, err) : code;
}

enum error_code decide_settle(struct view *view,
                              const struct command *command,
                              const struct calendar *calendar,
                              struct plan *plan,
                              struct error *err)
{
    struct run_facts facts;
    enum error_code code = read_command(view, command, &facts, err);
    if (code != ERR_OK) {
        return code;
    }
    enum stand stand = attempt_stand(view, command->attempt);
    if (SETTLES[stand].settled) {
        return settle_again(view, &facts, plan, err);
    }
    struct booking booking;
    booking_begin(&booking, view, calendar, plan);
    code = settle(&booking, command, stand, &facts, err);
    if (code == ERR_OK) {
        booking_finish(&booking);
    }
    return code;
}

/* No room for the next attempt: it waits, or in a closed node is released (SPEC 5.8). */
static void wait_or_release(struct booking *booking)
{
    struct view *view = booking->view;
    struct plan *plan = booking->plan;
    const struct node *closed = view_closed_node(view);
    if (closed == NULL) {
        view->run.state = TASK_WAITING;
        task_move(view, TASK_WAITING);
        /* One that waited, ran all the same and is requeued keeps its place. */
        plan->task_wait = plan->task_wait == WAIT_LEAVE ? WAIT_STAY : WAIT_JOIN;
        plan->waits = true;
        return;
    }
    char task[24];
    char message[RECORD_NOTE_BYTES];
    (void)snprintf(task, sizeof task, "%" PRId64, view->task.task);
    (void)snprintf(message, sizeof message,
                   "requeued without room, and %s is closed to new freezes", closed->name);
    plan_feed(plan, view, FEED_RELEASED, task, message);
    plan->violation_count = 0;
    view->run.state = TASK_RELEASED;
    task_move(view, view->task.older_open > 0 ? TASK_RUNNING : TASK_RELEASED);
}

/* Freeze the attempt after the one just settled. */
static enum error_code freeze_next(struct booking *booking, struct error *err)
{
    struct view *view = booking->view;
    struct plan *plan = booking->plan;
    if (plan->previous_changed) {
        view->replaced = view->previous;
        plan->replaced_changed = true;
    }
    view->previous = view->run;
    view->previous_found = true;
    plan->previous_changed = plan->run_changed;
    view->run_found = false;
    attempt_bring(booking, view->previous.attempt + 1, STAND_NEXT);
    task_move(view, TASK_FROZEN);
    struct booking_freeze freeze = {
        .mcs = run_wanted_mcs(&view->hold, &view->run),
        .task = view->run.task,
        .attempt = view->run.attempt,
    };
    enum error_code code = booking_freeze_more(booking, &freeze, err);
    if (code == ERR_QUOTA_INSUFFICIENT) {
        error_clear(err);
        wait_or_release(booking);
        return ERR_OK;
    }
    view->run.frozen_mcs = code == ERR_OK ? freeze.mcs : 0;
    return code;
}

enum error_code decide_requeue(struct view *view,
                               const struct command *command,
                               const struct calendar *calendar,
                               struct plan *plan,
                               struct error *err)
{
    struct run_facts facts;
    enum error_code code = read_command(view, command, &facts, err);
    if (code != ERR_OK) {
        return code;
    }
    enum stand stand = attempt_stand(view, command->attempt);
    struct booking booking;
    booking_begin(&booking, view, calendar, plan);
    if (!SETTLES[stand].settled) {
        code = settle(&booking, command, stand, &facts, err);
    } else {
        run_totals_answer(&view->run, plan);
    }
    if (code != ERR_OK) {
        return code;
    }
    if (view->task.attempt > command->attempt) {
        /* The next attempt is known already: there is nothing more to freeze. */
        plan->replayed = SETTLES[stand].settled;
    } else {
        booking_step(&booking);
        code = freeze_next(&booking, err);
    }
    if (code == ERR_OK && !plan->replayed) {
        booking_finish(&booking);
    }
    return code;
}

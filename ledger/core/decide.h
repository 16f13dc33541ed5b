/*
 * Decisions: (view, command, calendar) -> plan, or a refusal. Pure: no I/O, no clock, no
 * allocation, no globals; any thread.
 *
 * Each function works on the view in place (core/view.h) and fills the plan, which the caller has
 * emptied with plan_reset(). It returns ERR_OK or the code of the refusal with err filled in; after
 * a refusal the view is void and only plan->violations and plan->requested_* may be read. Each
 * expects the parts of the view that its row in decide.c names.
 */
#ifndef LEDGER_CORE_DECIDE_H
#define LEDGER_CORE_DECIDE_H

#include "ledger/core/view.h"

/* How much of a hold a command is about; tells the shell what to load and how often to call. */
enum decide_scope {
    DECIDE_NEW,   /* makes the hold: path, card, grants */
    DECIDE_HOLD,  /* the hold alone */
    DECIDE_RUN,   /* hold, one task, the named attempt and the newest one */
    DECIDE_TASKS, /* called once for each touched task in scope, then, where untouched ones are in
                     scope, once for them together with view.task_found false and view.task.task =
                     -1. A list of untouched tasks is called one by one. */
};

typedef enum error_code (*decide_fn)(struct view *view,
                                     const struct command *command,
                                     const struct calendar *calendar,
                                     struct plan *plan,
                                     struct error *err);

struct decision {
    enum command_kind kind;
    const char *name; /* as in the op of a batch: "freeze" */
    enum decide_scope scope;
    decide_fn decide;
};

/* The row of a command that is about a hold, or NULL (nodes, clusters, grants: ledger/admin). */
const struct decision *decision_of(enum command_kind kind);

/* Promote one waiting hold or task (view as for DECIDE_RUN): ERR_OK and frozen, or
 * ERR_QUOTA_INSUFFICIENT with its limits. */
enum error_code decide_promote(struct view *view,
                               const struct calendar *calendar,
                               struct plan *plan,
                               struct error *err);

/* Money: a grant, transfer or withdrawal. grants[] = rows of the payer(s), the new row already made
 * in view->grants by the shell. */

void plan_reset(struct plan *plan);

#endif

/*
 * Decisions: (view, command, calendar) -> plan, or a refusal. Pure: no I/O, no clock, no
 * allocation, no globals; any thread.
 *
 * Each function works on the view in place (core/view.h) and fills the plan, which the caller has
 * emptied with plan_reset(). It returns ERR_OK or the code of the refusal with err filled in; after
 * a refusal the view is void and only plan->violations and plan->requested_* may be read. Each
 * expects the parts of the view that its scope names. Of the view's path, the counters and windows
 * may be changed as scratch: what counts is plan->delta and plan->usage.
 *
 * Where one command is carried out by several calls (DECIDE_TASKS), each plan is applied before the
 * next view is made, and one refusal undoes them all.
 */
#ifndef LEDGER_CORE_DECIDE_H
#define LEDGER_CORE_DECIDE_H

#include "ledger/core/plan.h"
#include "ledger/core/view.h"

/* How much of a hold a command is about; tells the shell what to load and how often to call. */
enum decide_scope {
    DECIDE_NEW,  /* makes the hold: path, card, grants */
    DECIDE_HOLD, /* the hold alone */
    DECIDE_RUN,  /* hold, one task; run = the named attempt, previous = the newest one where that is
                    another */
    DECIDE_TASK, /* hold, one task; run = its newest attempt; the command's attempt does not matter */
    DECIDE_TASKS, /* as DECIDE_TASK, called for each task in scope. With all tasks: first once with
                     view.task_found false and view.task.task = -1 for the hold and its untouched
                     tasks together (also where none is untouched), then for each touched one. A
                     list of tasks is called one by one, untouched ones too; a list that names every
                     task of the hold is all tasks. */
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

/* The decisions, each in decide_<name>.c or with its sister (suspend and resume; settle and requeue;
 * release and expire_hold; quote is freeze). */
#define DECISION(name)                                                                \
    enum error_code decide_##name(struct view *view, const struct command *command,   \
                                  const struct calendar *calendar, struct plan *plan, \
                                  struct error *err)
DECISION(freeze);
DECISION(bind);
DECISION(start);
DECISION(suspend);
DECISION(resume);
DECISION(resize);
DECISION(requeue);
DECISION(settle);
DECISION(release);
DECISION(correct);
DECISION(heartbeat);
DECISION(charge);
DECISION(refund);
DECISION(expire_hold);
DECISION(turn_run);
#undef DECISION

/* Promote what waits (SPEC 5.13): one task (view as for DECIDE_TASK), or a hold's untouched tasks
 * together (task_found false, task.task -1). ERR_OK and frozen, or ERR_QUOTA_INSUFFICIENT with its
 * limits among the violations. */
enum error_code decide_promote(struct view *view,
                               const struct calendar *calendar,
                               struct plan *plan,
                               struct error *err);

#endif

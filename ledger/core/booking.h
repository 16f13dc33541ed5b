/*
 * Carrying a decision out on the sheet: what every decision about a hold does between looking and
 * answering.
 *
 * A booking remembers the hold as it was found. Decisions then change records in place, freeze and
 * charge through the functions below, and end with booking_finish(), which derives the differences
 * of the counters from before and after. So counters cannot part from records. Pure, any thread.
 */
#ifndef LEDGER_CORE_BOOKING_H
#define LEDGER_CORE_BOOKING_H

#include "ledger/core/charge.h"
#include "ledger/core/funds.h"
#include "ledger/core/view.h"

enum {
    /* Months of two states of a run, each with its own. */
    BOOKING_MONTHS = 2 * (RECORD_REFUND_MONTHS + 4),
};

struct booking {
    struct view *view;               /* borrowed */
    struct plan *plan;               /* borrowed */
    const struct calendar *calendar; /* borrowed */
    struct hold before;              /* zeroed for a new hold */
    bool own_found;                  /* the task was open with resources of its own: */
    struct run own;                  /* its newest run as it was */
    int64_t waiting_mcs;             /* what the view's tasks waited for */
};

/* What is to be frozen, and for which run (of a whole hold: task -1). */
struct booking_freeze {
    int64_t mcs;
    int64_t task;
    int64_t attempt;
    bool per_job; /* check the caps on single jobs by: */
    int64_t job_mcs;
    int64_t job_mgpus;
    int64_t job_s;
    bool behind_waiting;
};

void booking_begin(struct booking *booking,
                   struct view *view,
                   const struct calendar *calendar,
                   struct plan *plan);

/*
 * Freeze if all limits and the payer allow it, counting what the hold's records say is now in
 * flight beyond what was before. Moves no task and adds nothing to a run: the caller does.
 *
 * ERR_OK; ERR_QUOTA_INSUFFICIENT with plan->violations; ERR_TOO_MANY_DRAWS; ERR_INVALID_FIELD. Then
 * nothing has moved.
 */
MUST_USE enum error_code booking_freeze(struct booking *booking,
                                        const struct booking_freeze *freeze,
                                        struct error *err);

/* booking_freeze() for what goes on or has waited (renewals, requeues, promotions): the number of draws
 * does not matter. ERR_OK, ERR_QUOTA_INSUFFICIENT or ERR_INVALID_FIELD. */
MUST_USE enum error_code booking_freeze_more(struct booking *booking,
                                             const struct booking_freeze *freeze,
                                             struct error *err);

/* Whether booking_freeze() would pass all limits; moves nothing. ERR_OK, or ERR_QUOTA_INSUFFICIENT
 * with plan->violations. */
MUST_USE enum error_code booking_check(struct booking *booking,
                                       const struct booking_freeze *freeze,
                                       struct error *err);

/*
 * booking_freeze() for what goes on in any case (SPEC 5.4, 5.12): where it does not fit it is frozen past
 * the limits, the hold and the run are marked with FLAG_OVER_CAP or FLAG_OVERDRAWN, and only soft
 * violations stay.
 *
 * @ret_fits  whether it fitted
 */
MUST_USE enum error_code booking_freeze_anyway(struct booking *booking,
                                               const struct booking_freeze *freeze,
                                               bool *ret_fits,
                                               struct error *err);

/* Give mcs back from frozen to the grants. Adds to plan->run_expired_mcs what expired. */
void booking_unfreeze(struct booking *booking, int64_t task, int64_t attempt, int64_t mcs);

/* Begin plan->adjustment, the row that a correction or a refund of the run leaves. The caller writes who and why into it. */
struct adjustment *booking_adjust(struct booking *booking, int64_t amount_mcs);

/*
 * Book the difference between view->run as it was and as its facts now stand, by months in order of
 * time: down to the run's frozen first, then up from it, then above it (SPEC 5.6). Sets charged_mcs.
 *
 * @before  NULL: nothing was booked
 * ERR_OK, or ERR_INVALID_FIELD when the run is too long or too dear.
 */
MUST_USE enum error_code booking_charge(struct booking *booking,
                                        const struct run *before,
                                        struct error *err);

/* The same for a run that goes on: never above what is frozen for it. Where that does not reach
 * view->run.booked_until_s, booked_until_s is set back to where it does. */
MUST_USE enum error_code booking_charge_open(struct booking *booking,
                                             const struct run *before,
                                             struct error *err);

/* Charges of two states of a run compared: months whose charge differs, ascending, after - before.
 * @months has BOOKING_MONTHS. Returns the count. */
int32_t booking_month_differences(const struct run *before,
                                  const struct run *after,
                                  const struct calendar *calendar,
                                  struct month_amount *months);

/* Context of an entry that belongs to a month in which a run ran; closed months are booked in the
 * oldest open one (SPEC 8.2). */
struct funds_context booking_context(const struct booking *booking,
                                     enum entry_kind kind,
                                     int64_t task,
                                     int64_t attempt,
                                     int64_t period);

/* Mark hold, run (where there is one) and answer. */
void booking_flag(struct booking *booking, int64_t flags);

/* Put the differences so far into the plan, show them to the limits of the view, and go on from
 * here: for decisions of two steps (requeue). At most once. */
void booking_step(struct booking *booking);

/* Put the differences into the plan. Every decision that changed something ends here. */
void booking_finish(struct booking *booking);

/* The newest attempt of the view's task, or NULL. */
struct run *view_newest_run(struct view *view);

/* What an attempt that has not started asks for: its rate x the seconds that its hold's mode
 * freezes. */
int64_t run_wanted_mcs(const struct hold *hold, const struct run *run);

/*
 * What must be frozen for a run at @at_s, beyond what it has been charged (SPEC 5.4, 5.5): in mode
 * full the rest of its time limit, in mode window what ran since it was last charged and one window
 * more; before its start as run_wanted_mcs(). ERR_OK, or ERR_INVALID_FIELD beyond one command.
 */
MUST_USE enum error_code run_needed_mcs(const struct hold *hold,
                                        const struct run *run,
                                        int64_t at_s,
                                        int64_t *ret_mcs,
                                        struct error *err);

/* The whole job's amount for job_core_hours, by its time limit where it has one (SPEC 4.1);
 * INT64_MAX where that leaves int64. */
int64_t hold_job_mcs(const struct hold *hold);

/* As run_wanted_mcs() of a task without a run: rate x seconds of the hold. */
int64_t hold_task_mcs(const struct hold *hold);

/* Seconds to freeze by mode: the limit, or the window where shorter (SPEC 5.2). */
int64_t hold_freeze_seconds(const struct hold *hold, int64_t limit_s);

#endif

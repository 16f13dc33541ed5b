/*
 * What a run is charged: a pure function of its facts, so that every booking is the difference of
 * two such functions.
 *
 *   charge(run) = 0 when waived, else the sum over its segments of rate x unsuspended seconds in
 *                 [started_s, booked_until_s)
 *
 * split over days and months by the calendar of the root, where every second belongs to exactly one
 * day: sum of days = sum of months = total, exactly (SPEC 8.1). Nothing else in the ledger
 * multiplies a rate with a run's time. Sums that leave int64 stand at INT64_MAX; charge_difference()
 * refuses them long before, so that no such run is ever stored.
 *
 * A run always has a first segment. Before its start it holds the rate in force with from_s 0;
 * run_start_move() sets it to the start. Pure, any thread.
 */
#ifndef LEDGER_CORE_CHARGE_H
#define LEDGER_CORE_CHARGE_H

#include "ledger/core/view.h"

/* Total of a run as its facts stand, mcs. Waived: 0. charge_gross(): as if not waived. */
int64_t charge_total(const struct run *run);
int64_t charge_gross(const struct run *run);

/* Gross charge and GPU time of [from_s, to_s) cut to the facts. */
void charge_between(const struct run *run,
                    int64_t from_s,
                    int64_t to_s,
                    int64_t *ret_mcs,
                    int64_t *ret_mgs);

/* The latest time up to which the gross charge from the start on is at most mcs, whatever
 * booked_until_s says (never beyond until_s, never before started_s). */
int64_t charge_reach(const struct run *run, int64_t mcs, int64_t until_s);

/* How a difference is booked. */
struct charge_context {
    const struct calendar *calendar; /* the root's; borrowed */
    int64_t oldest_open_month;
    enum usage_kind kind; /* USAGE_USAGE, or USAGE_CORRECTION (correct) */
};

/*
 * Usage rows for the difference between a run as it was booked and as it is to be booked, appended
 * to plan->usage, days ascending.
 *
 * @before  NULL: nothing was booked
 * @after   the new facts; its outcome is that of the new rows
 *
 * Rows of closed months become USAGE_CORRECTION in oldest_open_month, with the period in which it
 * ran. Where the outcome changed, the old outcome's rows are taken back and the new one's added.
 * Waived use is kind USAGE_WAIVED with used 0, waived_mcs and its GPU time. runs: an ended run counts
 * once, on the day of its last second (its start when of length 0).
 *
 * Returns ERR_OK, or ERR_INVALID_FIELD with nothing appended when the run is longer than
 * LIMIT_RUN_DAYS or comes to more than LIMIT_COMMAND_MCS.
 */
MUST_USE enum error_code charge_difference(const struct run *before,
                                           const struct run *after,
                                           const struct charge_context *context,
                                           struct plan *plan,
                                           struct error *err);

/*
 * Charge of a run by the months in which it ran, ascending, months without charge left out. Waived:
 * none. Returns the count.
 *
 * @most  room in months; RECORD_REFUND_MONTHS is enough for any run that is stored
 */
int32_t charge_months(const struct run *run,
                      const struct calendar *calendar,
                      struct month_amount *months,
                      int32_t most);

/*
 * Facts. All keep suspensions ascending and disjoint and segments ascending with the first at the
 * start. None touches state, draws or amounts. The calendar tells which suspensions share a day when
 * a list is full and two of them must be joined.
 */

/* Suspended from at_s on (not before the start or the end of the last suspension). Nothing while
 * suspended. */
void run_suspend(struct run *run, int64_t at_s, const struct calendar *calendar);

/* The open suspension ends; one of length 0 or less never was. Nothing when none is open. */
void run_resume(struct run *run, int64_t at_s);

/* Cuts suspensions and segments at ended_s >= started_s; sets ended_s and booked_until_s. */
void run_end(struct run *run, int64_t ended_s);

/* Suspended seconds in [started_s, until_s). */
int64_t run_suspended_s(const struct run *run, int64_t until_s);

/* Make the total suspended time of an ended run equal total_s, at most its length: the difference is
 * taken from the end backwards (SPEC 5.6). */
void run_suspended_set(struct run *run, int64_t total_s, const struct calendar *calendar);

/* Another rate from at_s on, until the next segment there may be (a resize that comes late). The
 * same rate as before makes no segment. Before the start, the first segment changes. ERR_OK, or
 * ERR_INVALID_FIELD when all RECORD_SEGMENTS are in use. */
MUST_USE enum error_code run_resize(struct run *run,
                                    int64_t at_s,
                                    int64_t rate_mcores,
                                    int64_t mgpus,
                                    struct error *err);

/* The start, or another one: the first segment moves with it; what lay before is cut.
 * booked_until_s is never left before the start. */
void run_start_move(struct run *run, int64_t started_s);

/* What a freeze of the whole run comes to: the elapsed segments at their rates + the last segment's
 * rate x (limit_s - unsuspended seconds elapsed at at_s) (SPEC 5.5). Not started: rate x limit_s.
 * ERR_OK, or ERR_INVALID_FIELD beyond LIMIT_COMMAND_MCS. */
MUST_USE enum error_code run_freeze_amount(const struct run *run,
                                           int64_t at_s,
                                           int64_t limit_s,
                                           int64_t *ret_mcs,
                                           struct error *err);

#endif

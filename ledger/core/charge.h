/*
 * What a run is charged: a pure function of its facts, so that every booking is the difference of
 * two such functions.
 *
 *   charge(run) = 0 when waived, else the sum over its segments of rate x unsuspended seconds in
 * [started_s, booked_until_s)
 *
 * split over days and months by the calendar of the root, where every second belongs to exactly one
 * day: sum of days = sum of months = total, exactly (SPEC 8.1). Nothing else in the ledger
 * multiplies a rate with a run's time.
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

/* The latest booked_until_s for which the gross charge is at most mcs (never beyond until_s, never
 * before started_s). */
int64_t charge_reach(const struct run *run, int64_t mcs, int64_t until_s);

/*
 * Usage rows for the difference between a run as it was booked and as it is to be booked.
 *
 * @before  NULL: nothing was booked       @after  the new facts; its outcome is that of the new
 * rows
 * @kind    USAGE_USAGE, or USAGE_CORRECTION (correct); rows of closed months become
 * USAGE_CORRECTION in oldest_open_month
 * @usage   appended at usage[*count], at most `most` rows in all; days ascending. Where the outcome
 * changed, the old outcome's rows are taken back and the new one's added. Waived use appears as
 * kind USAGE_WAIVED with used 0 and waived_mcs. runs: +1 on the day of the run's last second (its
 * start when of length 0), where `after` has ended and `before` had not.
 *
 * Returns ERR_OK or ERR_INVALID_FIELD when the run is longer than LIMIT_RUN_DAYS.
 */
struct charge_context {
    const struct calendar *calendar;
    int64_t oldest_open_month;
    enum usage_kind kind;
};
enum error_code charge_difference(const struct run *before,
                                  const struct run *after,
                                  const struct charge_context *context,
                                  struct plan *plan,
                                  struct error *err);

/* Charge of a run by the months in which it ran, ascending; returns the count, at most `most`.
 * Waived: 0 months. */
int32_t charge_months(const struct run *run,
                      const struct calendar *calendar,
                      struct month_amount *months,
                      int32_t most);

/* Facts: change them in order. All keep suspensions ascending and disjoint and segments ascending.
 */
void run_suspend(struct run *run, int64_t at_s);
void run_resume(struct run *run, int64_t at_s);
void run_end(struct run *run, int64_t ended_s); /* cuts open suspensions and later segments, sets
                                                   ended_s and booked_until_s */
int64_t run_suspended_s(const struct run *run, int64_t until_s);
/* Make the total suspended time of an ended run equal total_s: the difference is taken from the end
 * backwards (SPEC 5.6). */
void run_suspended_set(struct run *run, int64_t total_s);
enum error_code
run_resize(struct run *run, int64_t at_s, int64_t rate_mcores, int64_t mgpus, struct error *err);
/* An earlier (or, on settle, any) start: the first segment moves with it. */
void run_start_move(struct run *run, int64_t started_s);
/* From `at_s` to the limit at the rate in force; what a freeze of the whole run comes to: elapsed
 * segments + rate x rest (SPEC 5.5). */
enum error_code run_freeze_amount(const struct run *run,
                                  int64_t at_s,
                                  int64_t limit_s,
                                  int64_t *ret_mcs,
                                  struct error *err);

#endif

/*
 * Filling plans. Pure, any thread.
 */
#ifndef LEDGER_CORE_PLAN_H
#define LEDGER_CORE_PLAN_H

#include "ledger/core/view.h"

/* Empty a plan: counts, flags and sums; the arrays behind counts are left as they are. */
void plan_reset(struct plan *plan);

/* Add a feed event about @hold. @tasks "0", "3-9"; "": all its tasks that have no row of their own.
 * @message is cut to its room. */
void plan_feed(struct plan *plan,
               const struct view *view,
               enum feed_type type,
               const char *tasks,
               const char *message);

/* Whether a hard limit that failed is exceeded by the request alone, so that waiting cannot help
 * (SPEC 5.13). */
bool plan_is_beyond(const struct plan *plan);

/* Whether what the plan books agrees with itself: entries are positive and between two different
 * accounts, and frozen in the counters follows from the entries. For assertions and tests. */
bool plan_is_balanced(const struct plan *plan);

#endif

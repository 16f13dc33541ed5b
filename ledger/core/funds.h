/*
 * Moving core-hours between the accounts of a payer's grants: the only place that changes a grant's
 * figures. Every move is one entry in the plan, so that balances and journal cannot part (SPEC
 * 3, 9.1).
 *
 * Order of rows in view->grants: timed by end, then endless, then overdraft. "Valid": start_s <=
 * now < end_s and not ended. An amount that moves from one row to another counts in moved_mcs of
 * both.
 *
 * What the functions keep in step, beside the grants: hold.draws and hold.frozen_mcs, run.draws,
 * hold.used_mcs, plan->delta.frozen_mcs, plan->grants_changed. What is the caller's: run.frozen_mcs,
 * run.charged_mcs, run.refunded_mcs, plan->hold_changed and run_changed, usage. Amounts are 0 or
 * more; 0 moves nothing.
 *
 * Pure, any thread.
 */
#ifndef LEDGER_CORE_FUNDS_H
#define LEDGER_CORE_FUNDS_H

#include "ledger/core/view.h"

/* Which hold, task, attempt and month the entries of a move name. */
struct funds_context {
    int64_t hold_no;
    int64_t task;
    int64_t attempt;
    int64_t month;
    int64_t period;
    enum entry_kind kind;
};

/* The largest sum of used, frozen and expired, and of what was granted, in one row: far from the end
 * of int64, so that no move between accounts can overflow (SPEC 1.1). */
#define FUNDS_MOST_MCS (INT64_MAX / 8)

/* A grant from which one may draw now. */
bool funds_row_is_valid(const struct grant *grant, int64_t now_s);

/* The node that pays for the view's rows, or NULL when it is not on the path (any more). */
const struct node *funds_payer(const struct view *view);

/* What a freeze could take now: available of the valid rows + what the overdraft allows; below 0
 * when overdrawn further; INT64_MAX when a valid row is endless. */
int64_t funds_available(const struct view *view);

/*
 * available -> frozen, earliest end first, at most LIMIT_DRAWS draws in the hold.
 *
 * @forced  past the overdraft's limit if need be (renewals that continue, late starts), and never
 * refused for the number of draws
 *
 * Returns ERR_OK; ERR_QUOTA_INSUFFICIENT, ERR_TOO_MANY_DRAWS, or ERR_INVALID_FIELD (beyond
 * FUNDS_MOST_MCS), and then nothing has moved. The violation is caps_check()'s to list.
 */
MUST_USE enum error_code funds_freeze(struct view *view,
                                      struct plan *plan,
                                      const struct funds_context *context,
                                      int64_t mcs,
                                      bool forced,
                                      struct error *err);

/*
 * frozen -> available, the hold's draws latest end first; to a row that has ended: -> expired; to
 * the overdraft: up to 0, the rest to the latest valid row (else to the latest ended one's expired).
 * What then lies available repays a negative overdraft.
 *
 * @mcs          at most hold.frozen_mcs
 * @ret_expired  the part that expired
 */
void funds_unfreeze(struct view *view,
                    struct plan *plan,
                    const struct funds_context *context,
                    int64_t mcs,
                    int64_t *ret_expired);

/* frozen -> used from the hold's draws, earliest end first, into the run's draws. mcs <= the hold's
 * frozen. */
void funds_use_frozen(struct view *view,
                      struct plan *plan,
                      const struct funds_context *context,
                      int64_t mcs);

/* available -> used above the freeze: valid rows, then overdraft without limit (SPEC 3.3). ERR_OK,
 * or ERR_INVALID_FIELD beyond FUNDS_MOST_MCS with nothing moved. */
MUST_USE enum error_code funds_use_over(struct view *view,
                                        struct plan *plan,
                                        const struct funds_context *context,
                                        int64_t mcs,
                                        struct error *err);

/* used -> available (or expired, or overdraft first), the run's draws last first: refunds,
 * corrections down, waivers. mcs <= the sum of run.draws. Repays as funds_unfreeze() does. */
void funds_return_used(struct view *view,
                       struct plan *plan,
                       const struct funds_context *context,
                       int64_t mcs,
                       int64_t *ret_expired);

/* used -> frozen, the run's draws last first: a provisional charge taken back while the run goes on
 * (late suspension), or before the rest is returned. mcs <= the sum of run.draws. */
void funds_refreeze(struct view *view,
                    struct plan *plan,
                    const struct funds_context *context,
                    int64_t mcs);

/* Any available of valid timed rows pays back a negative overdraft of the same payer (after grants
 * and transfers; returns do it themselves). */
void funds_repay(struct view *view, struct plan *plan);

/* A grant: issued -> available of grants[row]. ERR_OK, or ERR_INVALID_FIELD beyond FUNDS_MOST_MCS.
 * Call funds_repay() after it. */
MUST_USE enum error_code funds_issue(struct view *view,
                                     struct plan *plan,
                                     int32_t row,
                                     int64_t mcs,
                                     struct error *err);

/* A transfer: available of one timed row to available of another, mcs <= what the first has. The
 * rows may be of two payers: view->grants then holds the rows of both. */
void funds_transfer(struct view *view,
                    struct plan *plan,
                    int32_t from_row,
                    int32_t to_row,
                    int64_t mcs);

/* A withdrawal: available of valid timed rows -> issued, earliest end first. ERR_OK, or
 * ERR_QUOTA_INSUFFICIENT with nothing moved. */
MUST_USE enum error_code funds_withdraw(struct view *view,
                                        struct plan *plan,
                                        int64_t mcs,
                                        struct error *err);

/* A grant's end: available rest -> expired, and the row is marked ended. */
void funds_expire(struct view *view, struct plan *plan, int32_t row);

#endif

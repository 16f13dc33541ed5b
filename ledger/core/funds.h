/*
 * Moving core-hours between the accounts of a payer's grants: the only place that changes a grant's
 * figures. Every move is one entry in the plan, so that balances and journal cannot part (SPEC
 * 3, 9.1).
 *
 * Order of rows in view->grants: timed by end, then endless, then overdraft. "Valid": start_s <=
 * now < end_s and not ended.
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

/* What a freeze could take now: available of the valid rows + what the overdraft allows; INT64_MAX
 * when endless. */
int64_t funds_available(const struct view *view);

/*
 * available -> frozen, earliest end first, at most LIMIT_DRAWS draws in the hold. `forced`: past
 * the overdraft's limit if need be (renewals that continue, late starts), and never refused for the
 * number of draws. Returns ERR_OK, ERR_QUOTA_INSUFFICIENT (nothing moved), ERR_TOO_MANY_DRAWS.
 */
enum error_code funds_freeze(struct view *view,
                             struct plan *plan,
                             const struct funds_context *context,
                             int64_t mcs,
                             bool forced,
                             struct error *err);

/* frozen -> available, latest end first; to a row that has ended: -> expired; to the overdraft: up
   to 0, the rest to the latest valid timed row (else to the latest ended one's expired).
   ret_expired: the part that expired. */
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

/* available -> used above the freeze: valid rows, then overdraft without limit (SPEC 3.3). */
void funds_use_over(struct view *view,
                    struct plan *plan,
                    const struct funds_context *context,
                    int64_t mcs);

/* used -> available (or expired, or overdraft first), the run's draws last first: refunds,
 * corrections down, waivers. */
void funds_return_used(struct view *view,
                       struct plan *plan,
                       const struct funds_context *context,
                       int64_t mcs,
                       int64_t *ret_expired);

/* used -> frozen: a provisional charge taken back while the run goes on (late suspension). */
void funds_refreeze(struct view *view,
                    struct plan *plan,
                    const struct funds_context *context,
                    int64_t mcs);

/* Any available of valid timed rows pays back a negative overdraft (after grants, transfers,
 * refunds). */
void funds_repay(struct view *view, struct plan *plan);

/* Grants: issued -> available of grants[row]. Withdrawal: available -> issued, earliest end first.
 * A grant's end: rest -> expired. */
void funds_issue(struct view *view, struct plan *plan, int32_t row, int64_t mcs);
enum error_code
funds_withdraw(struct view *view, struct plan *plan, int64_t mcs, struct error *err);
void funds_expire(struct view *view, struct plan *plan, int32_t row);

#endif

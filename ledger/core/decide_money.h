/*
 * Decisions about money (SPEC 3): a grant, its end, a transfer, a withdrawal. Pure, any thread.
 *
 * They use of the view: now, month, nodes[0] = the payer that is named (transfer: from, and nodes[1]
 * = to), grants[] = all rows of the payer (transfer: of both) that have not ended, in the order of
 * core/funds.h. What they leave is in grants[] and in the plan's entries; room_freed says that
 * waiting tasks may now fit. A replay (same id) is the shell's to find.
 *
 * Errors of all: ERR_INVALID_FIELD; ERR_NOT_FUNDED_HERE when a named node is not funded by `self`.
 */
#ifndef LEDGER_CORE_DECIDE_MONEY_H
#define LEDGER_CORE_DECIDE_MONEY_H

#include "ledger/core/plan.h"
#include "ledger/core/view.h"

/* A grant. The shell has put a row for it among view->grants, in its place, with its number, node,
 * root, id, note and created_ms, kind GRANT_TIMED and zero amounts; @row is its index. start_s and
 * end_s are set here (0: now, never). Repays overdraft first. */
enum error_code decide_grant(struct view *view,
                             const struct command *command,
                             int32_t row,
                             struct plan *plan,
                             struct error *err);

/* A grant's end (END_GRANT): what is available repays overdraft, the rest expires. No effect before
 * its end or where it has ended already. */
enum error_code decide_grant_end(struct view *view,
                                 int32_t row,
                                 struct plan *plan,
                                 struct error *err);

/* Take back, earliest end first. ERR_QUOTA_INSUFFICIENT with a violation of kind CAP_FUNDS when less
 * is available. */
enum error_code decide_withdraw(struct view *view,
                                const struct command *command,
                                struct plan *plan,
                                struct error *err);

/*
 * Move available core-hours to another payer of the same root, earliest end first, keeping validity:
 * into a row of the receiver with the same end, or a new one, which is inserted in its place with
 * numbers from view->next_grant_no on (advanced by as many) and zero created_ms and texts.
 * ERR_QUOTA_INSUFFICIENT as above; ERR_TOO_MANY_DRAWS when the view has no room for the rows.
 */
enum error_code decide_transfer(struct view *view,
                                const struct command *command,
                                struct plan *plan,
                                struct error *err);

#endif

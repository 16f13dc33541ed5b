/*
 * Closing a month of a root (SPEC 8.2, 9.2).
 *
 * A close says that nothing is booked in the month any more, which root_state.oldest_open_month makes
 * true, and writes down the accounts of all grants at that moment: their digest goes into the chain, so
 * that a check can start there. It reads no usage and takes no longer for a large month than for a small
 * one. The digest of the month's usage, which cannot change any more, is computed by a reader
 * (ledger_period_digest()) and written down by COMMAND_SEAL afterwards.
 */
#ifndef LEDGER_PERIOD_H
#define LEDGER_PERIOD_H

#include "ledger/base/digest.h"
#include "ledger/core/record.h"

/* Of the canonical form and of the exports: an export of a closed month never changes, so that a later
 * release that would write it otherwise counts up and keeps the old form for the old months. */
enum { PERIOD_FORMAT = 1 };

/**
 * The digest of the balances at a close:
 *
 *   SHA-256(month || last_seq || last_hold_no || each close_grant || each close_payer)
 *
 * Numbers are 8 bytes, most significant first; a close_grant is its grant_no to expired_mcs, a
 * close_payer its booked_month to expired_mcs, in the order of the structs.
 */
void period_digest_begin(struct digest_state *state, const struct period *period);
void period_digest_grant(struct digest_state *state, const struct close_grant *row);
void period_digest_payer(struct digest_state *state, const struct close_payer *row);

#endif

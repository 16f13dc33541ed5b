/*
 * The SHA-256 chain of a root's journal: one link for each transaction that has entries, changes by people
 * or notes (SPEC 9.2, 10.3). Root 0 is the chain of the service itself.
 *
 *   hash = SHA-256(previous hash || txn_no || at_ms || each entry's encoding || each change's (audit.h)
 *                || each note)
 *
 * Numbers are 8 bytes, most significant first. An entry is its seq, kind, from_part, to_part,
 * from_grant_no, to_grant_no, amount_mcs, hold_no, task, attempt, month, period, at_ms: internal
 * numbers only, no names of people.
 */
#ifndef LEDGER_CHAIN_H
#define LEDGER_CHAIN_H

#include "ledger/base/digest.h"
#include "ledger/core/record.h"

struct ledger;

/** Begin a link's hash. */
void chain_hash_begin(struct digest_state *state,
                      const struct digest *previous,
                      int64_t txn_no,
                      int64_t at_ms);

/** Add an entry. */
void chain_hash_entry(struct digest_state *state, const struct entry *entry);

/** Add a note: -2, with which no entry begins, its kind, subject and digest. */
void chain_hash_note(struct digest_state *state, const struct chain_note *note);

/** Let a digest have its place in the link that this transaction adds to a root's chain. @note: its root,
 * kind, subject, time and digest; the rest is set here. */
void chain_note(struct ledger *ledger, const struct chain_note *note);

/** Append a link for each root that has entries, changes by people or notes in this transaction, and move the
 * states of the roots on. */
void chain_seal(struct ledger *ledger);

#endif

/*
 * Filling the view: what a decision will see, from names and numbers (core/view.h).
 *
 * Only what counts is copied: an array up to its count. ledger->subject says which cells the view was
 * filled from. Failures of the store stick to the working set.
 */
#ifndef LEDGER_LOAD_H
#define LEDGER_LOAD_H

#include "ledger/core/decide.h"
#include "ledger/shell.h"

/**
 * For a command that makes a hold (FREEZE, QUOTE, CHARGE): its path by names, the card in force, the
 * payer's rows, a hold with new numbers. Somebody unknown to the project gets a node for the time
 * being (view.new_member).
 *
 * @ret_replayed  the id is known with the same content: view.hold is the stored one, and there is
 *                nothing to decide
 *
 * ERR_UNKNOWN_CLUSTER, ERR_NOT_FOUND, ERR_UNKNOWN_ACCOUNT, ERR_INVALID_FIELD (user), ERR_ID_REUSED,
 * ERR_TOO_MANY_CAPS.
 */
MUST_USE enum error_code load_new(struct ledger *ledger,
                                  const struct command *command,
                                  bool *ret_replayed,
                                  struct error *err);

/** For a verb: the hold, its path as it was made, cluster, card and grants. */
void load_hold(struct ledger *ledger, const struct hold *hold);

/** After load_hold(): one task and its attempts. attempt -1: the newest. task -1: the untouched ones
 * together. */
void load_task(struct ledger *ledger, int64_t task, int64_t attempt);

/** After load_hold() and load_task(): what else the command names (resources, an account). */
void load_command(struct ledger *ledger, const struct command *command);

/** now_ms and what depends on it, for a root. */
void load_time(struct ledger *ledger, const struct node *root);

/** Used by the counter's node in the window of @kind that contains the time's second, mcs; 0 for kinds
 * without a window. */
int64_t load_window_used(struct ledger *ledger,
                         const struct root_time *time,
                         const struct counter *counter,
                         int64_t kind);

/** The rows of a payer that have not ended, put in their places in the view. False when they do not fit. */
bool load_payer_rows(struct ledger *ledger, int64_t node_no);

/** Digest of a command that makes a hold, as given: what a replay is told by (SPEC 6.1). */
struct digest16 load_content(const struct command *command);

/** The same for a refund. */
struct digest16 load_refund_content(const struct command *command, int64_t hold_no);

/** A version of a cluster's card with its rows; view.card_found false when there is none. */
void load_card(struct ledger *ledger, int64_t cluster_no, int64_t version);

#endif

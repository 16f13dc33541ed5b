/*
 * Carrying a plan over into the working set: the records that changed, counters along the path of the
 * hold's time, usage, journal, feed, indexes, the queue of what waits.
 */
#ifndef LEDGER_APPLY_H
#define LEDGER_APPLY_H

#include "ledger/shell.h"

/**
 * Apply ledger->plan, decided on ledger->view for @command (NULL: a promotion).
 *
 * ERR_INVALID_FIELD, with nothing applied, when a sum would leave its range (SPEC 1.1) or a node had
 * more than RECORD_MODELS GPU models in flight.
 */
MUST_USE enum error_code apply_plan(struct ledger *ledger,
                                    const struct command *command,
                                    struct error *err);

/** The same for money: grants and entries only, of the root in ledger->subject. New rows among
 * view.grants are stored. */
void apply_money(struct ledger *ledger);

/** Add a feed event to a cluster: numbers it and marks the cluster for ledger_feed_changed(). */
void apply_feed(struct ledger *ledger, const struct feed_event *event);

/** The state of a root, to change. */
struct root_state *apply_root_state(struct ledger *ledger, int64_t root_no);

#endif

/*
 * Filling the answer to a command from the view and the plan.
 */
#ifndef LEDGER_RESULT_H
#define LEDGER_RESULT_H

#include "ledger/shell.h"

/** An accepted command about a hold: the hold as the view has it, totals of the run, warnings. */
void result_of_hold(struct ledger *ledger, struct ledger_result *result);

/** A refusal for quota: the limits of the plan, copied to the heap. Without memory there are none. */
void result_of_refusal(struct ledger *ledger,
                       const struct command *command,
                       struct ledger_result *result);

/** As it stands after a put. */
void result_of_node(struct ledger *ledger, const struct node *node, struct ledger_result *result);
void result_of_cluster(struct ledger *ledger,
                       const struct cluster *cluster,
                       struct ledger_result *result);

/** Show the hold of a result as it stands by now, and whether it still waits. Uses the view. */
void result_refresh_hold(struct ledger *ledger, struct ledger_result *result);

/** What a quote says beside the hold, passed or not: the rate card, and the cost where it has a price. */
void result_of_price(struct ledger *ledger, struct ledger_result *result);

#endif

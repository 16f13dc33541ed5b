/*
 * Sums along a path: what is frozen, waits and is in flight at each node, what was used in each month.
 */
#ifndef LEDGER_COUNTERS_H
#define LEDGER_COUNTERS_H

#include "ledger/shell.h"

/** Whether the plan's differences can be added on the view's path: no sum leaves its range and no
 * node has more than RECORD_MODELS models in flight. ERR_OK or ERR_INVALID_FIELD. */
MUST_USE enum error_code counters_fit(const struct ledger *ledger, struct error *err);

/** Add them: counters, used by month, and the rows of usage under hold.dims_no. */
void counters_add(struct ledger *ledger);

/** Add to the models of a counter; those that come to 0 are dropped. False when there is no room, and
 * then nothing is added. */
bool counter_add_models(struct counter *counter, const struct counter_model *models, int32_t count);

#endif

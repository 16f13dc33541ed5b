/*
 * What an entry of the journal does to a payer's month: the lines of its statement (SPEC 8.3).
 *
 * Only what comes into available and frozen together, or leaves them, is a flow. Pure, any thread.
 */
#ifndef LEDGER_CORE_FLOW_H
#define LEDGER_CORE_FLOW_H

#include "ledger/base/check.h"
#include "ledger/core/record.h"

/** Whether an entry moves more than within available and frozen of one payer. */
bool flow_is_moved(const struct entry *entry);

/**
 * Add one end of an entry to the month of the payer whose grant stands there.
 *
 * @to  the end that receives, else the one that gives
 *
 * False when a sum would leave int64, and then nothing is added.
 */
MUST_USE bool flow_add_entry(struct payer_flow *flow, const struct entry *entry, bool to);

/** What available and frozen change by: the closing balance less the opening one, mcs. */
int64_t flow_net_mcs(const struct payer_flow *flow);

bool flow_equal(const struct payer_flow *a, const struct payer_flow *b);

#endif

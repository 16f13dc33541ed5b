/*
 * Months of payers, kept up to date with the journal, so that a statement needs no walk through it
 * (SPEC 8.3).
 */
#ifndef LEDGER_FLOWS_H
#define LEDGER_FLOWS_H

#include "ledger/shell.h"

/** Add an entry of ledger->plan, its root set, to the months of the payers whose grants in
 * ledger->view it names. A failure sticks to the working set. */
void flows_add(struct ledger *ledger, const struct entry *entry);

#endif

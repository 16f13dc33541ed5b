/*
 * The clockwork: what time has made due (ledger_due() in ledger.h).
 */
#ifndef LEDGER_DUE_H
#define LEDGER_DUE_H

#include "ledger/shell.h"

/** A TURN_RUN command was carried out: the next look goes on behind it. */
void due_turned(struct ledger *ledger, const struct command *command);

#endif

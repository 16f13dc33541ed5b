/*
 * Steps of ledger_execute() that its parts share.
 */
#ifndef LEDGER_EXECUTE_H
#define LEDGER_EXECUTE_H

#include "ledger/core/decide.h"
#include "ledger/shell.h"

/** Empty the plan and decide on the view. The code of a sticky failure, else the decision's. */
MUST_USE enum error_code execute_decide(struct ledger *ledger,
                                        const struct decision *decision,
                                        const struct command *command,
                                        struct error *err);

/** Carry out one command within an open transaction; its answer, refusals too, goes to @result. */
void execute_command(struct ledger *ledger,
                     const struct command *command,
                     struct ledger_result *result);

#endif

/*
 * Charges whose account no project answers to, or that no rate card prices: kept on the cluster's
 * list, for a person to assign (SPEC 5.9). Nobody pays for them until then.
 */
#ifndef LEDGER_UNATTRIBUTED_H
#define LEDGER_UNATTRIBUTED_H

#include "ledger/shell.h"

/**
 * Put a charge on the list, priced where the cluster's card has a price for it.
 *
 * ERR_UNKNOWN_CLUSTER or ERR_NOT_FOUND as for any charge, ERR_ID_REUSED, ERR_TIME_IN_FUTURE,
 * ERR_INVALID_FIELD for times that do not fit.
 */
MUST_USE enum error_code unattributed_charge(struct ledger *ledger,
                                             const struct command *command,
                                             struct ledger_result *result,
                                             struct error *err);

/**
 * Whether a charge that the caller has loaded is the one that the list has, if it has any.
 *
 * ERR_ID_REUSED when the list has other content under its id.
 */
MUST_USE enum error_code unattributed_check(struct ledger *ledger,
                                            const struct command *command,
                                            struct error *err);

/**
 * Make the charge anew that a person assigns: as it was sent, for the project that is named or, with
 * none named, that its account means by now. One assigned before gives its replay.
 *
 * ERR_NOT_FOUND when the list does not have it, ERR_ID_REUSED when it went to another project,
 * ERR_UNKNOWN_CLUSTER or ERR_NOT_FOUND as for any charge.
 */
MUST_USE enum error_code unattributed_assign(struct ledger *ledger,
                                             const struct command *command,
                                             struct command *ret_charge,
                                             struct error *err);

/* A charge that has been booked leaves the list. Without effect where the list does not have it. */
void unattributed_leave(struct ledger *ledger, const struct command *command);

#endif

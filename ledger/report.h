/*
 * What reports and the canonical form of a month share.
 */
#ifndef LEDGER_REPORT_H
#define LEDGER_REPORT_H

#include <stdint.h>

/** mcs x price / 3 600 000 in 1e-6 of the currency, rounded half up once: of one finest row (SPEC 7.5). */
int64_t report_cost_micro(int64_t mcs, int64_t price_micro);

#endif

/*
 * Refunds of a run by the months they are taken from (SPEC 5.10, 5.11). Pure, any thread.
 *
 * Always: 0 <= refunds of a month <= charge of that month.
 */
#ifndef LEDGER_CORE_REFUNDS_H
#define LEDGER_CORE_REFUNDS_H

#include "ledger/core/booking.h"

/* Refunds as they are and as they are to be, by month, ascending. */
struct refunds {
    int32_t count;
    struct refunds_month {
        int64_t month;
        int64_t charged_mcs;
        int64_t before_mcs;
        int64_t kept_mcs;  /* of before, what the charge still covers */
        int64_t moved_mcs; /* more, from months where it no longer fits */
    } months[BOOKING_MONTHS];
};

/* The refunds of view->run's record made to fit its charge as its facts now stand. */
void refunds_fit(const struct run *run,
                 const struct calendar *calendar,
                 struct refunds *ret_refunds);

/* Take back what is no longer kept, in the run, the funds and the usage rows that @before's refunds
 * made: ERR_OK or ERR_INVALID_FIELD. */
MUST_USE enum error_code refunds_cut(struct booking *booking,
                                     const struct run *before,
                                     const struct refunds *refunds,
                                     struct error *err);

/* Refund what is moved. */
void refunds_move(struct booking *booking, const struct refunds *refunds);

/* What is left of the charge of view->run, mcs. */
int64_t refunds_left(const struct run *run);

/* Refund mcs of view->run, at most refunds_left(), from its latest month first. */
void refunds_make(struct booking *booking, int64_t mcs);

#endif

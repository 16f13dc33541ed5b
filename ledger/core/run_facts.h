/*
 * What a command says about how a run went, and applying it: settle, requeue, correct and charge
 * share it (SPEC 5.6, 5.7, 5.9, 5.11). Pure, any thread.
 */
#ifndef LEDGER_CORE_RUN_FACTS_H
#define LEDGER_CORE_RUN_FACTS_H

#include "ledger/core/view.h"

struct run_facts {
    int64_t started_s; /* 0: as known */
    int64_t ended_s;   /* 0: as known (correct) */
    bool suspended_given;
    int64_t suspended_s;
    enum outcome outcome;
    bool unpriced;  /* what was allocated has no price: the rate known before stands */
    bool allocated; /* given; then priced as: */
    int64_t rate_mcores;
    int64_t mgpus;
};

/*
 * Read and check the facts of a command by itself.
 *
 * @otherwise  the outcome where none is given
 * ERR_OK; ERR_INVALID_FIELD, ERR_TIME_IN_FUTURE, ERR_NO_RATE (what was allocated has no price).
 */
MUST_USE enum error_code run_facts_read(struct view *view,
                                        const struct command_run *given,
                                        enum outcome otherwise,
                                        struct run_facts *ret_facts,
                                        struct error *err);

/*
 * Apply them to view->run: start, end, what was allocated last, suspended total, outcome, and
 * whether the root waives that. The run's state and amounts stay.
 *
 * ERR_OK; ERR_INVALID_FIELD when no start is known, the end lies before it, or it was suspended for
 * longer than it ran. Then the run is void.
 */
MUST_USE enum error_code run_facts_apply(struct view *view,
                                         const struct run_facts *facts,
                                         const struct calendar *calendar,
                                         struct error *err);

/* Whether an ended run went just so. */
bool run_facts_agree(const struct run *run, const struct run_facts *facts);

/* The facts as given, digested: tells the same command again from another one. */
struct digest16 run_facts_digest(const struct run_facts *facts);

/* Totals of a settled run into the answer (api.md: settle). */
void run_totals_answer(const struct run *run, struct plan *plan);

/* Overrun, returned and waived of a settled run, from its charge and what had been frozen for it:
 * charged + returned = frozen + overrun. */
void run_totals_set(struct run *run);

#endif

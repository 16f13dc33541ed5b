/*
 * Limits: which caps of the path, and funds, a request would break (SPEC 4). One place decides it
 * for freezes, renewals, resizes, requeues and promotions alike.
 */
#ifndef LEDGER_CORE_CAPS_H
#define LEDGER_CORE_CAPS_H

#include "ledger/core/view.h"

/* What is asked of the limits, as differences to what counts already. */
struct caps_request {
    int64_t mcs;                    /* more frozen */
    struct counter_delta in_flight; /* jobs, mcores, mgpus, models that more would be in flight */
    int64_t job_mcs;                /* of the whole job: job_core_hours, 0 = not checked */
    int64_t job_mgpus;              /* all tasks' GPUs at once are not meant: of one task */
    int64_t job_s;                  /* its time limit, for job_duration; 0: none */
    const struct resources *resources; /* of one task, for job_gpus; borrowed */
    bool behind_waiting; /* new freezes: limits at which others wait hold this back (SPEC 5.13) */
};

/* What the request exceeds for itself alone is marked `beyond`. Soft caps are listed but do not
 * count. Returns the number of hard ones. */
int32_t caps_check(const struct view *view, const struct caps_request *request, struct plan *plan);

/* In flight of a hold: min(open tasks, max_running) of its resources, plus open tasks with
   resources of their own (SPEC 4.4). The difference between two states of a hold goes to the
   counters. */
void in_flight_difference(const struct hold *before,
                          const struct hold *after,
                          struct counter_delta *delta);

#endif

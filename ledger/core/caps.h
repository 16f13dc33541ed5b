/*
 * Limits: which caps of the path, and funds, a request would break (SPEC 4). One place decides it
 * for freezes, renewals, resizes, requeues and promotions alike. Pure, any thread.
 */
#ifndef LEDGER_CORE_CAPS_H
#define LEDGER_CORE_CAPS_H

#include "ledger/core/view.h"

/* What is asked of the limits, as differences to what counts already. A limit to which the request
 * adds nothing is not looked at: a job without GPUs passes a node that is over its GPU cap. */
struct caps_request {
    int64_t mcs;                    /* more frozen */
    struct counter_delta in_flight; /* jobs, mcores, mgpus, models that more would be in flight */
    bool per_job;        /* job_core_hours, job_gpus and job_duration are checked too, by: */
    int64_t job_mcs;     /* the whole job's amount */
    int64_t job_mgpus;   /* one task's GPUs */
    int64_t job_s;       /* its time limit; 0: none, which breaks any job_duration */
    bool behind_waiting; /* new freezes: limits at which others wait hold this back (SPEC 5.13) */
};

/*
 * List every limit that the request breaks in plan->violations, path order, then funds (kind
 * CAP_FUNDS, node = the payer, limit = used + frozen + available, where available includes the
 * overdraft). What the request exceeds for itself alone is marked `beyond`. Soft caps are listed but
 * do not count. Returns the number of hard ones.
 */
int32_t caps_check(const struct view *view, const struct caps_request *request, struct plan *plan);

/*
 * In flight of a hold: min(open tasks, max_running) of its resources; open tasks with resources of
 * their own count fully as jobs and come off max_running (SPEC 4.4). The difference between two
 * states of a hold is added to delta: jobs, mcores, mgpus, models. The own resources themselves are
 * in_flight_own()'s. NULL: no hold.
 */
void in_flight_difference(const struct hold *before,
                          const struct hold *after,
                          struct counter_delta *delta);

/* The same for mcores, mgpus and models of a run that has resources of its own and whose task is
 * open; nothing for any other run. Its rate is that of its last segment. NULL: no run. */
void in_flight_own(const struct run *before, const struct run *after, struct counter_delta *delta);

#endif

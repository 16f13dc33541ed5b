/*
 * Kueue's Workloads, for real: watches them and the AdmissionChecks that are ours, tells the ledger each step, and writes its verdict
 * into the check. What to do is decided by kueue.h from the object alone; here is only who asks whom, and when again.
 *
 * Workloads are charged in namespaces of mode kueue. In others their checks become Ready at once: their pods are charged one by
 * one, or not at all, as the namespace says. It acts while it leads.
 */
#ifndef COREHOUR_CLIENTS_KUBERNETES_WORKLOADS_H
#define COREHOUR_CLIENTS_KUBERNETES_WORKLOADS_H

#include <stdbool.h>

#include "clients/kubernetes/admission.h"
#include "clients/kubernetes/watch.h"

struct workloads;

/* Adds its watches to the loop, paused, and starts its thread. parts, server: borrowed. Returns false with ret_error filled. */
bool workloads_start(const struct admission *parts,
                     const struct api_server *server,
                     struct watch_loop *loop,
                     struct workloads **ret_workloads,
                     struct agent_error *ret_error);

/* Ends the thread. After the loop has ended; NULL is legal. */
void workloads_stop(struct workloads *workloads);

/* To be called in the loop's thread between turns: the watches run while it leads and the namespaces are known. NULL is legal. */
void workloads_turn(struct workloads *workloads, bool leads);

#endif

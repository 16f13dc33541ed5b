/*
 * Holds of Kueue's Workloads that are open in the ledger while their Workload is gone: it was deleted while no agent looked. Each is
 * released as far as it never started, and the rest settled when it was last known to live.
 */
#ifndef COREHOUR_CLIENTS_KUBERNETES_WORKLOAD_SWEEP_H
#define COREHOUR_CLIENTS_KUBERNETES_WORKLOAD_SWEEP_H

#include <stdbool.h>

#include "clients/client.h"

/* Whether the Workload of this uid exists. */
typedef bool (*workload_exists_fn)(void *context, const char *uid);

/*
 * Looks through the open holds of a cluster.
 *
 * @client  used by this thread alone; @exists is called with @context for each hold of a Workload
 * Returns how many holds were ended; what has no answer is found again by the next sweep.
 */
unsigned workload_sweep(struct corehour_client *client,
                        const char *cluster,
                        workload_exists_fn exists,
                        void *context);

#endif

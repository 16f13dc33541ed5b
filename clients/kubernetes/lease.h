/*
 * Which of several agents leads: the holder of a Lease (coordination.k8s.io/v1), as all controllers of Kubernetes do it. A holder
 * that has not renewed for lease_s, by the clock of whoever looks, is passed over. Two leaders for a moment do no harm: every
 * command to the ledger can be sent twice.
 */
#ifndef COREHOUR_CLIENTS_KUBERNETES_LEASE_H
#define COREHOUR_CLIENTS_KUBERNETES_LEASE_H

#include "clients/kubernetes/controller.h"

struct lease;

/* namespace: where the Lease is; its name is "corehour-kubernetes". Starts a thread that tells the controller. */
bool lease_start(const struct agent_config *config,
                 const struct api_server *server,
                 const char *namespace,
                 struct controller *controller,
                 struct lease **ret_lease);

/* Gives the Lease back, when it is held, and ends the thread. NULL is legal. */
void lease_stop(struct lease *lease);

#endif

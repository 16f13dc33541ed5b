/*
 * The few things that the agent asks and changes in a cluster besides watching: lifting its own gate, deleting a pod that has no core-hours left, and
 * telling in Events. All name the pod by its uid, so that another pod of the same name is never meant.
 */
#ifndef COREHOUR_CLIENTS_KUBERNETES_CLUSTER_WRITES_H
#define COREHOUR_CLIENTS_KUBERNETES_CLUSTER_WRITES_H

#include <stdbool.h>

#include "clients/kubernetes/api_server.h"
#include "clients/kubernetes/pod_facts.h"

/* Takes our scheduling gate off. Whether that is done: also when it, or the pod, is not there any more. */
bool cluster_gate_lift(struct api_caller *caller, const struct pod_facts *facts);

/* Deletes with the pod's own grace. Whether that is done: also when the pod is gone. */
bool cluster_pod_delete(struct api_caller *caller, const struct pod_facts *facts);

/* Makes an Event about the pod; a failure is nobody's loss. type: "Normal" or "Warning". */
void cluster_event(struct api_caller *caller,
                   const struct pod_facts *facts,
                   const char *type,
                   const char *reason,
                   const char *message);

enum cluster_presence { CLUSTER_THERE, CLUSTER_ABSENT, CLUSTER_SILENT };

/* Whether the pod of this name and uid exists. ret_pod: the Pod when it is there (for json_decref), else NULL. */
enum cluster_presence cluster_pod_get(struct api_caller *caller,
                                      const struct pod_facts *facts,
                                      json_t **ret_pod);

/* Whether a node is gone or not ready. False without an answer. */
bool cluster_node_is_lost(struct api_caller *caller, const char *node);

#endif

/*
 * What a placed pod was given, to settle by (SPEC 5.6 `allocated`). Pure, any thread.
 */
#ifndef COREHOUR_CLIENTS_KUBERNETES_POD_ALLOCATED_H
#define COREHOUR_CLIENTS_KUBERNETES_POD_ALLOCATED_H

#include <jansson.h>

#include "clients/kubernetes/pod_cost.h"

/*
 * HAMi's allocation annotation where there is one: each device with its share, its model from the node's register; a device of which
 * all the memory was given counts whole. Init containers and sidecars count in it as in a request. Else the effective request, with
 * the model and the cutting (time slicing) of the node's labels.
 *
 * @node  the Node that the pod is bound to, or NULL when it is gone or not known: models are then as asked for
 * The rest as in pod_cost(). An annotation that cannot be read is passed over: the request then counts.
 */
enum pod_result pod_allocated(const json_t *pod,
                              const json_t *node,
                              const struct resource_table *table,
                              struct pod_request *ret_request,
                              char *ret_problem,
                              size_t bytes);

#endif

/* Which model a pod's devices are, as far as the objects at hand say it. Pure, any thread. */
#ifndef COREHOUR_CLIENTS_KUBERNETES_POD_MODEL_H
#define COREHOUR_CLIENTS_KUBERNETES_POD_MODEL_H

#include <jansson.h>

#include "clients/kubernetes/pod_cost.h"
#include "clients/kubernetes/resource_table.h"

/*
 * The model that a pod asks for: by the resource's name, by annotation, by node selector or required node affinity. Several candidates
 * that are not all one model of the rate card are as unknown as none.
 *
 * @rest      what the '*' of the resource's name stands for
 * ret_model  RESOURCE_MODEL_BYTES; "" when POD_MODEL_UNKNOWN is returned
 */
enum pod_model_source pod_model_asked(const json_t *pod,
                                      const struct resource_table *table,
                                      const struct resource_family *family,
                                      const char *rest,
                                      char *ret_model);

/* The model that a node's label says: POD_MODEL_NODE, or POD_MODEL_UNKNOWN with "". @node may be NULL. */
enum pod_model_source pod_model_of_node(const json_t *node,
                                        const struct resource_table *table,
                                        const struct resource_family *family,
                                        char *ret_model);

#endif

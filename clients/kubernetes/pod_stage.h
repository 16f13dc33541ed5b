/*
 * The effective request of a pod, before anything is known about models: cores, memory, and a list of devices for each kind.
 * Pure, any thread. The rules are told in pod_cost.h.
 */
#ifndef COREHOUR_CLIENTS_KUBERNETES_POD_STAGE_H
#define COREHOUR_CLIENTS_KUBERNETES_POD_STAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#include "clients/kubernetes/device_list.h"
#include "clients/kubernetes/pod_cost.h"
#include "clients/kubernetes/resource_table.h"

/* Devices of one kind. */
struct pod_demand {
    size_t family;    /* its place in the table */
    const char *rest; /* what the '*' of the name stands for, else ""; belongs to the pod */
    struct device_list devices;
};

/* What is taken at one moment of a pod's life. Zeroed is nothing. */
struct pod_stage {
    int64_t cores_milli; /* thousandths of a core */
    int64_t memory_bytes;
    unsigned demand_count;
    struct pod_demand demands[POD_GPUS_MAX];
};

/* Where a problem is told. */
struct pod_problem {
    char *text;
    size_t bytes;
};

/*
 * The largest stage of a pod: its containers and sidecars, or an init container with the sidecars before it; for each resource by
 * itself; then the overhead.
 *
 * @pod       a Pod or PodTemplateSpec; ret_stage points into it
 * ret_stage  untouched on failure
 *
 * POD_OK, or with @problem filled: POD_INVALID, POD_TOO_LARGE, POD_TOO_MANY.
 */
enum pod_result pod_stage_effective(const json_t *pod,
                                    const struct resource_table *table,
                                    struct pod_stage *ret_stage,
                                    const struct pod_problem *problem);

/* stage = for each resource the larger of the two; false when there are more kinds than there is room for. */
bool pod_stage_max(struct pod_stage *stage, const struct pod_stage *other);

/* stage = both at once; false as above, or when a sum leaves int64. */
bool pod_stage_add(struct pod_stage *stage, const struct pod_stage *other);

#endif

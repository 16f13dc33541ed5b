/*
 * What a pod asks for: its accelerators, cores and memory as POST /v1/holds takes them. Pure functions over JSON objects that the
 * API server sent; any thread, no I/O.
 *
 * Effective request, for each resource: the larger of (containers + sidecars) and, for each init container, (it + the sidecars
 * before it); a sidecar is an init container with restartPolicy Always; then the pod's overhead. A container's request of a
 * name is `requests`, else `limits`. Cores are summed in thousandths and rounded up to whole ones once, memory in bytes and
 * rounded up to MiB once; shares of a device are rounded up to whole percents.
 *
 * Devices of one kind are compared largest first: the k-th largest of one stage with the k-th largest of another, so an init
 * container that takes a share of a card which the main container takes whole does not count twice.
 */
#ifndef COREHOUR_CLIENTS_KUBERNETES_POD_COST_H
#define COREHOUR_CLIENTS_KUBERNETES_POD_COST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#include "clients/kubernetes/resource_table.h"

enum {
    POD_GPUS_MAX = 8,            /* entries of a hold (SPEC 1.6) */
    POD_CONTAINERS_MAX = 1024,   /* containers and init containers of a pod */
    POD_GPU_COUNT_MAX = 1000000, /* devices of one entry */
    POD_CORES_MAX = 10000000,    /* whole cores */
};
#define POD_MEMORY_MIB_MAX INT64_C(1099511627776) /* 2^40 MiB */

enum pod_result {
    POD_OK,
    POD_INVALID,   /* not a pod, or a quantity that is none */
    POD_TOO_LARGE, /* an amount beyond what a hold can carry, 2^63 and more included */
    POD_TOO_MANY,  /* more kinds of devices, or containers, than there is room for */
};

/* How the model of a pod's devices became known. */
enum pod_model_source {
    POD_MODEL_UNKNOWN,    /* the rate card's rule for unknown models decides */
    POD_MODEL_NAME,       /* the resource's name says it */
    POD_MODEL_ANNOTATION, /* use-gputype and its like */
    POD_MODEL_SELECTOR,   /* node selector or required node affinity */
    POD_MODEL_ALLOCATION, /* HAMi's allocation with the node's register */
    POD_MODEL_NODE,       /* the node's label */
};

struct pod_gpu {
    char model[RESOURCE_MODEL_BYTES]; /* "" when unknown */
    int64_t count;                    /* 1 to POD_GPU_COUNT_MAX */
    int64_t cores_percent;            /* 1 to 100; 0 when not asked */
    int64_t memory_mib;               /* 1 to POD_MEMORY_MIB_MAX; 0 when not asked */
    enum pod_model_source source;
};

struct pod_request {
    bool accelerated;   /* asks for at least one device: gpu_count > 0 */
    int64_t cores;      /* 0 to POD_CORES_MAX */
    int64_t memory_mib; /* 0 to POD_MEMORY_MIB_MAX */
    unsigned gpu_count; /* entries */
    struct pod_gpu gpus[POD_GPUS_MAX];
};

/*
 * The effective request of a pod, with the model as far as it is known before it is placed: by name, annotation, node selector.
 * A pod without accelerators is POD_OK with accelerated false.
 *
 * @pod         a Pod, or a PodTemplateSpec (only metadata and spec are read); borrowed
 * ret_request  untouched on failure
 * ret_problem  one line that names container and resource; @bytes of room, RESOURCE_PROBLEM_BYTES is enough; "" on success
 */
enum pod_result pod_cost(const json_t *pod,
                         const struct resource_table *table,
                         struct pod_request *ret_request,
                         char *ret_problem,
                         size_t bytes);

/*
 * The `resources` object of POST /v1/holds. A request of nothing at all gives an empty object, which the ledger refuses.
 * Returns a new reference, NULL when memory is out.
 */
json_t *pod_request_json(const struct pod_request *request);

/*
 * Add devices to a request: into the entry that is alike, or a new one.
 *
 * @gpu  model, shares, source; count 1 or more
 * Returns false, with the request as it was, when there are more kinds than POD_GPUS_MAX or the count exceeds POD_GPU_COUNT_MAX.
 */
bool pod_request_add(struct pod_request *request, const struct pod_gpu *gpu);

/* Whether two requests are the same: no need to settle by another. */
bool pod_request_equal(const struct pod_request *a, const struct pod_request *b);

#endif

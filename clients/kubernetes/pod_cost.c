/* What a pod asks for: see pod_cost.h. */
#include "clients/kubernetes/pod_cost.h"

#include <stdio.h>
#include <string.h>

#include "clients/kubernetes/pod_model.h"
#include "clients/kubernetes/pod_stage.h"

enum { MILLI = 1000 };
#define MIB INT64_C(1048576)

static int64_t divide_up(int64_t value, int64_t by)
{
    return value / by + (value % by == 0 ? 0 : 1);
}

static bool is_alike(const struct pod_gpu *a, const struct pod_gpu *b)
{
    return strcmp(a->model, b->model) == 0 && a->cores_percent == b->cores_percent &&
           a->memory_mib == b->memory_mib;
}

bool pod_request_add(struct pod_request *request, const struct pod_gpu *gpu)
{
    unsigned at = 0;
    while (at < request->gpu_count && !is_alike(&request->gpus[at], gpu)) {
        at++;
    }
    if (at == POD_GPUS_MAX) {
        return false;
    }
    const int64_t before = at < request->gpu_count ? request->gpus[at].count : 0;
    if (gpu->count > POD_GPU_COUNT_MAX - before) {
        return false;
    }
    request->gpus[at] = *gpu;
    request->gpus[at].count += before;
    request->gpu_count += before == 0 ? 1 : 0;
    request->accelerated = true;
    return true;
}

/* The devices of one kind, all of one model, into the request. */
static bool demand_take(struct pod_request *request,
                        const struct pod_demand *demand,
                        struct pod_gpu *gpu)
{
    for (unsigned i = 0; i < demand->devices.run_count; i++) {
        gpu->count = demand->devices.runs[i].count;
        gpu->cores_percent = demand->devices.runs[i].cores_percent;
        gpu->memory_mib = demand->devices.runs[i].memory_mib;
        if (!pod_request_add(request, gpu)) {
            return false;
        }
    }
    return true;
}

enum pod_result pod_cost(const json_t *pod,
                         const struct resource_table *table,
                         struct pod_request *ret_request,
                         char *ret_problem,
                         size_t bytes)
{
    const struct pod_problem problem = {ret_problem, bytes};
    struct pod_request request = {0};
    struct pod_stage stage;
    snprintf(ret_problem, bytes, "%s", "");
    const enum pod_result result = pod_stage_effective(pod, table, &stage, &problem);
    if (result != POD_OK) {
        return result;
    }
    request.cores = divide_up(stage.cores_milli, MILLI);
    request.memory_mib = divide_up(stage.memory_bytes, MIB);
    if (request.cores > POD_CORES_MAX || request.memory_mib > POD_MEMORY_MIB_MAX) {
        snprintf(ret_problem, bytes, "pod: more than %d cores or %lld MiB", POD_CORES_MAX,
                 (long long)POD_MEMORY_MIB_MAX);
        return POD_TOO_LARGE;
    }
    for (unsigned i = 0; i < stage.demand_count; i++) {
        const struct pod_demand *demand = &stage.demands[i];
        struct pod_gpu gpu = {0};
        gpu.source = pod_model_asked(pod, table, resource_table_family(table, demand->family),
                                     demand->rest, gpu.model);
        if (!demand_take(&request, demand, &gpu)) {
            snprintf(ret_problem, bytes, "pod: more than %d kinds of devices, or %d of one",
                     POD_GPUS_MAX, POD_GPU_COUNT_MAX);
            return POD_TOO_MANY;
        }
    }
    *ret_request = request;
    return POD_OK;
}

static json_t *gpu_json(const struct pod_gpu *gpu)
{
    json_t *object = json_pack("{s:I}", "count", (json_int_t)gpu->count);
    bool good = object != NULL;
    if (good && gpu->model[0] != '\0') {
        good = json_object_set_new(object, "model", json_string(gpu->model)) == 0;
    }
    if (good && gpu->cores_percent > 0) {
        good = json_object_set_new(object, "cores_percent", json_integer(gpu->cores_percent)) == 0;
    }
    if (good && gpu->memory_mib > 0) {
        good = json_object_set_new(object, "memory_mib", json_integer(gpu->memory_mib)) == 0;
    }
    if (!good) {
        json_decref(object);
        return NULL;
    }
    return object;
}

json_t *pod_request_json(const struct pod_request *request)
{
    json_t *resources = json_object();
    json_t *gpus = json_array();
    bool good = resources != NULL && gpus != NULL;
    if (good && request->cores > 0) {
        good = json_object_set_new(resources, "cores", json_integer(request->cores)) == 0;
    }
    if (good && request->memory_mib > 0) {
        good = json_object_set_new(resources, "memory_mib", json_integer(request->memory_mib)) == 0;
    }
    for (unsigned i = 0; good && i < request->gpu_count; i++) {
        good = json_array_append_new(gpus, gpu_json(&request->gpus[i])) == 0;
    }
    if (good && request->gpu_count > 0) {
        good = json_object_set(resources, "gpus", gpus) == 0;
    }
    json_decref(gpus);
    if (!good) {
        json_decref(resources);
        return NULL;
    }
    return resources;
}

bool pod_request_equal(const struct pod_request *a, const struct pod_request *b)
{
    bool equal =
        a->cores == b->cores && a->memory_mib == b->memory_mib && a->gpu_count == b->gpu_count;
    for (unsigned i = 0; equal && i < a->gpu_count; i++) {
        equal = is_alike(&a->gpus[i], &b->gpus[i]) && a->gpus[i].count == b->gpus[i].count;
    }
    return equal;
}

/* SPDX-License-Identifier: MIT
 *
 * From a request to what it occupies: see request.h. */
#include "clients/slurm/request.h"

#include <stdlib.h>
#include <string.h>

enum {
    COUNT_MAX = 10000000, /* of anything: what the API takes as cores */
    NAME_BYTES_MAX = SLURM_NAME_BYTES - 1,
};

void slurm_request_init(struct slurm_request *request)
{
    *request = (struct slurm_request){
        .tasks = SLURM_UNSET,
        .tasks_per_node = SLURM_UNSET,
        .tasks_per_gpu = SLURM_UNSET,
        .cpus_per_task = SLURM_UNSET,
        .cpus_min = SLURM_UNSET,
        .cpus_per_node_min = SLURM_UNSET,
        .nodes_min = SLURM_UNSET,
        .nodes_max = SLURM_UNSET,
        .sockets_per_node = SLURM_UNSET,
        .memory_per_cpu_mib = SLURM_UNSET,
        .memory_per_node_mib = SLURM_UNSET,
        .minutes = SLURM_UNSET,
    };
}

static int64_t max_of(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t min_of(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Not given, or nonsense, is `otherwise`; what is larger than anything is cut, so that products fit. */
static int64_t given(int64_t value, int64_t otherwise)
{
    if (value <= 0) {
        return otherwise;
    }
    return min_of(value, COUNT_MAX);
}

/* ---- partitions ---- */

static bool list_has(const char *list, const char *name)
{
    const size_t bytes = strlen(name);
    for (const char *at = list; *at != '\0';) {
        const size_t length = strcspn(at, ",");
        if (length == bytes && memcmp(at, name, bytes) == 0) {
            return true;
        }
        at += length + (at[length] == ',');
    }
    return false;
}

static bool is_asked_for(const struct slurm_request *request,
                         const struct slurm_partition *partition)
{
    if (request->partition == NULL || *request->partition == '\0') {
        return partition->is_default;
    }
    return list_has(request->partition, partition->name);
}

const char *slurm_request_partition(const struct slurm_request *request,
                                    const struct slurm_site *site)
{
    if (request->partition != NULL && *request->partition != '\0') {
        return request->partition;
    }
    for (size_t i = 0; i < site->partitions_count; i++) {
        if (site->partitions[i].is_default) {
            return site->partitions[i].name;
        }
    }
    return NULL;
}

/* ---- what a partition makes of it ---- */

/* Minutes of a job without a limit of its own. */
static int64_t minutes_in(const struct slurm_request *request,
                          const struct slurm_partition *partition)
{
    if (request->minutes == SLURM_UNLIMITED) {
        return partition->max_minutes;
    }
    if (request->minutes != SLURM_UNSET) {
        return request->minutes;
    }
    return partition->default_minutes == SLURM_UNSET ? partition->max_minutes
                                                     : partition->default_minutes;
}

static int64_t nodes_in(const struct slurm_request *request,
                        const struct slurm_partition *partition)
{
    int64_t least = given(request->nodes_min, 1);
    const int64_t tasks = given(request->tasks, 0);
    const int64_t tasks_per_node = given(request->tasks_per_node, 0);
    if (tasks > 0 && tasks_per_node > 0) {
        least = max_of(least, (tasks + tasks_per_node - 1) / tasks_per_node);
    }
    int64_t most = given(request->nodes_max, least);
    if (partition->nodes > 0) {
        most = min_of(most, partition->nodes);
    }
    return max_of(least, min_of(most, partition->nodes_max));
}

/* The form that asks for most GPUs counts: forms that stand together must agree. With equal counts the one with models. */
static void gpus_keep(const struct gres_gpus *form, struct gres_gpus *gpus)
{
    const int64_t more = gres_gpus_total(form) - gres_gpus_total(gpus);
    const bool names_models = form->count > 0 && form->items[0].model[0] != '\0';
    if (more > 0 || (more == 0 && names_models)) {
        *gpus = *form;
    }
}

static bool gpus_of(const struct slurm_request *request, int64_t nodes, struct gres_gpus *gpus)
{
    const int64_t sockets = given(request->sockets_per_node, 1);
    const int64_t tasks = given(request->tasks, nodes * given(request->tasks_per_node, 1));
    const struct {
        const char *text;
        int64_t times;
    } forms[] = {
        {request->tres_per_job, 1},
        {request->tres_per_node, nodes},
        {request->tres_per_socket, nodes * sockets},
        {request->tres_per_task, tasks},
    };
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        struct gres_gpus form = {0};
        if (!gres_gpus_add(forms[i].text, false, forms[i].times, &form)) {
            return false;
        }
        gpus_keep(&form, gpus);
    }
    return true;
}

/* "gpu:4": how many for each GPU; 0 without. */
static int64_t per_gpu(const char *text)
{
    struct gres_gpus gpus = {0};
    return text != NULL && gres_gpus_add(text, false, 1, &gpus) ? gres_gpus_total(&gpus) : 0;
}

static int64_t cores_of(const struct slurm_request *request, const struct slurm_shape *shape)
{
    const int64_t gpus = gres_gpus_total(&shape->gpus);
    const int64_t cpus_per_task = given(request->cpus_per_task, 1);
    const int64_t tasks_per_node = given(request->tasks_per_node, 1);
    int64_t tasks = given(request->tasks, max_of(shape->nodes * tasks_per_node, 1));
    if (given(request->tasks, 0) == 0) {
        tasks = max_of(tasks, gpus * given(request->tasks_per_gpu, 0));
    }
    int64_t cores = max_of(given(request->cpus_min, 1), shape->nodes);
    if (!request->is_overcommitted) {
        cores = max_of(cores, tasks * cpus_per_task);
    }
    cores = max_of(cores, shape->nodes * given(request->cpus_per_node_min, 0));
    return max_of(cores, gpus * per_gpu(request->cpus_per_tres));
}

static int64_t default_memory(const struct slurm_shape *shape, int64_t per_cpu, int64_t per_node)
{
    return per_cpu > 0 ? shape->cores * per_cpu : shape->nodes * given(per_node, 0);
}

static int64_t memory_of(const struct slurm_request *request,
                         const struct slurm_site *site,
                         const struct slurm_partition *partition,
                         const struct slurm_shape *shape)
{
    const int64_t gpu_mib = per_gpu(request->memory_per_tres);
    if (gpu_mib > 0) {
        return gres_gpus_total(&shape->gpus) * gpu_mib;
    }
    if (request->memory_per_node_mib == 0) {
        return shape->nodes * partition->node_memory_mib;
    }
    if (request->memory_per_node_mib > 0 || request->memory_per_cpu_mib > 0) {
        return default_memory(shape, request->memory_per_cpu_mib, request->memory_per_node_mib);
    }
    if (partition->memory_per_cpu_mib > 0 || partition->memory_per_node_mib > 0) {
        return default_memory(shape, partition->memory_per_cpu_mib, partition->memory_per_node_mib);
    }
    return default_memory(shape, site->memory_per_cpu_mib, site->memory_per_node_mib);
}

/* Whole nodes come with all their CPUs and GPUs. */
static void take_whole_nodes(const struct slurm_partition *partition, struct slurm_shape *shape)
{
    struct gres_gpus all = partition->node_gpus;
    for (unsigned i = 0; i < all.count; i++) {
        all.items[i].count *= shape->nodes;
    }
    gpus_keep(&all, &shape->gpus);
    shape->cores = max_of(shape->cores, shape->nodes * partition->node_cores);
}

static bool shape_in(const struct slurm_request *request,
                     const struct slurm_site *site,
                     const struct slurm_partition *partition,
                     struct slurm_shape *ret_shape)
{
    struct slurm_shape shape = {.nodes = nodes_in(request, partition)};
    if (!gpus_of(request, shape.nodes, &shape.gpus)) {
        return false;
    }
    shape.cores = cores_of(request, &shape);
    if (request->is_exclusive || partition->is_exclusive) {
        take_whole_nodes(partition, &shape);
    }
    shape.memory_mib = memory_of(request, site, partition, &shape);
    const int64_t minutes = minutes_in(request, partition);
    shape.seconds = minutes == SLURM_UNLIMITED || minutes < 0 ? 0 : minutes * 60;
    *ret_shape = shape;
    return true;
}

/* Of two outcomes the larger in each respect; no limit is the longest. */
static void shape_keep(const struct slurm_shape *other, struct slurm_shape *shape)
{
    shape->nodes = max_of(shape->nodes, other->nodes);
    shape->cores = max_of(shape->cores, other->cores);
    shape->memory_mib = max_of(shape->memory_mib, other->memory_mib);
    gpus_keep(&other->gpus, &shape->gpus);
    shape->seconds =
        shape->seconds == 0 || other->seconds == 0 ? 0 : max_of(shape->seconds, other->seconds);
}

bool slurm_shape_of(const struct slurm_request *request,
                    const struct slurm_site *site,
                    struct slurm_shape *ret_shape,
                    const char **ret_what)
{
    static const struct slurm_partition unknown = {.default_minutes = SLURM_UNSET,
                                                   .max_minutes = SLURM_UNLIMITED,
                                                   .nodes_max = SLURM_UNLIMITED,
                                                   .memory_per_cpu_mib = SLURM_UNSET,
                                                   .memory_per_node_mib = SLURM_UNSET};
    struct slurm_shape shape;
    struct slurm_shape other;
    bool found = false;
    *ret_what = "gres";
    for (size_t i = 0; i < site->partitions_count; i++) {
        if (!is_asked_for(request, &site->partitions[i])) {
            continue;
        }
        if (!shape_in(request, site, &site->partitions[i], found ? &other : &shape)) {
            return false;
        }
        if (found) {
            shape_keep(&other, &shape);
        }
        found = true;
    }
    if (!found && !shape_in(request, site, &unknown, &shape)) {
        return false;
    }
    *ret_what = "array";
    if (!gres_array_count(request->array, &shape.tasks, &shape.max_running)) {
        return false;
    }
    *ret_shape = shape;
    return true;
}

/* ---- JSON ---- */

json_t *slurm_shape_resources(const struct slurm_shape *shape)
{
    json_t *gpus = json_array();
    json_t *resources = json_pack("{s:I, s:o}", "cores", (json_int_t)shape->cores, "gpus", gpus);
    if (resources == NULL) {
        return NULL;
    }
    if (shape->memory_mib > 0) {
        json_object_set_new(resources, "memory_mib", json_integer(shape->memory_mib));
    }
    for (unsigned i = 0; i < shape->gpus.count; i++) {
        const struct gres_gpu *item = &shape->gpus.items[i];
        json_t *gpu = json_pack("{s:I}", "count", (json_int_t)item->count);
        if (gpu != NULL && item->model[0] != '\0') {
            json_object_set_new(gpu, "model", json_string(item->model));
        }
        json_array_append_new(gpus, gpu);
    }
    return resources;
}

/* A name as the API takes it, or NULL. */
static json_t *name_create(const char *text)
{
    if (text == NULL || *text == '\0') {
        return NULL;
    }
    size_t bytes = 0;
    for (; bytes < NAME_BYTES_MAX && text[bytes] != '\0'; bytes++) {
        if ((unsigned char)text[bytes] < 0x20 || text[bytes] == 0x7f) {
            return NULL;
        }
    }
    while (bytes > 0 && text[bytes] != '\0' && ((unsigned char)text[bytes] & 0xc0) == 0x80) {
        bytes--; /* not into the middle of a character */
    }
    return json_stringn(text, bytes);
}

static void set_name(json_t *object, const char *key, const char *text)
{
    json_t *name = name_create(text);
    if (name != NULL) {
        json_object_set_new(object, key, name);
    }
}

json_t *slurm_freeze_body(const struct slurm_request *request,
                          const struct slurm_site *site,
                          const struct slurm_shape *shape,
                          const char *hold,
                          const char *cluster)
{
    json_t *job = json_object();
    json_t *resources = slurm_shape_resources(shape);
    json_t *body = json_pack("{s:s, s:s, s:s*, s:s*, s:o, s:o, s:I}", "id", hold, "cluster",
                             cluster, "account", request->account, "user", request->user, "job",
                             job, "resources", resources, "tasks", (json_int_t)shape->tasks);
    if (body == NULL) {
        return NULL;
    }
    set_name(job, "name", request->name);
    set_name(job, "partition", slurm_request_partition(request, site));
    set_name(job, "qos", request->qos);
    if (shape->max_running > 0) {
        json_object_set_new(body, "max_running", json_integer(shape->max_running));
    }
    if (shape->seconds > 0) {
        json_object_set_new(body, "time_limit_s", json_integer(shape->seconds));
    }
    return body;
}

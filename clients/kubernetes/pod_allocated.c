/* What a placed pod was given: see pod_allocated.h.
 *
 * The annotation reads UUID,TYPE,MEMORY,CORES with ':' behind each device and ';' behind each container. Containers stand in
 * the order of the pod, init containers first; a text with no more parts than the pod has containers leaves the init containers out. */
#include "clients/kubernetes/pod_allocated.h"

#include <stdio.h>
#include <string.h>

#include "clients/kubernetes/pod_model.h"
#include "clients/kubernetes/pod_stage.h"
#include "clients/kubernetes/quantity.h"

enum {
    PERCENT = 100,
    FIELD_BYTES = 129,
    FIELDS_MAX = 12,
    DEVICES_MAX = 1024,   /* of one pod */
    REGISTERED_MAX = 256, /* devices of one node */
    REPLICAS_MAX = 1000,
};

/* One device of the annotation. */
struct given {
    char uuid[FIELD_BYTES];
    char type[FIELD_BYTES];
    int64_t memory_mib;
    int64_t cores;
};

/* A device as its node registered it. */
struct registered {
    char type[FIELD_BYTES];
    int64_t memory_mib; /* 0 when not said */
};

/* Fields of a text, separated by ','. */
struct fields {
    unsigned count;
    char texts[FIELDS_MAX][FIELD_BYTES];
};

struct allocation {
    const json_t *pod;
    const json_t *node;
    const struct resource_table *table;
    struct pod_request *request;
};

static const char *annotation_of(const json_t *object, const char *name)
{
    const json_t *metadata = json_object_get(object, "metadata");
    return name[0] == '\0'
               ? NULL
               : json_string_value(json_object_get(json_object_get(metadata, "annotations"), name));
}

/* The first @bytes of @text; false when a field is too long or there are too many. */
static bool fields_read(const char *text, size_t bytes, struct fields *ret_fields)
{
    struct fields *fields = ret_fields;
    const char *end = text + bytes;
    fields->count = 0;
    while (true) {
        const char *comma = memchr(text, ',', (size_t)(end - text));
        const size_t length = (size_t)((comma == NULL ? end : comma) - text);
        if (fields->count == FIELDS_MAX || length >= FIELD_BYTES) {
            return false;
        }
        memcpy(fields->texts[fields->count], text, length);
        fields->texts[fields->count++][length] = '\0';
        if (comma == NULL) {
            return true;
        }
        text = comma + 1;
    }
}

static bool number_read(const char *text, int64_t most, int64_t *ret_value)
{
    return text[0] != '\0' && text[strspn(text, "0123456789")] == '\0' &&
           quantity_read(text, 1, 1, most, ret_value) == QUANTITY_OK;
}

static bool given_read(const char *text, size_t bytes, struct given *ret_given)
{
    struct fields fields;
    if (!fields_read(text, bytes, &fields) || fields.count < 4 ||
        !number_read(fields.texts[2], POD_MEMORY_MIB_MAX, &ret_given->memory_mib) ||
        !number_read(fields.texts[3], INT32_MAX, &ret_given->cores)) {
        return false;
    }
    memcpy(ret_given->uuid, fields.texts[0], FIELD_BYTES);
    memcpy(ret_given->type, fields.texts[1], FIELD_BYTES);
    /* A MIG instance is "UUID[place]". */
    ret_given->uuid[strcspn(ret_given->uuid, "[")] = '\0';
    return ret_given->uuid[0] != '\0';
}

/* ---- the node's register */

static void registered_take(const char *type, int64_t memory_mib, struct registered *ret_device)
{
    snprintf(ret_device->type, sizeof ret_device->type, "%s", type);
    ret_device->memory_mib = memory_mib;
}

static bool register_json_find(const char *text, const char *uuid, struct registered *ret_device)
{
    json_t *devices = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    bool found = false;
    for (size_t i = 0; !found && i < json_array_size(devices) && i < REGISTERED_MAX; i++) {
        const json_t *device = json_array_get(devices, i);
        const char *id = json_string_value(json_object_get(device, "id"));
        const char *type = json_string_value(json_object_get(device, "type"));
        const json_int_t memory_mib = json_integer_value(json_object_get(device, "devmem"));
        found = id != NULL && type != NULL && strcmp(id, uuid) == 0;
        if (found) {
            registered_take(type, memory_mib > 0 ? memory_mib : 0, ret_device);
        }
    }
    json_decref(devices);
    return found;
}

/* ID,COUNT,MEMORY,CORES,TYPE,NUMA,HEALTH[,INDEX,MODE]; Volcano: ID,COUNT,MEMORY,TYPE,HEALTH. */
static bool register_text_find(const char *text, const char *uuid, struct registered *ret_device)
{
    static const unsigned volcano_fields = 5;
    for (size_t i = 0; *text != '\0' && i < REGISTERED_MAX; i++) {
        const size_t bytes = strcspn(text, ":");
        struct fields fields;
        int64_t memory_mib;
        if (fields_read(text, bytes, &fields) && fields.count >= volcano_fields &&
            strcmp(fields.texts[0], uuid) == 0 &&
            number_read(fields.texts[2], POD_MEMORY_MIB_MAX, &memory_mib)) {
            registered_take(fields.texts[fields.count == volcano_fields ? 3 : 4], memory_mib,
                            ret_device);
            return true;
        }
        text += bytes + (text[bytes] == ':' ? 1 : 0);
    }
    return false;
}

static bool register_find(const json_t *node,
                          const struct resource_family *family,
                          const char *uuid,
                          struct registered *ret_device)
{
    const char *text = annotation_of(node, family->register_annotation);
    if (text == NULL) {
        return false;
    }
    return text[0] == '[' ? register_json_find(text, uuid, ret_device)
                          : register_text_find(text, uuid, ret_device);
}

/* ---- devices of the annotation */

/* The best that is known: register, HAMi's own word, label, request. */
static void given_model(const struct allocation *allocation,
                        const struct pod_demand *demand,
                        const struct given *given,
                        const struct registered *registered,
                        struct pod_gpu *gpu)
{
    const struct resource_table *table = allocation->table;
    const struct resource_family *family = resource_table_family(table, demand->family);
    const bool says_model = strpbrk(given->type, "- 0123456789") != NULL;
    const enum pod_model_source asked =
        pod_model_asked(allocation->pod, table, family, demand->rest, gpu->model);
    gpu->source = asked;
    if (asked == POD_MODEL_NAME) {
        return;
    }
    char model[RESOURCE_MODEL_BYTES] = "";
    enum pod_model_source source = POD_MODEL_ALLOCATION;
    if (registered != NULL || says_model) {
        resource_table_model(table, registered != NULL ? registered->type : given->type, model);
    }
    if (model[0] == '\0') {
        source = pod_model_of_node(allocation->node, table, family, model);
    }
    if (model[0] != '\0') {
        memcpy(gpu->model, model, sizeof model);
        gpu->source = source;
    }
}

/* A device whose memory was given in full, or nothing less said, is whole. */
static struct device_run given_share(const struct resource_family *family,
                                     const struct given *given,
                                     const struct registered *registered)
{
    const struct resource_unit *unit = &family->allocated_cores;
    const int64_t cores = (given->cores * unit->multiplier + unit->divisor - 1) / unit->divisor;
    const bool whole = registered != NULL && registered->memory_mib > 0 &&
                       given->memory_mib >= registered->memory_mib;
    return (struct device_run){
        .count = 1,
        .cores_percent = whole || cores >= PERCENT ? PERCENT : cores,
        .memory_mib = whole ? 0 : given->memory_mib,
    };
}

/* Devices of one model in one container after the other. */
struct collected {
    unsigned count;
    struct {
        struct pod_gpu gpu; /* its model */
        struct device_list devices;
    } models[POD_GPUS_MAX];
};

static bool collected_add(struct collected *collected,
                          const struct pod_gpu *gpu,
                          struct device_run run)
{
    unsigned at = 0;
    while (at < collected->count && strcmp(collected->models[at].gpu.model, gpu->model) != 0) {
        at++;
    }
    if (at == POD_GPUS_MAX) {
        return false;
    }
    if (at == collected->count) {
        collected->count++;
        collected->models[at].gpu = *gpu;
        collected->models[at].devices = (struct device_list){0};
    }
    return device_list_add(&collected->models[at].devices, run);
}

/* sum = sum + part, or the larger of the two. */
static bool collected_join(struct collected *sum, const struct collected *part, bool larger)
{
    for (unsigned i = 0; i < part->count; i++) {
        unsigned at = 0;
        while (at < sum->count &&
               strcmp(sum->models[at].gpu.model, part->models[i].gpu.model) != 0) {
            at++;
        }
        if (at == POD_GPUS_MAX) {
            return false;
        }
        if (at == sum->count) {
            sum->models[sum->count++] = part->models[i];
            continue;
        }
        const bool fits =
            larger ? device_list_max(&sum->models[at].devices, &part->models[i].devices)
                   : device_list_add_all(&sum->models[at].devices, &part->models[i].devices);
        if (!fits) {
            return false;
        }
    }
    return true;
}

/* One container's devices: the @bytes up to its ';'. */
static bool container_read(const struct allocation *allocation,
                           const struct pod_demand *demand,
                           const char *text,
                           size_t bytes,
                           struct collected *ret_collected)
{
    const struct resource_family *family = resource_table_family(allocation->table, demand->family);
    const char *end = text + bytes;
    ret_collected->count = 0;
    for (size_t i = 0; text < end; i++) {
        const char *colon = memchr(text, ':', (size_t)(end - text));
        const size_t length = (size_t)((colon == NULL ? end : colon) - text);
        struct given given;
        struct registered registered;
        struct pod_gpu gpu = {0};
        if (length == 0) {
            text++;
            continue;
        }
        if (i == DEVICES_MAX || !given_read(text, length, &given)) {
            return false;
        }
        const bool known = register_find(allocation->node, family, given.uuid, &registered);
        given_model(allocation, demand, &given, known ? &registered : NULL, &gpu);
        if (!collected_add(ret_collected, &gpu,
                           given_share(family, &given, known ? &registered : NULL))) {
            return false;
        }
        text += length;
    }
    return true;
}

static size_t sections_of(const char *text)
{
    size_t count = 0;
    while (*text != '\0') {
        const size_t bytes = strcspn(text, ";");
        text += bytes + (text[bytes] == ';' ? 1 : 0);
        count++;
    }
    return count;
}

static bool is_sidecar(const json_t *container)
{
    const char *policy = json_string_value(json_object_get(container, "restartPolicy"));
    return policy != NULL && strcmp(policy, "Always") == 0;
}

/* All containers of the annotation, as stages of the pod's life: see pod_cost.h. */
static bool containers_read(const struct allocation *allocation,
                            const struct pod_demand *demand,
                            const char *text,
                            struct collected *ret_peak)
{
    const json_t *spec = json_object_get(allocation->pod, "spec");
    const json_t *inits = json_object_get(spec, "initContainers");
    const size_t containers = json_array_size(json_object_get(spec, "containers"));
    const size_t sections = sections_of(text);
    const size_t init_count = sections > containers ? json_array_size(inits) : 0;
    struct collected stays = {0};
    struct collected *peak = ret_peak;
    peak->count = 0;
    for (size_t i = 0; *text != '\0'; i++) {
        const size_t bytes = strcspn(text, ";");
        struct collected now;
        if (i == POD_CONTAINERS_MAX || !container_read(allocation, demand, text, bytes, &now)) {
            return false;
        }
        const bool stays_up = i >= init_count || is_sidecar(json_array_get(inits, i));
        if (!collected_join(&now, &stays, false) ||
            (i < init_count && !collected_join(peak, &now, true))) {
            return false;
        }
        stays = stays_up ? now : stays;
        text += bytes + (text[bytes] == ';' ? 1 : 0);
    }
    return collected_join(peak, &stays, true);
}

static bool collected_take(struct pod_request *request, const struct collected *collected)
{
    for (unsigned i = 0; i < collected->count; i++) {
        struct pod_gpu gpu = collected->models[i].gpu;
        const struct device_list *devices = &collected->models[i].devices;
        for (unsigned k = 0; k < devices->run_count; k++) {
            gpu.count = devices->runs[k].count;
            gpu.cores_percent = devices->runs[k].cores_percent;
            gpu.memory_mib = devices->runs[k].memory_mib;
            if (!pod_request_add(request, &gpu)) {
                return false;
            }
        }
    }
    return true;
}

/* ---- without an annotation */

/* Units that the node cuts each device into; 1 for none. */
static int64_t replicas_of(const json_t *node, const struct resource_family *family)
{
    const json_t *labels = json_object_get(json_object_get(node, "metadata"), "labels");
    const char *text = family->replicas_label[0] == '\0'
                           ? NULL
                           : json_string_value(json_object_get(labels, family->replicas_label));
    int64_t replicas;
    return text != NULL && number_read(text, REPLICAS_MAX, &replicas) && replicas > 1 ? replicas
                                                                                      : 1;
}

static bool demand_take(const struct allocation *allocation, const struct pod_demand *demand)
{
    const struct resource_family *family = resource_table_family(allocation->table, demand->family);
    const int64_t replicas = replicas_of(allocation->node, family);
    struct pod_gpu gpu = {0};
    gpu.source =
        pod_model_asked(allocation->pod, allocation->table, family, demand->rest, gpu.model);
    char model[RESOURCE_MODEL_BYTES];
    if (gpu.source != POD_MODEL_NAME &&
        pod_model_of_node(allocation->node, allocation->table, family, model) == POD_MODEL_NODE) {
        memcpy(gpu.model, model, sizeof model);
        gpu.source = POD_MODEL_NODE;
    }
    for (unsigned i = 0; i < demand->devices.run_count; i++) {
        const struct device_run *run = &demand->devices.runs[i];
        const bool whole = run->cores_percent == 0 && run->memory_mib == 0;
        gpu.count = run->count;
        gpu.memory_mib = run->memory_mib;
        gpu.cores_percent =
            whole && replicas > 1 ? (PERCENT + replicas - 1) / replicas : run->cores_percent;
        if (!pod_request_add(allocation->request, &gpu)) {
            return false;
        }
    }
    return true;
}

/* Whether another kind of the same pod shares this one's annotation, and came first. */
static bool is_repeated(const struct resource_table *table,
                        const struct pod_stage *stage,
                        unsigned at)
{
    const struct resource_family *family = resource_table_family(table, stage->demands[at].family);
    bool repeated = false;
    for (unsigned i = 0; i < at; i++) {
        const struct resource_family *before =
            resource_table_family(table, stage->demands[i].family);
        repeated =
            repeated || strcmp(before->allocated_annotation, family->allocated_annotation) == 0;
    }
    return repeated;
}

static bool stage_take(const struct allocation *allocation, const struct pod_stage *stage)
{
    for (unsigned i = 0; i < stage->demand_count; i++) {
        const struct pod_demand *demand = &stage->demands[i];
        const struct resource_family *family =
            resource_table_family(allocation->table, demand->family);
        const char *text = annotation_of(allocation->pod, family->allocated_annotation);
        struct collected collected;
        if (text != NULL && text[0] != '\0' && is_repeated(allocation->table, stage, i)) {
            continue;
        }
        const bool given = text != NULL && containers_read(allocation, demand, text, &collected) &&
                           collected.count > 0;
        if (given ? !collected_take(allocation->request, &collected)
                  : !demand_take(allocation, demand)) {
            return false;
        }
    }
    return true;
}

enum pod_result pod_allocated(const json_t *pod,
                              const json_t *node,
                              const struct resource_table *table,
                              struct pod_request *ret_request,
                              char *ret_problem,
                              size_t bytes)
{
    const struct pod_problem problem = {ret_problem, bytes};
    struct pod_request asked;
    struct pod_stage stage;
    enum pod_result result = pod_cost(pod, table, &asked, ret_problem, bytes);
    if (result == POD_OK) {
        result = pod_stage_effective(pod, table, &stage, &problem);
    }
    if (result != POD_OK) {
        return result;
    }
    struct pod_request request = {.cores = asked.cores, .memory_mib = asked.memory_mib};
    const struct allocation allocation = {pod, node, table, &request};
    /* More kinds than a hold has room for: what was asked for had room. */
    *ret_request = stage_take(&allocation, &stage) ? request : asked;
    return POD_OK;
}

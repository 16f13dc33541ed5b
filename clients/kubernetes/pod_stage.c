/* The effective request: see pod_stage.h. A container's resources are read name by name into `struct asked`, whose texts become
 * devices once all names are known: a share may stand before its count. */
#include "clients/kubernetes/pod_stage.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "clients/kubernetes/quantity.h"

enum { MILLI = 1000, PERCENT = 100, TEXT_BYTES = 80 };

/* What one container asks for of one kind of device; NULL where it does not. */
struct asked {
    size_t family;
    const char *rest;
    const char *texts[RESOURCE_PARTS];
    char numbers[RESOURCE_PARTS][24]; /* of quantities that are JSON integers */
};

struct asked_list {
    unsigned count;
    struct asked items[POD_GPUS_MAX];
};

/* One resource list being read. */
struct reading {
    const struct resource_table *table;
    const char *where; /* "container" */
    const char *name;
    const struct pod_problem *problem;
    struct pod_stage *stage;
    struct asked_list asked;
};

__attribute__((format(printf, 3, 4))) static enum pod_result refuse(const struct reading *reading,
                                                                    enum pod_result result,
                                                                    const char *format,
                                                                    ...)
{
    char what[RESOURCE_PROBLEM_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    snprintf(reading->problem->text, reading->problem->bytes, "%s%s%.63s: %.380s", reading->where,
             reading->name[0] == '\0' ? "" : " ", reading->name, what);
    return result;
}

static enum pod_result told(const struct reading *reading,
                            enum quantity_result result,
                            const char *name,
                            const char *text,
                            int64_t most)
{
    switch (result) {
    case QUANTITY_OK:
        return POD_OK;
    case QUANTITY_INVALID:
        return refuse(reading, POD_INVALID, "%.128s: \"%.*s\" is not a quantity", name, TEXT_BYTES,
                      text);
    case QUANTITY_NEGATIVE:
        return refuse(reading, POD_INVALID, "%.128s: \"%.*s\" is negative", name, TEXT_BYTES, text);
    case QUANTITY_TOO_LARGE:
        return refuse(reading, POD_TOO_LARGE,
                      "%.128s: \"%.*s\" is more than a hold can carry (%lld)", name, TEXT_BYTES,
                      text, (long long)most);
    }
    return POD_INVALID;
}

/* ---- devices of one container */

static bool has_suffix(const char *text)
{
    return text[strspn(text, "+-0123456789.")] != '\0';
}

/* One part of what is asked, in its unit, divided once more by @among; 0 when it is not asked. */
static enum pod_result part_read(const struct reading *reading,
                                 const struct asked *asked,
                                 enum resource_part part,
                                 int64_t among,
                                 int64_t *ret_value)
{
    static const int64_t most[RESOURCE_PARTS] = {
        [RESOURCE_COUNT] = POD_GPU_COUNT_MAX,
        [RESOURCE_MEMORY] = POD_MEMORY_MIB_MAX,
        [RESOURCE_MEMORY_PERCENT] = INT64_MAX,
        [RESOURCE_CORES] = INT64_MAX,
    };
    const struct resource_name *name =
        &resource_table_family(reading->table, asked->family)->parts[part];
    struct resource_unit unit = name->unit;
    const char *text = asked->texts[part];
    if (text == NULL) {
        *ret_value = 0;
        return POD_OK;
    }
    if (name->or_bytes && has_suffix(text)) {
        unit = (struct resource_unit){1, INT64_C(1048576)};
    }
    return told(reading,
                quantity_read(text, unit.multiplier, unit.divisor * among, most[part], ret_value),
                name->name, text, most[part]);
}

/* The share of each device, from the parts that are read. */
static struct device_run run_of(const struct resource_family *family,
                                int64_t count,
                                int64_t memory_mib,
                                int64_t memory_percent,
                                int64_t cores)
{
    const bool whole = (family->shares == RESOURCE_SHARES_SINGLE && count > 1) ||
                       (family->without_cores_whole && cores == 0) ||
                       (family->without_memory_whole && memory_mib == 0 && memory_percent == 0);
    if (memory_mib == 0 && memory_percent > cores) {
        cores = memory_percent; /* the larger share counts (SPEC 7.3) */
    }
    return (struct device_run){
        .count = count,
        .cores_percent = whole             ? 0
                         : cores < PERCENT ? cores
                                           : PERCENT,
        .memory_mib = whole ? 0 : memory_mib,
    };
}

static struct pod_demand *demand_find(struct pod_stage *stage, size_t family, const char *rest)
{
    for (unsigned i = 0; i < stage->demand_count; i++) {
        struct pod_demand *demand = &stage->demands[i];
        if (demand->family == family && strcmp(demand->rest, rest) == 0) {
            return demand;
        }
    }
    if (stage->demand_count == POD_GPUS_MAX) {
        return NULL;
    }
    struct pod_demand *demand = &stage->demands[stage->demand_count++];
    *demand = (struct pod_demand){.family = family, .rest = rest};
    return demand;
}

/* What is asked of one kind of device -> its devices in the stage. */
static enum pod_result asked_finish(struct reading *reading, const struct asked *asked)
{
    const struct resource_family *family = resource_table_family(reading->table, asked->family);
    int64_t count = 0;
    int64_t memory_mib = 0;
    int64_t memory_percent = 0;
    int64_t cores = 0;
    enum pod_result result = part_read(reading, asked, RESOURCE_COUNT, 1, &count);
    const int64_t among = family->shares == RESOURCE_SHARES_ALL && count > 1 ? count : 1;
    if (result == POD_OK) {
        result = part_read(reading, asked, RESOURCE_MEMORY, among, &memory_mib);
    }
    if (result == POD_OK) {
        result = part_read(reading, asked, RESOURCE_MEMORY_PERCENT, 1, &memory_percent);
    }
    if (result == POD_OK) {
        result = part_read(reading, asked, RESOURCE_CORES, among, &cores);
    }
    if (result != POD_OK) {
        return result;
    }
    if (asked->texts[RESOURCE_COUNT] == NULL && memory_mib + memory_percent + cores > 0) {
        count = 1;
    }
    if (count == 0) {
        return POD_OK;
    }
    struct pod_demand *demand = demand_find(reading->stage, asked->family, asked->rest);
    const struct device_run run = run_of(family, count, memory_mib, memory_percent, cores);
    if (demand == NULL || !device_list_add(&demand->devices, run)) {
        return refuse(reading, POD_TOO_MANY, "more than %d kinds of devices in one pod",
                      POD_GPUS_MAX);
    }
    return POD_OK;
}

/* ---- resource lists */

/* A quantity's text: a JSON string, or an integer put into @number. */
static const char *quantity_text(const json_t *value, char *number, size_t bytes)
{
    if (json_is_integer(value)) {
        snprintf(number, bytes, "%lld", (long long)json_integer_value(value));
        return number;
    }
    return json_string_value(value);
}

static enum pod_result core_read(struct reading *reading,
                                 const char *name,
                                 const json_t *value,
                                 int64_t multiplier,
                                 int64_t *ret_value)
{
    char number[24];
    const char *text = quantity_text(value, number, sizeof number);
    if (text == NULL) {
        return refuse(reading, POD_INVALID, "%.128s is not a quantity", name);
    }
    return told(reading, quantity_read(text, multiplier, 1, INT64_MAX, ret_value), name, text,
                INT64_MAX);
}

static struct asked *asked_find(struct asked_list *list, size_t family, const char *rest)
{
    for (unsigned i = 0; i < list->count; i++) {
        if (list->items[i].family == family && strcmp(list->items[i].rest, rest) == 0) {
            return &list->items[i];
        }
    }
    if (list->count == POD_GPUS_MAX) {
        return NULL;
    }
    list->items[list->count] = (struct asked){.family = family, .rest = rest};
    return &list->items[list->count++];
}

static enum pod_result amount_read(struct reading *reading, const char *name, const json_t *value)
{
    size_t family;
    enum resource_part part;
    const char *rest;
    if (strcmp(name, "cpu") == 0) {
        return core_read(reading, name, value, MILLI, &reading->stage->cores_milli);
    }
    if (strcmp(name, "memory") == 0) {
        return core_read(reading, name, value, 1, &reading->stage->memory_bytes);
    }
    if (!resource_table_find(reading->table, name, &family, &part, &rest)) {
        return POD_OK;
    }
    struct asked *asked = asked_find(&reading->asked, family, rest);
    if (asked == NULL) {
        return refuse(reading, POD_TOO_MANY, "more than %d kinds of devices", POD_GPUS_MAX);
    }
    asked->texts[part] = quantity_text(value, asked->numbers[part], sizeof asked->numbers[part]);
    return asked->texts[part] != NULL
               ? POD_OK
               : refuse(reading, POD_INVALID, "%.128s is not a quantity", name);
}

/* All amounts of one list, those aside that @before has. */
static enum pod_result list_read(struct reading *reading, const json_t *list, const json_t *before)
{
    /* Iterators change nothing; jansson has none for const objects. */
    json_t *amounts = (json_t *)(uintptr_t)list;
    for (void *at = json_object_iter(amounts); at != NULL;
         at = json_object_iter_next(amounts, at)) {
        const char *name = json_object_iter_key(at);
        const json_t *value = json_object_iter_value(at);
        if (json_is_null(value) || json_object_get(before, name) != NULL) {
            continue;
        }
        const enum pod_result result = amount_read(reading, name, value);
        if (result != POD_OK) {
            return result;
        }
    }
    return POD_OK;
}

/* Requests, and limits where there is no request of that name -> @ret_stage. */
static enum pod_result resources_read(struct reading *reading,
                                      const json_t *requests,
                                      const json_t *limits,
                                      struct pod_stage *ret_stage)
{
    *ret_stage = (struct pod_stage){0};
    reading->stage = ret_stage;
    reading->asked.count = 0;
    enum pod_result result = list_read(reading, requests, NULL);
    if (result == POD_OK) {
        result = list_read(reading, limits, requests);
    }
    for (unsigned i = 0; result == POD_OK && i < reading->asked.count; i++) {
        result = asked_finish(reading, &reading->asked.items[i]);
    }
    reading->stage = NULL;
    return result;
}

static enum pod_result container_read(struct reading *reading,
                                      const json_t *container,
                                      const char *where,
                                      struct pod_stage *ret_stage)
{
    const char *name = json_string_value(json_object_get(container, "name"));
    const json_t *resources = json_object_get(container, "resources");
    reading->where = where;
    reading->name = name == NULL ? "" : name;
    if (!json_is_object(container)) {
        return refuse(reading, POD_INVALID, "not an object");
    }
    return resources_read(reading, json_object_get(resources, "requests"),
                          json_object_get(resources, "limits"), ret_stage);
}

/* ---- stages */

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

bool pod_stage_max(struct pod_stage *stage, const struct pod_stage *other)
{
    stage->cores_milli = larger(stage->cores_milli, other->cores_milli);
    stage->memory_bytes = larger(stage->memory_bytes, other->memory_bytes);
    for (unsigned i = 0; i < other->demand_count; i++) {
        const struct pod_demand *theirs = &other->demands[i];
        struct pod_demand *mine = demand_find(stage, theirs->family, theirs->rest);
        if (mine == NULL || !device_list_max(&mine->devices, &theirs->devices)) {
            return false;
        }
    }
    return true;
}

bool pod_stage_add(struct pod_stage *stage, const struct pod_stage *other)
{
    if (__builtin_add_overflow(stage->cores_milli, other->cores_milli, &stage->cores_milli) ||
        __builtin_add_overflow(stage->memory_bytes, other->memory_bytes, &stage->memory_bytes)) {
        return false;
    }
    for (unsigned i = 0; i < other->demand_count; i++) {
        const struct pod_demand *theirs = &other->demands[i];
        struct pod_demand *mine = demand_find(stage, theirs->family, theirs->rest);
        if (mine == NULL || !device_list_add_all(&mine->devices, &theirs->devices)) {
            return false;
        }
    }
    return true;
}

static enum pod_result beyond(struct reading *reading)
{
    reading->where = "pod";
    reading->name = "";
    return refuse(reading, POD_TOO_MANY,
                  "its containers together ask for more than a hold can carry");
}

static bool is_sidecar(const json_t *container)
{
    const char *policy = json_string_value(json_object_get(container, "restartPolicy"));
    return policy != NULL && strcmp(policy, "Always") == 0;
}

/* Init containers in their order: the peak while they run, and the sidecars that stay. */
static enum pod_result inits_read(struct reading *reading,
                                  const json_t *inits,
                                  struct pod_stage *peak,
                                  struct pod_stage *sidecars)
{
    for (size_t i = 0; i < json_array_size(inits); i++) {
        const json_t *container = json_array_get(inits, i);
        struct pod_stage now;
        const enum pod_result result = container_read(reading, container, "init container", &now);
        if (result != POD_OK) {
            return result;
        }
        if (!pod_stage_add(&now, sidecars) || !pod_stage_max(peak, &now)) {
            return beyond(reading);
        }
        if (is_sidecar(container)) {
            *sidecars = now;
        }
    }
    return POD_OK;
}

static enum pod_result containers_read(struct reading *reading,
                                       const json_t *containers,
                                       struct pod_stage *sum)
{
    for (size_t i = 0; i < json_array_size(containers); i++) {
        struct pod_stage one;
        const enum pod_result result =
            container_read(reading, json_array_get(containers, i), "container", &one);
        if (result != POD_OK) {
            return result;
        }
        if (!pod_stage_add(sum, &one)) {
            return beyond(reading);
        }
    }
    return POD_OK;
}

/* The cores and memory that the pod as a whole asks for stand in place of its containers'. */
static enum pod_result pod_level_read(struct reading *reading,
                                      const json_t *spec,
                                      struct pod_stage *stage)
{
    const json_t *resources = json_object_get(spec, "resources");
    const json_t *requests = json_object_get(resources, "requests");
    const json_t *limits = json_object_get(resources, "limits");
    struct pod_stage whole;
    reading->where = "pod";
    reading->name = "";
    const enum pod_result result = resources_read(reading, requests, limits, &whole);
    if (result != POD_OK) {
        return result;
    }
    if (json_object_get(requests, "cpu") != NULL || json_object_get(limits, "cpu") != NULL) {
        stage->cores_milli = whole.cores_milli;
    }
    if (json_object_get(requests, "memory") != NULL || json_object_get(limits, "memory") != NULL) {
        stage->memory_bytes = whole.memory_bytes;
    }
    return POD_OK;
}

static enum pod_result overhead_add(struct reading *reading,
                                    const json_t *spec,
                                    struct pod_stage *stage)
{
    struct pod_stage overhead;
    reading->where = "overhead";
    reading->name = "";
    const enum pod_result result =
        resources_read(reading, json_object_get(spec, "overhead"), NULL, &overhead);
    if (result != POD_OK) {
        return result;
    }
    return pod_stage_add(stage, &overhead) ? POD_OK : beyond(reading);
}

enum pod_result pod_stage_effective(const json_t *pod,
                                    const struct resource_table *table,
                                    struct pod_stage *ret_stage,
                                    const struct pod_problem *problem)
{
    const json_t *spec = json_object_get(pod, "spec");
    const json_t *inits = json_object_get(spec, "initContainers");
    const json_t *containers = json_object_get(spec, "containers");
    struct reading reading = {.table = table, .where = "pod", .name = "", .problem = problem};
    struct pod_stage peak = {0};
    struct pod_stage stays = {0};
    if (!json_is_object(spec)) {
        return refuse(&reading, POD_INVALID, "no spec");
    }
    if (json_array_size(inits) + json_array_size(containers) > POD_CONTAINERS_MAX) {
        return refuse(&reading, POD_TOO_MANY, "more than %d containers", POD_CONTAINERS_MAX);
    }
    enum pod_result result = inits_read(&reading, inits, &peak, &stays);
    if (result == POD_OK) {
        result = containers_read(&reading, containers, &stays);
    }
    if (result == POD_OK && !pod_stage_max(&peak, &stays)) {
        result = beyond(&reading);
    }
    if (result == POD_OK) {
        result = pod_level_read(&reading, spec, &peak);
    }
    if (result == POD_OK) {
        result = overhead_add(&reading, spec, &peak);
    }
    if (result == POD_OK) {
        *ret_stage = peak;
    }
    return result;
}

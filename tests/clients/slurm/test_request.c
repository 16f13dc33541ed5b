/* Every form in which Slurm takes resources, from request_cases.json: the Lua variant is tried with the same file. */
#include <string.h>

#include <criterion/criterion.h>
#include <jansson.h>

#include "clients/slurm/request.h"

enum { PARTITIONS_MAX = 8 };

static json_t *cases_load(void)
{
    json_error_t error;
    json_t *file = json_load_file(SLURM_CASES, JSON_REJECT_DUPLICATES, &error);
    cr_assert_not_null(file, "%s:%d: %s", SLURM_CASES, error.line, error.text);
    return file;
}

static int64_t number_of(const json_t *object, const char *key, int64_t otherwise)
{
    const json_t *value = json_object_get(object, key);
    if (value == NULL || json_is_null(value)) {
        return otherwise;
    }
    return json_is_string(value) ? SLURM_UNLIMITED : (int64_t)json_integer_value(value);
}

static struct gres_gpus gpus_of(const json_t *list)
{
    struct gres_gpus gpus = {0};
    size_t i;
    json_t *item;
    json_array_foreach(list, i, item)
    {
        snprintf(gpus.items[i].model, GRES_MODEL_BYTES, "%s",
                 json_string_value(json_array_get(item, 0)));
        gpus.items[i].count = json_integer_value(json_array_get(item, 1));
        gpus.count++;
    }
    return gpus;
}

static struct slurm_partition partitions[PARTITIONS_MAX];

static struct slurm_site site_of(const json_t *json)
{
    struct slurm_site site = {.partitions = partitions,
                              .memory_per_cpu_mib = number_of(json, "memory_per_cpu_mib", -1),
                              .memory_per_node_mib = SLURM_UNSET};
    size_t i;
    json_t *p;
    json_array_foreach(json_object_get(json, "partitions"), i, p)
    {
        partitions[i] = (struct slurm_partition){
            .is_default = json_is_true(json_object_get(p, "is_default")),
            .is_exclusive = json_is_true(json_object_get(p, "is_exclusive")),
            .default_minutes = number_of(p, "default_minutes", SLURM_UNSET),
            .max_minutes = number_of(p, "max_minutes", SLURM_UNLIMITED),
            .nodes = number_of(p, "nodes", 0),
            .nodes_max = number_of(p, "nodes_max", SLURM_UNLIMITED),
            .node_cores = number_of(p, "node_cores", 0),
            .node_memory_mib = number_of(p, "node_memory_mib", 0),
            .memory_per_cpu_mib = number_of(p, "memory_per_cpu_mib", SLURM_UNSET),
            .memory_per_node_mib = number_of(p, "memory_per_node_mib", SLURM_UNSET),
            .node_gpus = gpus_of(json_object_get(p, "node_gpus")),
        };
        snprintf(partitions[i].name, SLURM_NAME_BYTES, "%s",
                 json_string_value(json_object_get(p, "name")));
        site.partitions_count++;
    }
    return site;
}

#define TEXT(member)   request.member = json_string_value(json_object_get(json, #member))
#define NUMBER(member) request.member = number_of(json, #member, SLURM_UNSET)

static struct slurm_request request_of(const json_t *json)
{
    struct slurm_request request;
    slurm_request_init(&request);
    TEXT(partition);
    TEXT(array);
    TEXT(tres_per_job);
    TEXT(tres_per_node);
    TEXT(tres_per_socket);
    TEXT(tres_per_task);
    TEXT(cpus_per_tres);
    TEXT(memory_per_tres);
    NUMBER(tasks);
    NUMBER(tasks_per_node);
    NUMBER(tasks_per_gpu);
    NUMBER(cpus_per_task);
    NUMBER(cpus_min);
    NUMBER(cpus_per_node_min);
    NUMBER(nodes_min);
    NUMBER(nodes_max);
    NUMBER(sockets_per_node);
    NUMBER(memory_per_cpu_mib);
    NUMBER(memory_per_node_mib);
    NUMBER(minutes);
    request.is_exclusive = json_is_true(json_object_get(json, "is_exclusive"));
    request.is_overcommitted = json_is_true(json_object_get(json, "is_overcommitted"));
    return request;
}

static void shape_check(const char *name, const json_t *want, const struct slurm_shape *shape)
{
    const struct {
        const char *key;
        int64_t value;
    } figures[] = {
        {"nodes", shape->nodes}, {"cores", shape->cores},     {"memory_mib", shape->memory_mib},
        {"tasks", shape->tasks}, {"seconds", shape->seconds}, {"max_running", shape->max_running},
    };
    size_t checked = 0;
    for (size_t i = 0; i < sizeof figures / sizeof figures[0]; i++) {
        if (json_object_get(want, figures[i].key) != NULL) {
            cr_expect_eq(figures[i].value, number_of(want, figures[i].key, 0), "%s: %s is %lld",
                         name, figures[i].key, (long long)figures[i].value);
            checked++;
        }
    }
    const json_t *gpus = json_object_get(want, "gpus");
    if (gpus != NULL) {
        const struct gres_gpus expected = gpus_of(gpus);
        cr_expect_eq(expected.count, shape->gpus.count, "%s: %u GPU entries", name,
                     shape->gpus.count);
        for (unsigned i = 0; i < expected.count && i < shape->gpus.count; i++) {
            cr_expect_str_eq(expected.items[i].model, shape->gpus.items[i].model, "%s", name);
            cr_expect_eq(expected.items[i].count, shape->gpus.items[i].count, "%s: %lld GPUs", name,
                         (long long)shape->gpus.items[i].count);
        }
        checked++;
    }
    cr_expect_eq(checked, json_object_size(want), "%s: a figure that nobody knows", name);
}

Test(request, every_form_of_a_request_is_worked_out)
{
    json_t *file = cases_load();
    struct slurm_site site = site_of(json_object_get(file, "site"));
    size_t i;
    json_t *row;
    json_array_foreach(json_object_get(file, "cases"), i, row)
    {
        const char *name = json_string_value(json_object_get(row, "name"));
        const char *fault = json_string_value(json_object_get(row, "fault"));
        struct slurm_request request = request_of(json_object_get(row, "request"));
        struct slurm_shape shape = {0};
        const char *what = NULL;
        const bool ok = slurm_shape_of(&request, &site, &shape, &what);
        cr_expect_eq(ok, fault == NULL, "%s", name);
        if (fault != NULL) {
            cr_expect_str_eq(what, fault, "%s", name);
        } else if (ok) {
            shape_check(name, json_object_get(row, "shape"), &shape);
        }
    }
    cr_assert_gt(i, 40);
    json_decref(file);
}

Test(request, the_body_of_a_freeze_is_complete)
{
    struct slurm_request request;
    slurm_request_init(&request);
    request.account = "physics";
    request.user = "alice";
    request.name = "train";
    request.qos = "normal";
    request.partition = "gpu";
    request.array = "0-9%4";
    request.tres_per_node = "gres:gpu:a100:1,gres:gpu:1";
    request.minutes = 5;
    struct slurm_site site = {.memory_per_cpu_mib = SLURM_UNSET};
    struct slurm_shape shape;
    const char *what;
    cr_assert(slurm_shape_of(&request, &site, &shape, &what));
    json_t *body = slurm_freeze_body(&request, &site, &shape, "alpha-1", "alpha");
    json_t *want = json_pack(
        "{s:s, s:s, s:s, s:s, s:{s:s, s:s, s:s}, s:{s:i, s:[{s:s, s:i}, {s:i}]}, s:i, s:i, s:i}",
        "id", "alpha-1", "cluster", "alpha", "account", "physics", "user", "alice", "job", "name",
        "train", "partition", "gpu", "qos", "normal", "resources", "cores", 1, "gpus", "model",
        "a100", "count", 1, "count", 1, "tasks", 10, "max_running", 4, "time_limit_s", 300);
    char *text = json_dumps(body, JSON_INDENT(1));
    cr_assert(json_equal(body, want), "%s", text);
    free(text);
    json_decref(body);
    json_decref(want);
}

Test(request, a_name_that_the_api_would_refuse_does_not_cost_the_job)
{
    char longer[200];
    memset(longer, 'x', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    memcpy(longer + 127, "\xe6\xa0\xb8", 3);
    const char *const names[] = {"a\nb", "\xff\xfe", longer};
    const size_t bytes[] = {0, 0, 127};
    for (int i = 0; i < 3; i++) {
        struct slurm_request request;
        slurm_request_init(&request);
        request.name = names[i];
        struct slurm_site site = {.memory_per_cpu_mib = SLURM_UNSET};
        struct slurm_shape shape;
        const char *what;
        cr_assert(slurm_shape_of(&request, &site, &shape, &what));
        json_t *body = slurm_freeze_body(&request, &site, &shape, "alpha-1", "alpha");
        const json_t *name = json_object_get(json_object_get(body, "job"), "name");
        cr_assert_eq(json_string_length(name), bytes[i], "%d", i);
        json_decref(body);
    }
}

Test(request, what_follows_gpus_needs_no_word_gpu)
{
    struct gres_gpus gpus = {0};
    cr_assert(gres_gpus_add("a100:2, v100,3", true, 1, &gpus));
    cr_assert_eq(gpus.count, 3);
    cr_assert_str_eq(gpus.items[0].model, "a100");
    cr_assert_eq(gpus.items[0].count, 2);
    cr_assert_str_eq(gpus.items[1].model, "v100");
    cr_assert_eq(gpus.items[1].count, 1);
    cr_assert_str_eq(gpus.items[2].model, "");
    cr_assert_eq(gpus.items[2].count, 3);
    cr_assert_eq(gres_gpus_total(&gpus), 6);
}

Test(request, texts_of_any_bytes_do_no_harm)
{
    unsigned seed = 20261130;
    char text[40];
    static const char letters[] = "gpu:res/=,;0123456789ka100-%[](S)\xff \t";
    for (int round = 0; round < 200000; round++) {
        size_t length = 0;
        for (; length < sizeof text - 1; length++) {
            seed = seed * 1664525U + 1013904223U;
            text[length] = letters[(seed >> 16) % (sizeof letters - 1)];
            if ((seed >> 8) % 17 == 0) {
                break;
            }
        }
        text[length] = '\0';
        struct gres_gpus gpus = {0};
        int64_t tasks;
        int64_t running;
        if (gres_gpus_add(text, (round & 1) != 0, 3, &gpus)) {
            cr_assert(gpus.count <= GRES_MODELS_MAX && gres_gpus_total(&gpus) >= 0);
        }
        if (round % 100 == 0 && gres_array_count(text, &tasks, &running)) {
            cr_assert(tasks >= 1 && running >= 0);
        }
    }
}

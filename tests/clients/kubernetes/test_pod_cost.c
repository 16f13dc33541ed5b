/*
 * What pods ask for and what they were given: every case of pods/cases.json, which are pods written for the purpose, and pods as
 * an API server sent them; then hostile objects.
 *
 * A case has a name, a `pod` (or the `file` of an admission request beside it), perhaps a `node`, and what comes of it: `asked` and, where
 * it differs, `given` (resources as POST /v1/holds takes them), or `result` with a piece of the `problem`.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "clients/kubernetes/pod_allocated.h"
#include "clients/kubernetes/pod_cost.h"
#include "tests/lib/random.h"

static struct resource_table *table;

static void setup(void)
{
    char problem[RESOURCE_PROBLEM_BYTES];
    const char *const path[] = {POD_CASES "/extra.conf"};
    cr_assert(resource_table_read(path, 1, &table, problem, sizeof problem), "%s", problem);
}

static void teardown(void)
{
    resource_table_destroy(table);
}

TestSuite(pod_cost, .init = setup, .fini = teardown, .timeout = 120);

static json_t *file_load(const char *name)
{
    char path[1024];
    json_error_t error;
    snprintf(path, sizeof path, "%s/%s", POD_CASES, name);
    json_t *loaded = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
    cr_assert_not_null(loaded, "%s:%d: %s", path, error.line, error.text);
    return loaded;
}

static const char *word_of(enum pod_result result)
{
    static const char *const words[] = {
        [POD_OK] = "ok",
        [POD_INVALID] = "invalid",
        [POD_TOO_LARGE] = "too_large",
        [POD_TOO_MANY] = "too_many",
    };
    return words[result];
}

static const char *source_of(const struct pod_request *request)
{
    static const char *const words[] = {
        [POD_MODEL_UNKNOWN] = "unknown",       [POD_MODEL_NAME] = "name",
        [POD_MODEL_ANNOTATION] = "annotation", [POD_MODEL_SELECTOR] = "selector",
        [POD_MODEL_ALLOCATION] = "allocation", [POD_MODEL_NODE] = "node",
    };
    return request->gpu_count == 0 ? "" : words[request->gpus[0].source];
}

static void check_resources(const char *name,
                            const char *what,
                            const struct pod_request *request,
                            const json_t *expected)
{
    json_t *resources = pod_request_json(request);
    cr_assert_not_null(resources);
    char *text = json_dumps(resources, JSON_SORT_KEYS);
    cr_expect(json_equal(resources, expected), "%s: %s %s", name, what, text);
    cr_expect_eq(request->accelerated, json_object_get(expected, "gpus") != NULL, "%s", name);
    free(text);
    json_decref(resources);
}

static void check_source(const char *name, const json_t *entry, const char *key, const char *source)
{
    const char *expected = json_string_value(json_object_get(entry, key));
    if (expected != NULL) {
        cr_expect_str_eq(source, expected, "%s: %s is %s", name, key, source);
    }
}

static void check_case(const json_t *entry, const json_t *pod)
{
    const char *name = json_string_value(json_object_get(entry, "name"));
    const char *result = json_string_value(json_object_get(entry, "result"));
    const json_t *node = json_object_get(entry, "node");
    const json_t *asked = json_object_get(entry, "asked");
    const json_t *given = json_object_get(entry, "given");
    struct pod_request request = {0};
    struct pod_request allocated = {0};
    char problem[RESOURCE_PROBLEM_BYTES] = "before";
    char other[RESOURCE_PROBLEM_BYTES];
    const enum pod_result is = pod_cost(pod, table, &request, problem, sizeof problem);
    cr_expect_str_eq(word_of(is), result == NULL ? "ok" : result, "%s: %s", name, problem);
    cr_expect_eq(pod_allocated(pod, node, table, &allocated, other, sizeof other), is, "%s", name);
    if (is != POD_OK) {
        const char *piece = json_string_value(json_object_get(entry, "problem"));
        cr_expect(piece != NULL && strstr(problem, piece) != NULL, "%s: %s", name, problem);
        return;
    }
    cr_expect_str_eq(problem, "", "%s", name);
    check_resources(name, "asks", &request, asked);
    check_resources(name, "was given", &allocated, given == NULL ? asked : given);
    check_source(name, entry, "asked_model_by", source_of(&request));
    check_source(name, entry, "given_model_by", source_of(&allocated));
}

Test(pod_cost, is_what_the_cases_say)
{
    json_t *cases = file_load("cases.json");
    cr_assert_gt(json_array_size(cases), 40);
    for (size_t i = 0; i < json_array_size(cases); i++) {
        const json_t *entry = json_array_get(cases, i);
        const char *file = json_string_value(json_object_get(entry, "file"));
        json_t *loaded = file == NULL ? NULL : file_load(file);
        const json_t *recorded = json_object_get(json_object_get(loaded, "request"), "object");
        check_case(entry, file == NULL ? json_object_get(entry, "pod") : recorded);
        json_decref(loaded);
    }
    json_decref(cases);
}

/* ---- objects that no API server sends */

Test(pod_cost, refuses_what_is_no_pod)
{
    static const char *const texts[] = {
        "null", "[]", "{}", "{\"spec\": []}", "{\"spec\": {\"containers\": [7]}}", "\"pod\"",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        json_t *pod = json_loads(texts[i], JSON_DECODE_ANY, NULL);
        struct pod_request request;
        char problem[RESOURCE_PROBLEM_BYTES];
        cr_assert_eq(pod_cost(pod, table, &request, problem, sizeof problem), POD_INVALID, "%s",
                     texts[i]);
        cr_assert_str_neq(problem, "");
        json_decref(pod);
    }
}

Test(pod_cost, refuses_more_containers_than_there_is_room_for)
{
    json_t *containers = json_array();
    for (int i = 0; i < POD_CONTAINERS_MAX + 1; i++) {
        cr_assert_eq(json_array_append_new(containers, json_object()), 0);
    }
    json_t *pod = json_pack("{s:{s:o}}", "spec", "containers", containers);
    struct pod_request request;
    char problem[RESOURCE_PROBLEM_BYTES];
    cr_assert_eq(pod_cost(pod, table, &request, problem, sizeof problem), POD_TOO_MANY);
    cr_assert_str_eq(problem, "pod: more than 1024 containers");
    json_decref(pod);
}

Test(pod_cost, cuts_a_problem_to_the_room_it_has)
{
    json_t *pod =
        json_loads("{\"spec\":{\"containers\":[{\"name\":\"m\",\"resources\":{\"requests\":"
                   "{\"cpu\":\"abc\"}}}]}}",
                   0, NULL);
    struct pod_request request;
    char problem[12] = "xxxxxxxxxxx";
    cr_assert_eq(pod_cost(pod, table, &request, problem, sizeof problem), POD_INVALID);
    cr_assert_str_eq(problem, "container m");
    json_decref(pod);
}

/* Any one value of a pod replaced by any other: an answer, never a crash, and a problem whenever it is refused. */
static void mutate(json_t *value, struct test_random *random)
{
    static const char *const texts[] = {"",       "-1", "1e0", "9223372036854775808",
                                        "Always", "*",  ";;:,"};
    json_t *child = NULL;
    if (json_is_array(value) && json_array_size(value) > 0) {
        const size_t at = (size_t)test_random_range(random, 0, (int64_t)json_array_size(value) - 1);
        child = json_array_get(value, at);
        if (!json_is_object(child) || test_random_chance(random, 1, 8)) {
            json_array_set_new(value, at, json_integer((json_int_t)test_random_next(random)));
            return;
        }
    } else if (json_is_object(value) && json_object_size(value) > 0) {
        void *at = json_object_iter(value);
        for (int64_t i = test_random_range(random, 0, (int64_t)json_object_size(value) - 1); i > 0;
             i--) {
            at = json_object_iter_next(value, at);
        }
        child = json_object_iter_value(at);
        if ((!json_is_object(child) && !json_is_array(child)) || test_random_chance(random, 1, 8)) {
            const char *text = texts[test_random_range(random, 0, 6)];
            json_object_iter_set_new(
                value, at, test_random_chance(random, 1, 4) ? json_array() : json_string(text));
            return;
        }
    }
    if (child != NULL) {
        mutate(child, random);
    }
}

Test(pod_cost, survives_any_change_of_any_value)
{
    struct test_random random;
    test_random_init(&random, "pod_cost");
    json_t *cases = file_load("cases.json");
    const int64_t rounds = test_rounds(20000);
    for (int64_t i = 0; i < rounds; i++) {
        const json_t *entry = json_array_get(
            cases, (size_t)test_random_range(&random, 0, (int64_t)json_array_size(cases) - 1));
        json_t *changed = json_deep_copy(entry);
        json_t *pod = json_object_get(changed, "pod");
        json_t *node = json_object_get(changed, "node");
        struct pod_request request;
        char problem[RESOURCE_PROBLEM_BYTES];
        for (int64_t changes = test_random_range(&random, 1, 3); changes > 0; changes--) {
            mutate(pod, &random);
            mutate(node, &random);
        }
        const enum pod_result result =
            pod_allocated(pod, node, table, &request, problem, sizeof problem);
        cr_assert_eq(result == POD_OK, problem[0] == '\0', "%s", problem);
        json_decref(changed);
    }
    json_decref(cases);
}

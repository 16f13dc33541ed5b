/* Gangs: how pods name them, what says their size. */
#include <stdio.h>
#include <string.h>

#include <criterion/criterion.h>

#include "clients/kubernetes/gang.h"

static json_t *parse(const char *text)
{
    json_error_t error;
    json_t *value = json_loads(text, 0, &error);
    cr_assert_not_null(value, "%s: %s", text, error.text);
    return value;
}

#define OWNER(kind, version, controller)                                                   \
    "{\"metadata\":{\"ownerReferences\":[{\"kind\":\"" kind "\",\"apiVersion\":\"" version \
    "\",\"name\":\"train\",\"uid\":\"u-1\",\"controller\":" controller "}]}}"

Test(gang, is_named_by_labels_annotations_or_the_job)
{
    static const struct {
        const char *pod;
        const char *key;
        int64_t size;
        const char *path;
    } cases[] = {
        {"{\"metadata\":{\"labels\":{\"pod-group.scheduling.sigs.k8s.io/name\":\"g\","
         "\"pod-group.scheduling.sigs.k8s.io/min-available\":\"4\"}}}",
         "team-a/pod-group.scheduling.sigs.k8s.io/name/g", 4, ""},
        {"{\"metadata\":{\"labels\":{\"kueue.x-k8s.io/pod-group-name\":\"g\"},\"annotations\":{"
         "\"kueue.x-k8s.io/pod-group-total-count\":\"3\"}}}",
         "team-a/kueue.x-k8s.io/pod-group-name/g", 3, ""},
        {"{\"metadata\":{\"labels\":{\"leaderworkerset.sigs.k8s.io/group-key\":\"abc\"},"
         "\"annotations\":{\"leaderworkerset.sigs.k8s.io/size\":\"10000\"}}}",
         "team-a/leaderworkerset.sigs.k8s.io/group-key/abc", 10000, ""},
        {"{\"metadata\":{\"labels\":{\"scheduling.x-k8s.io/pod-group\":\"g.1\"}}}",
         "team-a/scheduling.x-k8s.io/pod-group/g.1", 0,
         "/apis/scheduling.x-k8s.io/v1alpha1/namespaces/team-a/podgroups/g.1"},
        {"{\"metadata\":{\"annotations\":{\"scheduling.k8s.io/group-name\":\"g\"}}}",
         "team-a/scheduling.k8s.io/group-name/g", 0,
         "/apis/scheduling.volcano.sh/v1beta1/namespaces/team-a/podgroups/g"},
        {OWNER("Job", "batch/v1", "true"), "team-a/job/u-1", 0,
         "/apis/batch/v1/namespaces/team-a/jobs/train"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct gang gang;
        json_t *pod = parse(cases[i].pod);
        cr_assert(gang_of_pod(pod, "team-a", &gang), "%s", cases[i].pod);
        cr_assert_str_eq(gang.key, cases[i].key);
        cr_assert_eq(gang.size, cases[i].size, "%s", cases[i].pod);
        cr_assert_str_eq(gang.path, cases[i].path);
        json_decref(pod);
    }
}

Test(gang, is_none_where_nothing_names_it_or_its_size)
{
    static const char *const pods[] = {
        "{}",
        "[]",
        "{\"metadata\":{\"labels\":{\"app\":\"web\"}}}",
        OWNER("ReplicaSet", "apps/v1", "true"),
        OWNER("Job", "batch.volcano.sh/v1alpha1", "true"),
        OWNER("Job", "batch/v1", "false"),
        "{\"metadata\":{\"labels\":{\"kueue.x-k8s.io/pod-group-name\":\"g\"}}}",
        "{\"metadata\":{\"labels\":{\"kueue.x-k8s.io/pod-group-name\":\"g\"},\"annotations\":{"
        "\"kueue.x-k8s.io/pod-group-total-count\":\"10001\"}}}",
        "{\"metadata\":{\"labels\":{\"kueue.x-k8s.io/pod-group-name\":\"g\"},\"annotations\":{"
        "\"kueue.x-k8s.io/pod-group-total-count\":\"99999999999999999999\"}}}",
        "{\"metadata\":{\"labels\":{\"kueue.x-k8s.io/pod-group-name\":\"g\"},\"annotations\":{"
        "\"kueue.x-k8s.io/pod-group-total-count\":\"0\"}}}",
        "{\"metadata\":{\"labels\":{\"scheduling.x-k8s.io/pod-group\":\"../../secrets\"}}}",
        "{\"metadata\":{\"labels\":{\"scheduling.x-k8s.io/pod-group\":\"a/b\"}}}",
        "{\"metadata\":{\"labels\":{\"scheduling.x-k8s.io/pod-group\":\"a?b\"}}}",
    };
    for (size_t i = 0; i < sizeof pods / sizeof pods[0]; i++) {
        struct gang gang = {.size = -1};
        json_t *pod = parse(pods[i]);
        cr_assert_not(gang_of_pod(pod, "team-a", &gang), "%s", pods[i]);
        cr_assert_eq(gang.size, -1);
        json_decref(pod);
    }
    json_t *pod = parse(OWNER("Job", "batch/v1", "true"));
    struct gang gang;
    cr_assert_not(gang_of_pod(pod, "../kube-system", &gang));
    json_decref(pod);
}

Test(gang, has_the_size_that_its_object_says)
{
    static const struct {
        const char *object;
        int64_t size; /* 0: none */
    } cases[] = {
        {"{\"spec\":{\"parallelism\":4,\"template\":{}}}", 4},
        {"{\"spec\":{\"parallelism\":4,\"completions\":2,\"template\":{}}}", 2},
        {"{\"spec\":{\"parallelism\":4,\"completions\":20,\"template\":{}}}", 4},
        {"{\"spec\":{\"completions\":20,\"template\":{}}}", 1},
        {"{\"spec\":{\"parallelism\":4,\"completions\":5,\"template\":{}},\"status\":{\"succeeded\":2}}",
         3},
        {"{\"spec\":{\"parallelism\":4,\"completions\":5,\"template\":{}},\"status\":{\"succeeded\":5}}",
         0},
        {"{\"spec\":{\"template\":{}}}", 1},
        {"{\"spec\":{\"parallelism\":0,\"template\":{}}}", 0},
        {"{\"spec\":{\"parallelism\":-1,\"template\":{}}}", 0},
        {"{\"spec\":{\"parallelism\":4,\"suspend\":true,\"template\":{}}}", 0},
        {"{\"spec\":{\"parallelism\":10001,\"template\":{}}}", 0},
        {"{\"spec\":{\"minMember\":8}}", 8},
        {"{\"spec\":{\"minMember\":\"8\"}}", 0},
        {"{\"spec\":{}}", 0},
        {"{\"kind\":\"Status\"}", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int64_t size = 0;
        json_t *object = parse(cases[i].object);
        cr_assert_eq(gang_size_of_object(object, &size), cases[i].size > 0, "%s", cases[i].object);
        cr_assert_eq(size, cases[i].size, "%s", cases[i].object);
        json_decref(object);
    }
}

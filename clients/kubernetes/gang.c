/* Gangs: see gang.h. One table of the ways in which a pod names its gang, in their order. */
#include "clients/kubernetes/gang.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "clients/kubernetes/object.h"

static const struct naming {
    const char *where; /* "labels" or "annotations" */
    const char *name;
    const char *size_where; /* NULL: an object says it */
    const char *size_name;
    const char *group; /* of the PodGroup that says it, with its version */
} namings[] = {
    {"labels", "pod-group.scheduling.sigs.k8s.io/name", "labels",
     "pod-group.scheduling.sigs.k8s.io/min-available", NULL},
    {"labels", "kueue.x-k8s.io/pod-group-name", "annotations",
     "kueue.x-k8s.io/pod-group-total-count", NULL},
    {"labels", "leaderworkerset.sigs.k8s.io/group-key", "annotations",
     "leaderworkerset.sigs.k8s.io/size", NULL},
    {"labels", "scheduling.x-k8s.io/pod-group", NULL, NULL, "scheduling.x-k8s.io/v1alpha1"},
    {"annotations", "scheduling.k8s.io/group-name", NULL, NULL, "scheduling.volcano.sh/v1beta1"},
};

static bool size_check(int64_t size, int64_t *ret_size)
{
    if (size < 1 || size > GANG_SIZE_MAX) {
        return false;
    }
    *ret_size = size;
    return true;
}

static bool size_read(const char *text, int64_t *ret_size)
{
    int64_t size = 0;
    if (text == NULL || text[0] == '\0') {
        return false;
    }
    for (; *text != '\0' && size <= GANG_SIZE_MAX; text++) {
        if (!isdigit((unsigned char)*text)) {
            return false;
        }
        size = size * 10 + (*text - '0');
    }
    return size_check(size, ret_size);
}

static const char *text_of(const json_t *object, const char *where, const char *name)
{
    const json_t *metadata = json_object_get(object, "metadata");
    return json_string_value(json_object_get(json_object_get(metadata, where), name));
}

static bool naming_read(const json_t *pod,
                        const char *namespace,
                        const struct naming *naming,
                        struct gang *ret_gang)
{
    struct gang gang = {0};
    const char *name = text_of(pod, naming->where, naming->name);
    if (!object_is_name(name)) {
        return false;
    }
    snprintf(gang.key, sizeof gang.key, "%s/%s/%s", namespace, naming->name, name);
    if (naming->size_where != NULL) {
        if (!size_read(text_of(pod, naming->size_where, naming->size_name), &gang.size)) {
            return false;
        }
    } else {
        snprintf(gang.path, sizeof gang.path, "/apis/%s/namespaces/%s/podgroups/%s", naming->group,
                 namespace, name);
    }
    *ret_gang = gang;
    return true;
}

static bool job_read(const json_t *pod, const char *namespace, struct gang *ret_gang)
{
    const json_t *owners = json_object_get(json_object_get(pod, "metadata"), "ownerReferences");
    for (size_t i = 0; i < json_array_size(owners); i++) {
        const json_t *owner = json_array_get(owners, i);
        const char *kind = json_string_value(json_object_get(owner, "kind"));
        const char *version = json_string_value(json_object_get(owner, "apiVersion"));
        const char *name = json_string_value(json_object_get(owner, "name"));
        const char *uid = json_string_value(json_object_get(owner, "uid"));
        if (!json_is_true(json_object_get(owner, "controller")) || kind == NULL ||
            version == NULL || strcmp(kind, "Job") != 0 || strncmp(version, "batch/", 6) != 0 ||
            !object_is_name(name) || !object_is_name(uid)) {
            continue;
        }
        struct gang gang = {0};
        snprintf(gang.key, sizeof gang.key, "%s/job/%s", namespace, uid);
        snprintf(gang.path, sizeof gang.path, "/apis/batch/v1/namespaces/%s/jobs/%s", namespace,
                 name);
        *ret_gang = gang;
        return true;
    }
    return false;
}

bool gang_of_pod(const json_t *pod, const char *namespace, struct gang *ret_gang)
{
    if (!object_is_name(namespace)) {
        return false;
    }
    for (size_t i = 0; i < sizeof namings / sizeof namings[0]; i++) {
        if (naming_read(pod, namespace, &namings[i], ret_gang)) {
            return true;
        }
    }
    return job_read(pod, namespace, ret_gang);
}

bool gang_size_of_object(const json_t *object, int64_t *ret_size)
{
    const json_t *spec = json_object_get(object, "spec");
    const json_t *members = json_object_get(spec, "minMember");
    const json_t *parallelism = json_object_get(spec, "parallelism");
    const json_t *completions = json_object_get(spec, "completions");
    if (members != NULL) {
        return size_check(json_integer_value(members), ret_size);
    }
    if (!json_is_object(json_object_get(spec, "template")) ||
        json_is_true(json_object_get(spec, "suspend"))) {
        return false;
    }
    int64_t size = json_is_integer(parallelism) ? json_integer_value(parallelism) : 1;
    /* The last pods of a Job are fewer than run side by side. */
    const json_t *done = json_object_get(json_object_get(object, "status"), "succeeded");
    int64_t left;
    if (json_is_integer(completions) &&
        !__builtin_sub_overflow(json_integer_value(completions), json_integer_value(done), &left) &&
        left < size) {
        size = left;
    }
    return size_check(size, ret_size);
}

/* Owner chains: see people.h. */
#include "clients/kubernetes/people.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clients/kubernetes/names.h"
#include "clients/kubernetes/object.h"

enum { CACHE_SLOTS = 4096, CHAIN_MAX = 4, OWNER_TIMEOUT_MS = 500 };

/* Kinds that own pods, and what they are called in a path. */
static const struct {
    const char *group; /* in front of the version; "apps", "batch" */
    const char *kind;
    const char *plural;
} kinds[] = {
    {"apps/", "ReplicaSet", "replicasets"},
    {"apps/", "Deployment", "deployments"},
    {"apps/", "StatefulSet", "statefulsets"},
    {"apps/", "DaemonSet", "daemonsets"},
    {"batch/", "Job", "jobs"},
    {"batch/", "CronJob", "cronjobs"},
};

/* What is known of one owner: whom it names, and its own owner's uid is not needed: the whole chain's answer is kept. */
struct slot {
    char uid[64];
    char user[PEOPLE_NAME_BYTES]; /* "" : the chain names nobody */
};

struct people {
    const struct agent_config *config;
    pthread_mutex_t cache_lock;
    struct slot *slots;
    pthread_mutex_t caller_lock;
    struct api_caller caller;
};

struct people *people_create(const struct agent_config *config, const struct api_server *server)
{
    struct people *people = calloc(1, sizeof *people);
    if (people == NULL) {
        return NULL;
    }
    people->config = config;
    people->slots = calloc(CACHE_SLOTS, sizeof *people->slots);
    pthread_mutex_init(&people->cache_lock, NULL);
    pthread_mutex_init(&people->caller_lock, NULL);
    if (people->slots == NULL || !api_caller_init(&people->caller, server, OWNER_TIMEOUT_MS)) {
        people_destroy(people);
        return NULL;
    }
    return people;
}

void people_destroy(struct people *people)
{
    if (people == NULL) {
        return;
    }
    api_caller_fini(&people->caller);
    pthread_mutex_destroy(&people->cache_lock);
    pthread_mutex_destroy(&people->caller_lock);
    free(people->slots);
    free(people);
}

bool people_is_human(const char *username)
{
    return username[0] != '\0' && strncmp(username, "system:", 7) != 0;
}

/* ---- the cache */

static struct slot *slot_of(struct people *people, const char *uid)
{
    uint32_t hash = 2166136261u;
    for (const char *byte = uid; *byte != '\0'; byte++) {
        hash = (hash ^ (unsigned char)*byte) * 16777619u;
    }
    return &people->slots[hash % CACHE_SLOTS];
}

static bool cache_find(struct people *people, const char *uid, char *ret_user)
{
    pthread_mutex_lock(&people->cache_lock);
    const struct slot *slot = slot_of(people, uid);
    const bool found = strcmp(slot->uid, uid) == 0;
    if (found) {
        memcpy(ret_user, slot->user, PEOPLE_NAME_BYTES);
    }
    pthread_mutex_unlock(&people->cache_lock);
    return found;
}

static void cache_put(struct people *people, const char *uid, const char *user)
{
    pthread_mutex_lock(&people->cache_lock);
    struct slot *slot = slot_of(people, uid);
    object_copy(slot->uid, uid, sizeof slot->uid);
    object_copy(slot->user, user, sizeof slot->user);
    pthread_mutex_unlock(&people->cache_lock);
}

/* ---- the chain */

static const json_t *controller_of(const json_t *object)
{
    size_t index;
    json_t *reference;
    json_array_foreach(object_get(object, "metadata", "ownerReferences", NULL), index, reference)
    {
        if (json_is_true(object_get(reference, "controller", NULL))) {
            return reference;
        }
    }
    return NULL;
}

/* Path of an owner; false for kinds that are not asked for, and for texts that are no names: the API server takes any. */
static bool owner_path(const json_t *reference, const char *namespace, char *ret_path, size_t bytes)
{
    const char *version = object_text(reference, "apiVersion", NULL);
    const char *kind = object_text(reference, "kind", NULL);
    const char *name = object_text(reference, "name", NULL);
    if (!object_is_name(name) || !object_is_name(namespace)) {
        return false;
    }
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        const size_t group_bytes = strlen(kinds[i].group);
        if (strcmp(kinds[i].kind, kind) == 0 &&
            strncmp(kinds[i].group, version, group_bytes) == 0 &&
            object_is_name(version + group_bytes)) {
            return snprintf(ret_path, bytes, "/apis/%s/namespaces/%s/%s/%s", version, namespace,
                            kinds[i].plural, name) < (int)bytes;
        }
    }
    return false;
}

static int object_get_at(struct people *people, const char *path, json_t **ret_object)
{
    const struct api_request request = {.method = "GET", .path = path};
    pthread_mutex_lock(&people->caller_lock);
    const int status = api_call(&people->caller, &request, ret_object);
    pthread_mutex_unlock(&people->caller_lock);
    return status;
}

json_t *people_get(struct people *people, const char *path)
{
    json_t *object = NULL;
    if (object_get_at(people, path, &object) == 200) {
        return object;
    }
    json_decref(object);
    return NULL;
}

/* The owner as it is now; NULL when it is another one by now, gone, or there is no answer. ret_sure: this will not change. */
static json_t *owner_get(struct people *people,
                         const json_t *reference,
                         const char *namespace,
                         bool *ret_sure)
{
    char path[640];
    *ret_sure = true;
    if (!owner_path(reference, namespace, path, sizeof path)) {
        return NULL;
    }
    json_t *owner = NULL;
    const int status = object_get_at(people, path, &owner);
    *ret_sure = status == 200 || status == 404;
    const bool is_it = status == 200 && strcmp(object_text(owner, "metadata", "uid", NULL),
                                               object_text(reference, "uid", NULL)) == 0;
    if (!is_it) {
        json_decref(owner);
        return NULL;
    }
    return owner;
}

/* Walks up from the pod. ret_user: "" when nobody is named. */
static void chain_find(struct people *people,
                       const json_t *pod,
                       const char *namespace,
                       char *ret_user)
{
    const json_t *reference = controller_of(pod);
    char first[64];
    object_copy(first, object_text(reference, "uid", NULL), sizeof first);
    ret_user[0] = '\0';
    if (reference == NULL || first[0] == '\0' || cache_find(people, first, ret_user)) {
        return;
    }
    json_t *owner = NULL;
    bool sure = true;
    for (int i = 0; i < CHAIN_MAX && reference != NULL && ret_user[0] == '\0'; i++) {
        json_t *next = owner_get(people, reference, namespace, &sure);
        json_decref(owner);
        owner = next;
        object_copy(ret_user, object_text(owner, "metadata", "annotations", NAME_CREATED_BY, NULL),
                    PEOPLE_NAME_BYTES);
        reference = controller_of(owner);
    }
    json_decref(owner);
    if (sure) {
        cache_put(people, first, ret_user);
    }
}

static bool account_name(const json_t *pod, const char *namespace, char *ret_user)
{
    const char *account = object_text(pod, "spec", "serviceAccountName", NULL);
    if (account[0] == '\0' || strcmp(account, "default") == 0) {
        return false;
    }
    char name[512];
    (void)snprintf(name, sizeof name, "serviceaccount:%s:%s", namespace, account);
    object_copy(ret_user, name, PEOPLE_NAME_BYTES);
    return true;
}

void people_find(struct people *people,
                 const json_t *pod,
                 const char *namespace,
                 const char *requester,
                 char *ret_user)
{
    if (people_is_human(requester)) {
        object_copy(ret_user, requester, PEOPLE_NAME_BYTES);
        return;
    }
    object_copy(ret_user, object_text(pod, "metadata", "annotations", NAME_CREATED_BY, NULL),
                PEOPLE_NAME_BYTES);
    if (ret_user[0] == '\0') {
        chain_find(people, pod, namespace, ret_user);
    }
    if (ret_user[0] == '\0') {
        object_copy(ret_user, object_text(pod, "metadata", "annotations", NAME_USER, NULL),
                    PEOPLE_NAME_BYTES);
    }
    if (ret_user[0] == '\0' && !account_name(pod, namespace, ret_user)) {
        object_copy(ret_user, people->config->default_user.text, PEOPLE_NAME_BYTES);
    }
}

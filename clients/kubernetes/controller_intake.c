/* From the watch into the store: see controller.h. */
#include <stdlib.h>
#include <string.h>

#include "clients/clock.h"
#include "clients/kubernetes/agent_log.h"
#include "clients/kubernetes/controller_parts.h"
#include "clients/kubernetes/counters.h"
#include "clients/kubernetes/names.h"
#include "clients/kubernetes/object.h"
#include "clients/kubernetes/pod_allocated.h"
#include "clients/kubernetes/pod_cost.h"
#include "clients/kubernetes/spool.h"

/* ---- nodes */

static uint32_t hash_of(const char *text)
{
    uint32_t hash = 2166136261u;
    for (; *text != '\0'; text++) {
        hash = (hash ^ (unsigned char)*text) * 16777619u;
    }
    return hash;
}

/* The Node of a placed pod, at most a minute old; NULL when it is not known. Borrowed until the next call. */
static const json_t *node_find(struct controller *controller, const char *name)
{
    struct node_slot *slot = &controller->nodes[hash_of(name) % NODES_MAX];
    const int64_t now_ms = client_clock_mono_ms();
    if (name[0] == '\0') {
        return NULL;
    }
    if (strcmp(slot->name, name) == 0 && now_ms - slot->asked_ms < NODE_FRESH_MS) {
        return slot->object;
    }
    char path[POD_NAME_BYTES + 32];
    (void)snprintf(path, sizeof path, "/api/v1/nodes/%s", name);
    const struct api_request request = {.method = "GET", .path = path};
    json_t *object = NULL;
    const int status = api_call(&controller->intake_caller, &request, &object);
    json_decref(slot->object);
    slot->object = NULL;
    if (status == 200) {
        slot->object = object;
    } else {
        json_decref(object);
    }
    object_copy(slot->name, name, sizeof slot->name);
    slot->asked_ms = now_ms;
    return slot->object;
}

/* ---- records */

static void member_keep(json_t *ret_object, const json_t *object, const char *member)
{
    json_t *value = object_get(object, member, NULL);
    if (value != NULL) {
        json_object_set(ret_object, member, value);
    }
}

/* A Pod of nothing but what tells whom it belongs to. */
static json_t *relations_of(const json_t *pod)
{
    const json_t *metadata = object_get(pod, "metadata", NULL);
    json_t *relations = json_pack("{s:{s:{}}, s:{}}", "metadata", "annotations", "spec");
    if (relations == NULL) {
        return NULL;
    }
    json_t *kept = json_object_get(relations, "metadata");
    member_keep(kept, metadata, "ownerReferences");
    member_keep(json_object_get(kept, "annotations"), object_get(metadata, "annotations", NULL),
                NAME_CREATED_BY);
    member_keep(json_object_get(kept, "annotations"), object_get(metadata, "annotations", NULL),
                NAME_USER);
    member_keep(json_object_get(relations, "spec"), object_get(pod, "spec", NULL),
                "serviceAccountName");
    return relations;
}

/* The gang of a pod; NULL for none. */
static struct gang *gang_keep(const json_t *pod, const char *namespace)
{
    struct gang found;
    if (!gang_of_pod(pod, namespace, &found)) {
        return NULL;
    }
    struct gang *gang = malloc(sizeof *gang);
    if (gang != NULL) {
        *gang = found;
    }
    return gang;
}

/* A new record for a pod that takes part; NULL for all others. */
static struct pod_record *record_create(struct controller *controller,
                                        const json_t *pod,
                                        bool adopt)
{
    const char *uid = object_text(pod, "metadata", "uid", NULL);
    const char *namespace = object_text(pod, "metadata", "namespace", NULL);
    const struct namespace_rules rules = namespaces_find(controller->parts->namespaces, namespace);
    if (uid[0] == '\0' || strlen(uid) >= POD_UID_BYTES ||
        ((rules.mode == NAMESPACE_UNTOUCHED || rules.mode == NAMESPACE_KUEUE) && !adopt)) {
        return NULL;
    }
    struct pod_request request;
    char problem[RESOURCE_PROBLEM_BYTES];
    const enum pod_result result =
        pod_cost(pod, controller->parts->table, &request, problem, sizeof problem);
    if (result != POD_OK || !request.accelerated) {
        if (result != POD_OK) {
            agent_log("warning", "pod_not_priced", "namespace", namespace, "uid", uid, "why",
                      problem, NULL);
        }
        return NULL;
    }
    struct pod_record *record = pod_store_add(&controller->store, uid);
    if (record == NULL) {
        agent_log("error", "out_of_memory", "uid", uid, NULL);
        return NULL;
    }
    record->rules = rules;
    record->resources = pod_request_json(&request);
    record->relations = relations_of(pod);
    record->gang = rules.gang && rules.mode == NAMESPACE_GATE ? gang_keep(pod, namespace) : NULL;
    object_copy(record->qos, object_text(pod, "spec", "priorityClassName", NULL),
                sizeof record->qos);
    return record;
}

/* What the pod was given, where that differs from what it asked for. */
static void allocated_read(struct controller *controller,
                           struct pod_record *record,
                           const json_t *pod)
{
    struct pod_request request;
    char problem[RESOURCE_PROBLEM_BYTES];
    const json_t *node = node_find(controller, record->facts.node);
    if (pod_allocated(pod, node, controller->parts->table, &request, problem, sizeof problem) !=
        POD_OK) {
        return;
    }
    json_t *allocated = pod_request_json(&request);
    if (node == NULL && record->allocated != NULL) {
        json_decref(allocated); /* what was known with the node is better */
        return;
    }
    json_decref(record->allocated);
    record->allocated = NULL;
    if (allocated != NULL && !json_equal(allocated, record->resources)) {
        record->allocated = allocated;
    } else {
        json_decref(allocated);
    }
}

/* Counts what is left to do, so that nobody thinks all is told before the worker has looked. */
static void mark_dirty(struct controller *controller, const struct pod_record *record)
{
    if (pod_record_step(record) != POD_STEP_NONE || controller_is_overdue(controller, record)) {
        counter_set(COUNTER_PENDING, counter_get(COUNTER_PENDING) + 1);
        controller_wake(controller);
    }
}

static bool is_told(const struct pod_record *record)
{
    return record->hold == POD_HOLD_SETTLED || record->hold == POD_HOLD_FREED;
}

/* The API server forgets it now: what the ledger does not have yet goes to disk first. */
static void keep_on_disk(struct controller *controller, struct pod_record *record)
{
    if (!is_told(record) && !pod_record_is_done(record)) {
        (void)spool_put(controller->config->spool_dir.text, record, true);
    }
}

struct pod_record *controller_forget(struct controller *controller, struct pod_record *record)
{
    struct pod_record *next = pod_store_next(&controller->store, record);
    spool_drop(controller->config->spool_dir.text, record);
    pod_store_remove(&controller->store, record);
    counter_set(COUNTER_PODS, (int64_t)controller->store.count);
    return next;
}

/* A pod that vanished while it ran has not been cancelled when its node is gone: pod GC does that, minutes later. */
static void blame_node(struct controller *controller, struct pod_record *record)
{
    struct pod_facts *facts = &record->facts;
    if (facts->end.evidence == EVIDENCE_DELETION && facts->placed && !is_told(record) &&
        cluster_node_is_lost(&controller->intake_caller, facts->node)) {
        facts->end.outcome = "node_fail";
    }
}

void controller_pod_take(struct controller *controller, const json_t *pod, bool deleted, bool adopt)
{
    struct pod_record *record =
        pod_store_find(&controller->store, object_text(pod, "metadata", "uid", NULL));
    if (record == NULL) {
        record = record_create(controller, pod, adopt);
    }
    if (record == NULL) {
        return;
    }
    const int64_t now_s = client_clock_wall_ms() / 1000;
    const struct pod_end before = record->facts.end;
    (void)pod_facts_read(pod, controller->parts->table, deleted, now_s, &record->facts);
    if (record->facts.placed && !is_told(record)) {
        allocated_read(controller, record, pod);
    }
    record->listed = true;
    record->seen_s = now_s;
    record->gone = deleted;
    const bool news = record->facts.end.at_s != before.at_s;
    if (news || deleted) {
        record->retry_ms = 0;
        record->failures = 0;
    }
    if (deleted) {
        blame_node(controller, record);
        keep_on_disk(controller, record);
    }
    mark_dirty(controller, record);
    if (pod_record_is_done(record)) {
        (void)controller_forget(controller, record);
    }
    counter_set(COUNTER_PODS, (int64_t)controller->store.count);
}

void controller_pod_vanished(struct controller *controller,
                             struct pod_record *record,
                             int64_t seen_s)
{
    record->gone = true;
    if (record->facts.end.at_s == 0) {
        const int64_t started_s = pod_started_s(&record->facts);
        record->facts.end = (struct pod_end){.at_s = seen_s > started_s ? seen_s : started_s,
                                             .outcome = "cancelled",
                                             .evidence = EVIDENCE_LAST_SEEN};
        if (record->facts.end.at_s == 0) {
            record->facts.end.at_s = client_clock_wall_ms() / 1000;
        }
    }
    keep_on_disk(controller, record);
    mark_dirty(controller, record);
}

/* ---- the watch's events */

static void on_list_begin(void *context)
{
    struct controller *controller = context;
    pthread_mutex_lock(&controller->lock);
    for (struct pod_record *record = pod_store_next(&controller->store, NULL); record != NULL;
         record = pod_store_next(&controller->store, record)) {
        record->listed = false;
    }
    pthread_mutex_unlock(&controller->lock);
}

static void on_change(void *context, const json_t *pod, bool deleted)
{
    struct controller *controller = context;
    pthread_mutex_lock(&controller->lock);
    controller_pod_take(controller, pod, deleted, false);
    pthread_mutex_unlock(&controller->lock);
    counter_add(COUNTER_EVENTS, 1);
}

static void on_item(void *context, const json_t *pod)
{
    on_change(context, pod, false);
}

static void on_list_end(void *context)
{
    struct controller *controller = context;
    pthread_mutex_lock(&controller->lock);
    struct pod_record *record = pod_store_next(&controller->store, NULL);
    while (record != NULL) {
        if (!record->listed && !record->gone) {
            const int64_t seen_s =
                controller->alive_s > record->seen_s ? controller->alive_s : record->seen_s;
            controller_pod_vanished(controller, record, seen_s);
        }
        record = pod_record_is_done(record) ? controller_forget(controller, record)
                                            : pod_store_next(&controller->store, record);
    }
    controller->listed = true;
    controller->sweep = true;
    controller_wake(controller);
    pthread_mutex_unlock(&controller->lock);
    counter_add(COUNTER_LISTS, 1);
}

static void on_alive(void *context)
{
    struct controller *controller = context;
    pthread_mutex_lock(&controller->lock);
    controller->alive_s = client_clock_wall_ms() / 1000;
    pthread_mutex_unlock(&controller->lock);
}

const struct watch_events controller_pod_events = {.list_begin = on_list_begin,
                                                   .item = on_item,
                                                   .list_end = on_list_end,
                                                   .change = on_change,
                                                   .alive = on_alive};

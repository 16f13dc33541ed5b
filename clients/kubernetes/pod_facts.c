/* The life of a pod: see pod_facts.h. */
#include "clients/kubernetes/pod_facts.h"

#include <string.h>

#include "clients/kubernetes/names.h"
#include "clients/kubernetes/object.h"

static const char *const evidence_names[] = {
    [EVIDENCE_CONTAINERS] = "containers_finished",
    [EVIDENCE_DISRUPTED] = "disrupted",
    [EVIDENCE_STATUS] = "status_written",
    [EVIDENCE_DELETION] = "deleted",
    [EVIDENCE_NODE_LOST] = "node_lost",
    [EVIDENCE_LAST_SEEN] = "last_seen",
    [EVIDENCE_RECEIPT] = "received",
};

/* Words in which Kubernetes tells why a pod ended, where they stand, and the outcome they are. The first that is found wins. */
static const struct reason {
    const char *reason;
    const char *outcome;
} reasons[] = {
    {"DeadlineExceeded", "deadline"},          /* pod: activeDeadlineSeconds */
    {"PreemptionByScheduler", "preempted"},    /* DisruptionTarget */
    {"Preempting", "preempted"},               /* critical pod admission by the kubelet */
    {"EvictionByEvictionAPI", "preempted"},    /* DisruptionTarget: drained */
    {"TerminationByKubelet", "preempted"},     /* DisruptionTarget: node pressure, shutdown */
    {"Evicted", "preempted"},                  /* status.reason: node pressure */
    {"DeletionByTaintManager", "node_fail"},   /* DisruptionTarget */
    {"DeletionByPodGC", "node_fail"},          /* DisruptionTarget: the node is gone */
    {"NodeLost", "node_fail"},                 /* status.reason */
    {"NodeShutdown", "node_fail"},             /* status.reason */
    {"Shutdown", "node_fail"},                 /* status.reason, before 1.22 */
    {"Terminated", "node_fail"},               /* status.reason: node shutdown */
    {"UnexpectedAdmissionError", "boot_fail"}, /* status.reason: the device could not be given */
    {"NodeAffinity", "boot_fail"},             /* status.reason: refused by the kubelet */
    {"OutOfcpu", "boot_fail"},
    {"OutOfmemory", "boot_fail"},
    {"OutOfpods", "boot_fail"},
    {"OOMKilled", "oom"}, /* a container's */
};

const char *pod_evidence_name(enum pod_evidence evidence)
{
    return evidence_names[evidence];
}

int64_t pod_started_s(const struct pod_facts *facts)
{
    return facts->scheduled_s > 0 ? facts->scheduled_s : facts->created_s;
}

static const char *reason_outcome(const char *reason)
{
    for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++) {
        if (strcmp(reasons[i].reason, reason) == 0) {
            return reasons[i].outcome;
        }
    }
    return NULL;
}

/* ---- containers */

/* Also by a share alone: some kinds have no count. */
static bool names_accelerator(const json_t *amounts, const struct resource_table *table)
{
    const char *name;
    json_t *amount;
    json_object_foreach((json_t *)(uintptr_t)amounts, name, amount)
    {
        size_t at;
        enum resource_part part;
        const char *rest;
        const char *text = json_string_value(amount);
        if (resource_table_find(table, name, &at, &part, &rest) &&
            (text == NULL || strcmp(text, "0") != 0)) {
            return true;
        }
    }
    return false;
}

bool pod_container_is_accelerated(const json_t *container, const struct resource_table *table)
{
    return names_accelerator(object_get(container, "resources", "limits", NULL), table) ||
           names_accelerator(object_get(container, "resources", "requests", NULL), table);
}

static const json_t *status_of(const json_t *statuses, const char *name)
{
    size_t index;
    json_t *status;
    json_array_foreach(statuses, index, status)
    {
        if (strcmp(object_text(status, "name", NULL), name) == 0) {
            return status;
        }
    }
    return NULL;
}

/* The ends of the accelerator containers of one kind. */
struct finish {
    int64_t last_s;     /* the latest end */
    bool all;           /* every one of them has ended */
    const char *reason; /* the last one's, where it says an outcome */
};

static void finish_add(struct finish *finish, const json_t *status, bool may_restart)
{
    const json_t *terminated = object_get(status, "state", "terminated", NULL);
    const int64_t finished_s = object_time(terminated, "finishedAt");
    if (finished_s == 0) {
        finish->all = false;
        return;
    }
    if (may_restart) {
        finish->all = false; /* until the pod is over */
    }
    if (finished_s > finish->last_s) {
        finish->last_s = finished_s;
    }
    const char *reason = object_text(terminated, "reason", NULL);
    if (reason_outcome(reason) != NULL) {
        finish->reason = reason;
    }
}

/* Whether the kubelet starts a container again that ended so. */
static bool may_restart(const json_t *pod, const json_t *container, const json_t *status)
{
    if (strcmp(object_text(container, "restartPolicy", NULL), "Always") == 0) {
        return true; /* a sidecar */
    }
    const char *policy = object_text(pod, "spec", "restartPolicy", NULL);
    if (strcmp(policy, "Never") == 0) {
        return false;
    }
    const json_t *code = object_get(status, "state", "terminated", "exitCode", NULL);
    return strcmp(policy, "OnFailure") != 0 || json_integer_value(code) != 0;
}

static void finish_scan(const json_t *pod,
                        const struct resource_table *table,
                        const char *list,
                        const char *statuses,
                        struct finish *finish)
{
    size_t index;
    json_t *container;
    json_array_foreach(object_get(pod, "spec", list, NULL), index, container)
    {
        if (!pod_container_is_accelerated(container, table)) {
            continue;
        }
        const json_t *status = status_of(object_get(pod, "status", statuses, NULL),
                                         object_text(container, "name", NULL));
        finish_add(finish, status, may_restart(pod, container, status));
    }
}

static struct finish pod_finish(const json_t *pod, const struct resource_table *table)
{
    struct finish finish = {.last_s = 0, .all = true, .reason = ""};
    finish_scan(pod, table, "containers", "containerStatuses", &finish);
    struct finish init = finish;
    finish_scan(pod, table, "initContainers", "initContainerStatuses", &init);
    /* An init container that ended says nothing about the containers after it. */
    finish.all = finish.all && finish.last_s > 0 && init.all;
    if (init.last_s > finish.last_s) {
        finish.last_s = init.last_s;
    }
    finish.reason = init.reason;
    return finish;
}

/* ---- the end */

/* When the terminal phase or its reason was written: the latest entry of managedFields that owns it. */
static int64_t status_written_s(const json_t *pod)
{
    int64_t written_s = 0;
    size_t index;
    json_t *entry;
    json_array_foreach(object_get(pod, "metadata", "managedFields", NULL), index, entry)
    {
        if (object_get(entry, "fieldsV1", "f:status", "f:phase", NULL) == NULL) {
            continue;
        }
        const int64_t time_s = object_time(entry, "time");
        if (time_s > written_s) {
            written_s = time_s;
        }
    }
    return written_s;
}

/* Whether someone asked for the deletion before the containers ended. A pod that failed and was tidied up later has failed. */
static bool is_cancelled(const struct pod_facts *facts, int64_t finished_s, bool deleted)
{
    if (finished_s == 0 || facts->deletion_s == 0) {
        return deleted || facts->deletion_s > 0;
    }
    const int64_t asked_s = facts->deletion_s - (facts->grace_s > 0 ? facts->grace_s : 0);
    return asked_s <= finished_s;
}

static const char *end_outcome(const json_t *pod,
                               const struct finish *finish,
                               const struct pod_facts *facts,
                               bool deleted)
{
    const json_t *disruption = object_condition(pod, "DisruptionTarget");
    const char *phase = object_text(pod, "status", "phase", NULL);
    const char *outcome = reason_outcome(object_text(pod, "status", "reason", NULL));
    if (outcome == NULL && object_condition_is(disruption, "True")) {
        outcome = reason_outcome(object_text(disruption, "reason", NULL));
    }
    if (outcome == NULL) {
        outcome = reason_outcome(finish->reason);
    }
    if (outcome != NULL) {
        return outcome;
    }
    if (strcmp(phase, "Succeeded") == 0) {
        return "completed";
    }
    if (strcmp(phase, "Failed") != 0 && !deleted) {
        return "completed"; /* its accelerator containers have ended, others go on */
    }
    return is_cancelled(facts, finish->last_s, deleted) ? "cancelled" : "failed";
}

/* The end's time and evidence. finish: of the containers. */
static struct pod_end end_find(const json_t *pod,
                               const struct finish *finish,
                               bool deleted,
                               const struct pod_facts *facts,
                               int64_t now_s)
{
    const char *phase = object_text(pod, "status", "phase", NULL);
    const bool over = strcmp(phase, "Succeeded") == 0 || strcmp(phase, "Failed") == 0;
    const json_t *disruption = object_condition(pod, "DisruptionTarget");
    const int64_t disrupted_s =
        object_condition_is(disruption, "True") ? object_time(disruption, "lastTransitionTime") : 0;
    const int64_t written_s = over ? status_written_s(pod) : 0;
    struct pod_end end = {.outcome = end_outcome(pod, finish, facts, deleted)};
    if (!over && !deleted && !finish->all) {
        return end;
    }
    const struct {
        bool known;
        int64_t at_s;
        enum pod_evidence evidence;
    } choices[] = {
        {finish->last_s > 0 && (over || finish->all), finish->last_s, EVIDENCE_CONTAINERS},
        {disrupted_s > 0, disrupted_s, EVIDENCE_DISRUPTED},
        {written_s > 0, written_s, EVIDENCE_STATUS},
        {facts->deletion_s > 0 && facts->deletion_s <= now_s, facts->deletion_s, EVIDENCE_DELETION},
        {true, now_s, EVIDENCE_RECEIPT},
    };
    for (size_t i = 0; end.at_s == 0; i++) {
        if (choices[i].known) {
            end.at_s = choices[i].at_s;
            end.evidence = choices[i].evidence;
        }
    }
    return end;
}

/* ---- reading */

static bool is_gated(const json_t *pod)
{
    size_t index;
    json_t *gate;
    json_array_foreach(object_get(pod, "spec", "schedulingGates", NULL), index, gate)
    {
        if (strcmp(object_text(gate, "name", NULL), NAME_GATE) == 0) {
            return true;
        }
    }
    return false;
}

static void times_read(const json_t *pod, struct pod_facts *facts)
{
    const json_t *metadata = object_get(pod, "metadata", NULL);
    const json_t *scheduled = object_condition(pod, "PodScheduled");
    const json_t *ready = object_condition(pod, "Ready");
    const json_t *grace = object_get(metadata, "deletionGracePeriodSeconds", NULL);
    facts->created_s = object_time(metadata, "creationTimestamp");
    facts->deletion_s = object_time(metadata, "deletionTimestamp");
    facts->grace_s = json_is_integer(grace) ? json_integer_value(grace) : -1;
    facts->ready_lost_s =
        object_condition_is(ready, "False") ? object_time(ready, "lastTransitionTime") : 0;
    if (object_condition_is(scheduled, "True")) {
        facts->scheduled_s = object_time(scheduled, "lastTransitionTime");
    } else if (facts->scheduled_s == 0) {
        facts->scheduled_s = object_time(object_get(pod, "status", NULL), "startTime");
    }
}

bool pod_facts_read(const json_t *pod,
                    const struct resource_table *table,
                    bool deleted,
                    int64_t now_s,
                    struct pod_facts *facts)
{
    const char *uid = object_text(pod, "metadata", "uid", NULL);
    if (uid[0] == '\0' || strlen(uid) >= POD_UID_BYTES) {
        return false;
    }
    object_copy(facts->uid, uid, sizeof facts->uid);
    object_copy(facts->namespace, object_text(pod, "metadata", "namespace", NULL),
                sizeof facts->namespace);
    object_copy(facts->name, object_text(pod, "metadata", "name", NULL), sizeof facts->name);
    object_copy(facts->node, object_text(pod, "spec", "nodeName", NULL), sizeof facts->node);
    times_read(pod, facts);
    facts->gated = is_gated(pod);
    facts->placed = facts->node[0] != '\0';
    facts->time_limit_s =
        json_integer_value(object_get(pod, "spec", "activeDeadlineSeconds", NULL));
    const struct finish finish = pod_finish(pod, table);
    const struct pod_end end = end_find(pod, &finish, deleted, facts, now_s);
    const bool better =
        end.at_s > 0 && (facts->end.at_s == 0 || end.evidence < facts->end.evidence);
    if (better) {
        facts->end = end;
    }
    return true;
}

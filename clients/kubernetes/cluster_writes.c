/* Requests that change a cluster: see cluster_writes.h. */
#include "clients/kubernetes/cluster_writes.h"

#include <stdio.h>
#include <string.h>

#include "clients/clock.h"
#include "clients/kubernetes/agent_log.h"
#include "clients/kubernetes/names.h"
#include "clients/kubernetes/object.h"
#include "clients/units.h"

enum { PATH_BYTES = 512, MESSAGE_BYTES = 1024 };

static void pod_path(const struct pod_facts *facts, char *ret_path)
{
    (void)snprintf(ret_path, PATH_BYTES, "/api/v1/namespaces/%s/pods/%s", facts->namespace,
                   facts->name);
}

static bool is_gone(int status, const json_t *pod, const struct pod_facts *facts)
{
    return status == 404 ||
           (status == 200 && strcmp(object_text(pod, "metadata", "uid", NULL), facts->uid) != 0);
}

/* The place of our gate in an existing pod, -1 without. */
static int gate_index(const json_t *pod)
{
    size_t index;
    json_t *gate;
    json_array_foreach(object_get(pod, "spec", "schedulingGates", NULL), index, gate)
    {
        if (strcmp(object_text(gate, "name", NULL), NAME_GATE) == 0) {
            return (int)index;
        }
    }
    return -1;
}

static bool gate_patch(struct api_caller *caller, const struct pod_facts *facts, int index)
{
    char path[PATH_BYTES];
    char gate[64];
    char name[80];
    pod_path(facts, path);
    (void)snprintf(gate, sizeof gate, "/spec/schedulingGates/%d", index);
    (void)snprintf(name, sizeof name, "%s/name", gate);
    json_t *patch = json_pack("[{s:s, s:s, s:s}, {s:s, s:s, s:s}, {s:s, s:s}]", "op", "test",
                              "path", "/metadata/uid", "value", facts->uid, "op", "test", "path",
                              name, "value", NAME_GATE, "op", "remove", "path", gate);
    const struct api_request request = {.method = "PATCH",
                                        .path = path,
                                        .content_type = "application/json-patch+json",
                                        .body = patch};
    const int status = patch == NULL ? 0 : api_call(caller, &request, NULL);
    json_decref(patch);
    return status == 200;
}

bool cluster_gate_lift(struct api_caller *caller, const struct pod_facts *facts)
{
    char path[PATH_BYTES];
    pod_path(facts, path);
    const struct api_request request = {.method = "GET", .path = path};
    json_t *pod = NULL;
    const int status = api_call(caller, &request, &pod);
    const int index = status == 200 ? gate_index(pod) : -1;
    bool done = is_gone(status, pod, facts) || (status == 200 && index < 0);
    json_decref(pod);
    if (!done && index >= 0) {
        done = gate_patch(caller, facts, index);
    }
    return done;
}

bool cluster_pod_delete(struct api_caller *caller, const struct pod_facts *facts)
{
    char path[PATH_BYTES];
    pod_path(facts, path);
    json_t *options = json_pack("{s:s, s:s, s:{s:s}}", "apiVersion", "v1", "kind", "DeleteOptions",
                                "preconditions", "uid", facts->uid);
    const struct api_request request = {.method = "DELETE", .path = path, .body = options};
    const int status = options == NULL ? 0 : api_call(caller, &request, NULL);
    json_decref(options);
    /* 409: the precondition failed, it is another pod by now. */
    return status == 200 || status == 202 || status == 404 || status == 409;
}

static json_t *event_object(const struct pod_facts *facts,
                            const char *type,
                            const char *reason,
                            const char *message)
{
    char name[300];
    char now[COREHOUR_UNITS_TEXT_BYTES];
    char text[MESSAGE_BYTES];
    const int64_t now_ms = client_clock_wall_ms();
    corehour_time_format(now_ms / 1000, now);
    object_copy(text, message, sizeof text);
    (void)snprintf(name, sizeof name, "%.230s.%llx", facts->name, (unsigned long long)now_ms);
    return json_pack(
        "{s:s, s:s, s:{s:s, s:s}, s:{s:s, s:s, s:s, s:s, s:s}, s:s, s:s, s:s, s:{s:s}, s:s, s:s, s:s, "
        "s:s, s:i}",
        "apiVersion", "v1", "kind", "Event", "metadata", "name", name, "namespace",
        facts->namespace, "involvedObject", "apiVersion", "v1", "kind", "Pod", "namespace",
        facts->namespace, "name", facts->name, "uid", facts->uid, "type", type, "reason", reason,
        "message", text, "source", "component", NAME_COMPONENT, "reportingComponent",
        NAME_COMPONENT, "reportingInstance", NAME_COMPONENT, "firstTimestamp", now, "lastTimestamp",
        now, "count", 1);
}

void cluster_event(struct api_caller *caller,
                   const struct pod_facts *facts,
                   const char *type,
                   const char *reason,
                   const char *message)
{
    char path[PATH_BYTES];
    (void)snprintf(path, sizeof path, "/api/v1/namespaces/%s/events", facts->namespace);
    json_t *event = event_object(facts, type, reason, message);
    const struct api_request request = {.method = "POST", .path = path, .body = event};
    const int status = event == NULL ? 0 : api_call(caller, &request, NULL);
    json_decref(event);
    if (status != 201) {
        agent_log("info", "event_not_told", "namespace", facts->namespace, "pod", facts->name,
                  "reason", reason, NULL);
    }
}

enum cluster_presence cluster_pod_get(struct api_caller *caller,
                                      const struct pod_facts *facts,
                                      json_t **ret_pod)
{
    char path[PATH_BYTES];
    pod_path(facts, path);
    const struct api_request request = {.method = "GET", .path = path};
    json_t *pod = NULL;
    const int status = api_call(caller, &request, &pod);
    *ret_pod = NULL;
    if (status == 200 && !is_gone(status, pod, facts)) {
        *ret_pod = pod;
        return CLUSTER_THERE;
    }
    const bool gone = is_gone(status, pod, facts);
    json_decref(pod);
    return gone ? CLUSTER_ABSENT : CLUSTER_SILENT;
}

bool cluster_node_is_lost(struct api_caller *caller, const char *node)
{
    char path[PATH_BYTES];
    (void)snprintf(path, sizeof path, "/api/v1/nodes/%s", node);
    const struct api_request request = {.method = "GET", .path = path};
    json_t *object = NULL;
    const int status = api_call(caller, &request, &object);
    const bool lost =
        status == 404 ||
        (status == 200 && !object_condition_is(object_condition(object, "Ready"), "True"));
    json_decref(object);
    return lost;
}

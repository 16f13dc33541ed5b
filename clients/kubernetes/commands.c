/* Bodies of commands: see commands.h. */
#include "clients/kubernetes/commands.h"

#include <stdio.h>
#include <string.h>

#include "clients/kubernetes/object.h"
#include "clients/units.h"

void command_hold_id(const char *uid, char *ret_hold)
{
    (void)snprintf(ret_hold, HOLD_ID_BYTES, "pod-%.60s", uid);
}

/* "<namespace>/<name>", cut to what a job's name may be. */
static void job_name(const char *namespace, const char *name, char *ret_text, size_t bytes)
{
    char text[512];
    (void)snprintf(text, sizeof text, "%.64s/%.253s", namespace, name);
    object_copy(ret_text, text, bytes);
}

static void set_time(json_t *body, const char *member, int64_t time_s)
{
    char text[COREHOUR_UNITS_TEXT_BYTES];
    corehour_time_format(time_s, text);
    json_object_set_new(body, member, json_string(text));
}

/* What freeze and charge have in common. */
static json_t *pod_body(const struct command_pod *pod)
{
    char hold[HOLD_ID_BYTES];
    char name[129];
    command_hold_id(pod->uid, hold);
    job_name(pod->namespace, pod->name, name, sizeof name);
    json_t *body = json_pack("{s:s, s:s, s:s, s:s, s:{s:s}, s:O}", "id", hold, "cluster",
                             pod->cluster, "account", pod->account, "user", pod->user, "job",
                             "name", name, "resources", pod->resources);
    if (body != NULL && pod->qos[0] != '\0') {
        json_object_set_new(json_object_get(body, "job"), "qos", json_string(pod->qos));
    }
    return body;
}

json_t *command_freeze(const struct command_pod *pod, const char *on_insufficient, int64_t ttl_s)
{
    json_t *body = pod_body(pod);
    if (body == NULL) {
        return NULL;
    }
    json_object_set_new(body, "mode", json_string(pod->time_limit_s > 0 ? "full" : "window"));
    json_object_set_new(body, "on_insufficient", json_string(on_insufficient));
    if (pod->time_limit_s > 0) {
        json_object_set_new(body, "time_limit_s", json_integer(pod->time_limit_s));
    }
    if (ttl_s > 0) {
        json_object_set_new(body, "ttl_s", json_integer(ttl_s));
    }
    return body;
}

json_t *command_bind(const struct pod_facts *facts)
{
    char text[512];
    char job_id[65];
    (void)snprintf(text, sizeof text, "%.64s:%.253s", facts->namespace, facts->name);
    object_copy(job_id, text, sizeof job_id);
    return json_pack("{s:s, s:s}", "job_id", job_id, "job_key", facts->uid);
}

/* Where and as what a run went. */
static void set_run(json_t *body, const struct pod_facts *facts)
{
    json_object_set_new(body, "run_key", json_string(facts->uid));
    if (facts->node[0] != '\0') {
        json_object_set_new(body, "hosts", json_pack("[s]", facts->node));
    }
}

json_t *command_start(const struct pod_facts *facts)
{
    json_t *body = json_object();
    if (body != NULL) {
        set_time(body, "started_at", pod_started_s(facts));
        set_run(body, facts);
    }
    return body;
}

/* A clock that differs between node and API server must not make a run of negative length. */
static int64_t ended_s(const struct pod_facts *facts, bool with_start)
{
    const int64_t started_s = pod_started_s(facts);
    return with_start && facts->end.at_s < started_s ? started_s : facts->end.at_s;
}

json_t *command_settle(const struct pod_facts *facts, bool with_start, const json_t *allocated)
{
    json_t *body = json_object();
    if (body == NULL) {
        return NULL;
    }
    if (with_start) {
        set_time(body, "started_at", pod_started_s(facts));
    }
    set_time(body, "ended_at", ended_s(facts, with_start));
    json_object_set_new(body, "outcome", json_string(facts->end.outcome));
    if (allocated != NULL) {
        json_object_set(body, "allocated", (json_t *)(uintptr_t)allocated);
    }
    set_run(body, facts);
    return body;
}

json_t *command_correct(const struct pod_facts *facts, const json_t *allocated)
{
    json_t *body = json_pack("{s:s, s:s, s:s}", "outcome", facts->end.outcome, "source",
                             "kubernetes", "reason", pod_evidence_name(facts->end.evidence));
    if (body == NULL) {
        return NULL;
    }
    set_time(body, "started_at", pod_started_s(facts));
    set_time(body, "ended_at", ended_s(facts, true));
    if (allocated != NULL) {
        json_object_set(body, "allocated", (json_t *)(uintptr_t)allocated);
    }
    return body;
}

json_t *command_release(const char *reason)
{
    return json_pack("{s:s}", "reason", reason);
}

json_t *command_charge(const struct command_pod *pod, const struct pod_facts *facts)
{
    json_t *body = pod_body(pod);
    if (body == NULL) {
        return NULL;
    }
    json_object_set_new(body, "job_key", json_string(pod->uid));
    set_time(body, "started_at", pod_started_s(facts));
    set_time(body, "ended_at", ended_s(facts, true));
    json_object_set_new(body, "outcome", json_string(facts->end.outcome));
    set_run(body, facts);
    return body;
}

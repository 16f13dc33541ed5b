/*
 * What no event tells: holds whose pod never came to be or vanished while nobody looked, pods on lost nodes, and that running
 * pods run. Of the worker's thread.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clients/clock.h"
#include "clients/kubernetes/agent_log.h"
#include "clients/kubernetes/commands.h"
#include "clients/kubernetes/controller_parts.h"
#include "clients/kubernetes/counters.h"
#include "clients/kubernetes/object.h"
#include "clients/kubernetes/spool.h"
#include "clients/units.h"
#include "clients/url.h"

enum { HEARTBEAT_RUNS = 4000, SWEEP_PAGE = 1000 };

/* ---- holds without a pod */

/* "<namespace>/<name>" of a hold's job. Returns false when it is none of ours. */
static bool hold_facts(const json_t *hold, struct pod_facts *ret_facts)
{
    const char *id = object_text(hold, "id", NULL);
    const char *job = object_text(hold, "job", "name", NULL);
    const char *slash = strchr(job, '/');
    if (strncmp(id, "pod-", 4) != 0 || strlen(id + 4) >= POD_UID_BYTES || slash == NULL ||
        (size_t)(slash - job) >= POD_NAMESPACE_BYTES) {
        return false;
    }
    *ret_facts = (struct pod_facts){.grace_s = -1};
    object_copy(ret_facts->uid, id + 4, sizeof ret_facts->uid);
    memcpy(ret_facts->namespace, job, (size_t)(slash - job));
    object_copy(ret_facts->name, slash + 1, sizeof ret_facts->name);
    return true;
}

static bool is_followed(struct controller *controller, const char *uid)
{
    pthread_mutex_lock(&controller->lock);
    const bool followed = pod_store_find(&controller->store, uid) != NULL;
    pthread_mutex_unlock(&controller->lock);
    return followed;
}

/* The hold's pod is gone and there is no record of it: make one, so that the same steps end it as any other. */
static void adopt_vanished(struct controller *controller,
                           const struct pod_facts *facts,
                           const json_t *hold)
{
    const char *state = object_text(hold, "state", NULL);
    const bool started = strcmp(state, "running") == 0 || strcmp(state, "suspended") == 0;
    int64_t seen_s = object_time(hold, "last_seen_at");
    if (seen_s == 0) {
        seen_s = object_time(hold, "bound_at");
    }
    pthread_mutex_lock(&controller->lock);
    struct pod_record *record = pod_store_find(&controller->store, facts->uid);
    if (record == NULL) {
        record = pod_store_add(&controller->store, facts->uid);
        if (record != NULL) {
            record->facts = *facts;
            record->facts.placed = started;
            record->hold = started ? POD_HOLD_RUNNING : POD_HOLD_FROZEN;
            record->rules.mode = NAMESPACE_ENFORCE;
            record->resources = json_object();
            controller_pod_vanished(controller, record, seen_s);
        }
    }
    pthread_mutex_unlock(&controller->lock);
    agent_log("info", "pod_vanished", "namespace", facts->namespace, "pod", facts->name, "uid",
              facts->uid, "state", state, NULL);
}

/* Whether an admission may still become a pod. */
static bool is_young(const struct controller *controller, const json_t *hold)
{
    const bool is_bound = json_is_string(object_get(hold, "bound_at", NULL));
    const int64_t age_s = client_clock_wall_ms() / 1000 - object_time(hold, "created_at");
    return !is_bound && age_s < controller->config->unseen_s;
}

static void hold_check(struct controller *controller, const json_t *hold)
{
    struct pod_facts facts;
    if (!hold_facts(hold, &facts) || is_young(controller, hold) ||
        is_followed(controller, facts.uid)) {
        return;
    }
    json_t *pod = NULL;
    const enum cluster_presence presence = cluster_pod_get(&controller->caller, &facts, &pod);
    if (presence == CLUSTER_ABSENT) {
        adopt_vanished(controller, &facts, hold);
    } else if (presence == CLUSTER_THERE) {
        /* In a namespace that does not take part any more: its hold is followed to its end. */
        pthread_mutex_lock(&controller->lock);
        controller_pod_take(controller, pod, false, true);
        pthread_mutex_unlock(&controller->lock);
    }
    json_decref(pod);
}

/* One page. ret_token: of the next, "" at the end; false without an answer. */
static bool page_check(struct controller *controller,
                       const char *state,
                       char *ret_token,
                       size_t bytes)
{
    char path[COREHOUR_URL_BYTES];
    char size[16];
    (void)snprintf(path, sizeof path, "/v1/holds");
    (void)snprintf(size, sizeof size, "%d", SWEEP_PAGE);
    bool ok = corehour_url_query(path, sizeof path, "cluster", controller->config->cluster.text) ==
                  COREHOUR_OK &&
              corehour_url_query(path, sizeof path, "state", state) == COREHOUR_OK &&
              corehour_url_query(path, sizeof path, "page_size", size) == COREHOUR_OK;
    if (ok && ret_token[0] != '\0') {
        ok = corehour_url_query(path, sizeof path, "page_token", ret_token) == COREHOUR_OK;
    }
    const struct corehour_request request = {.method = "GET", .path = path};
    struct corehour_answer answer;
    struct corehour_error error;
    if (!ok || corehour_call(controller->client, &request, &answer, &error) != COREHOUR_OK) {
        return false;
    }
    size_t index;
    json_t *hold;
    json_array_foreach(object_get(answer.body, "items", NULL), index, hold)
    {
        hold_check(controller, hold);
    }
    object_copy(ret_token, object_text(answer.body, "next_page_token", NULL), bytes);
    ok = answer.status == 200;
    corehour_answer_fini(&answer);
    return ok;
}

void controller_sweep(struct controller *controller)
{
    static const char *const states[] = {"frozen", "running", "waiting", "suspended"};
    bool ok = true;
    for (size_t i = 0; ok && i < sizeof states / sizeof states[0]; i++) {
        char token[1024] = "";
        do {
            ok = page_check(controller, states[i], token, sizeof token);
        } while (ok && token[0] != '\0' && !atomic_load(&controller->stopping));
    }
    if (ok) {
        counter_add(COUNTER_SWEEPS, 1);
    }
}

/* ---- heartbeats */

static json_t *heartbeat_runs(struct controller *controller, size_t skip)
{
    json_t *runs = json_array();
    size_t at = 0;
    pthread_mutex_lock(&controller->lock);
    for (struct pod_record *record = pod_store_next(&controller->store, NULL);
         record != NULL && json_array_size(runs) < HEARTBEAT_RUNS;
         record = pod_store_next(&controller->store, record)) {
        char hold[HOLD_ID_BYTES];
        const bool lives = record->facts.end.at_s == 0 && !record->gone;
        if (lives && record->hold == POD_HOLD_NONE && record->spooled) {
            record->seen_s = client_clock_wall_ms() / 1000;
            spool_touch(controller->config->spool_dir.text, record);
        }
        if (lives && record->hold == POD_HOLD_RUNNING && at++ >= skip) {
            command_hold_id(record->facts.uid, hold);
            json_array_append_new(runs, json_pack("{s:s}", "hold", hold));
        }
    }
    pthread_mutex_unlock(&controller->lock);
    return runs;
}

static void result_take(struct controller *controller, const json_t *result)
{
    const char *hold = object_text(result, "hold", NULL);
    const char *word = object_text(result, "result", NULL);
    const bool stops = strcmp(word, "stop") == 0;
    const bool is_unknown = strcmp(word, "unknown") == 0;
    if ((!stops && !is_unknown) || strncmp(hold, "pod-", 4) != 0) {
        return;
    }
    struct controller_told told = {.type = NULL};
    pthread_mutex_lock(&controller->lock);
    struct pod_record *record = pod_store_find(&controller->store, hold + 4);
    if (record != NULL && is_unknown) {
        record->hold = POD_HOLD_UNKNOWN;
    }
    if (record != NULL && stops && record->stop_ms == 0) {
        record->stop_ms = client_clock_mono_ms() + controller->config->stop_grace_s * 1000 + 1;
        controller_tell(
            record, "Warning", "CorehourStopping",
            "no core-hours are left for this pod: it will be deleted when the grace is over",
            &told);
    }
    pthread_mutex_unlock(&controller->lock);
    controller_tell_later(controller, &told);
}

/* Returns how many runs were sent, 0 when there are none or no answer. */
static size_t heartbeat_send(struct controller *controller, size_t skip)
{
    char now[COREHOUR_UNITS_TEXT_BYTES];
    corehour_time_format(client_clock_wall_ms() / 1000, now);
    json_t *runs = heartbeat_runs(controller, skip);
    const size_t count = json_array_size(runs);
    json_t *body = json_pack("{s:s, s:s, s:o}", "cluster", controller->config->cluster.text, "at",
                             now, "runs", runs);
    const struct corehour_request request = {
        .method = "POST", .path = "/v1/heartbeats", .body = body};
    struct corehour_answer answer;
    struct corehour_error error;
    size_t sent = 0;
    if (count > 0 && body != NULL &&
        corehour_call(controller->client, &request, &answer, &error) == COREHOUR_OK) {
        size_t index;
        json_t *result;
        json_array_foreach(object_get(answer.body, "results", NULL), index, result)
        {
            result_take(controller, result);
        }
        sent = answer.status == 200 ? count : 0;
        corehour_answer_fini(&answer);
    }
    json_decref(body);
    return sent;
}

void controller_heartbeat(struct controller *controller)
{
    size_t sent = 0;
    size_t more;
    do {
        more = heartbeat_send(controller, sent);
        sent += more;
    } while (more == HEARTBEAT_RUNS && !atomic_load(&controller->stopping));
}

/* ---- lost nodes, and pods without core-hours */

bool controller_is_overdue(const struct controller *controller, const struct pod_record *record)
{
    const struct pod_facts *facts = &record->facts;
    return facts->end.at_s == 0 && facts->placed && facts->deletion_s > 0 &&
           client_clock_wall_ms() / 1000 >= facts->deletion_s + controller->config->lost_after_s;
}

static void lost_take(struct controller *controller, const char *uid)
{
    pthread_mutex_lock(&controller->lock);
    struct pod_record *record = pod_store_find(&controller->store, uid);
    if (record != NULL && record->facts.end.at_s == 0) {
        struct pod_facts *facts = &record->facts;
        const int64_t asked_s = facts->deletion_s - (facts->grace_s > 0 ? facts->grace_s : 0);
        const bool was_seen_lost = facts->ready_lost_s > 0 && facts->ready_lost_s < asked_s;
        facts->end = (struct pod_end){.at_s = was_seen_lost ? facts->ready_lost_s : asked_s,
                                      .outcome = "node_fail",
                                      .evidence = EVIDENCE_NODE_LOST};
    }
    pthread_mutex_unlock(&controller->lock);
}

/* Copies the next record that something has to be done about; ret_stop: deleted, else its node is looked at. */
static bool check_next(struct controller *controller,
                       int64_t now_ms,
                       struct pod_facts *ret_facts,
                       bool *ret_stop)
{
    bool found = false;
    pthread_mutex_lock(&controller->lock);
    for (struct pod_record *record = pod_store_next(&controller->store, NULL);
         record != NULL && !found; record = pod_store_next(&controller->store, record)) {
        const bool lives = record->facts.end.at_s == 0 && !record->gone;
        *ret_stop = lives && record->stop_ms > 0 && record->stop_ms <= now_ms &&
                    record->facts.deletion_s == 0;
        found =
            *ret_stop || (controller_is_overdue(controller, record) && record->check_ms <= now_ms);
        if (found) {
            *ret_facts = record->facts;
            record->check_ms = now_ms + controller->config->sweep_s * 1000;
            record->stop_ms =
                *ret_stop ? now_ms + controller->config->sweep_s * 1000 : record->stop_ms;
        }
    }
    pthread_mutex_unlock(&controller->lock);
    return found;
}

void controller_check_pods(struct controller *controller)
{
    struct pod_facts facts;
    bool stops;
    const int64_t now_ms = client_clock_mono_ms();
    while (!atomic_load(&controller->stopping) && check_next(controller, now_ms, &facts, &stops)) {
        if (stops) {
            const bool done = cluster_pod_delete(&controller->caller, &facts);
            agent_log(done ? "info" : "warning", done ? "pod_deleted" : "pod_not_deleted",
                      "namespace", facts.namespace, "pod", facts.name, "uid", facts.uid, NULL);
        } else if (cluster_node_is_lost(&controller->caller, facts.node)) {
            lost_take(controller, facts.uid);
        }
    }
}

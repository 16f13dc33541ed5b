/* Holds without a Workload: see workload_sweep.h. */
#include "clients/kubernetes/workload_sweep.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clients/kubernetes/agent_log.h"
#include "clients/kubernetes/kueue.h"
#include "clients/kubernetes/object.h"
#include "clients/url.h"

enum { PATH_BYTES = 2048, TOKEN_BYTES = 1024, LINE_BYTES = 400, OK = 200 };

struct sweep {
    struct corehour_client *client;
    const char *cluster;
    workload_exists_fn exists;
    void *context;
    unsigned ended;
};

/* "wl-<uid>.<second>.<place>" -> uid */
static bool uid_of(const char *hold, char *ret_uid)
{
    static const char prefix[] = KUEUE_HOLD_PREFIX;
    const size_t bytes = strlen(prefix);
    const char *dot = strchr(hold, '.');
    if (strncmp(hold, prefix, bytes) != 0 || dot == NULL ||
        (size_t)(dot - hold) - bytes >= KUEUE_UID_BYTES) {
        return false;
    }
    memcpy(ret_uid, hold + bytes, (size_t)(dot - hold) - bytes);
    ret_uid[(size_t)(dot - hold) - bytes] = '\0';
    return true;
}

/* When it was last known to live, as the ledger writes it. */
static const char *last_seen(const json_t *hold)
{
    const char *seen = object_text(hold, "last_seen_at", NULL);
    const char *bound = object_text(hold, "bound_at", NULL);
    return seen[0] != '\0'    ? seen
           : bound[0] != '\0' ? bound
                              : object_text(hold, "created_at", NULL);
}

/* Release, then settle each task: what was released refuses it, which is right. NULL when memory is out. */
static char *lines_text(const struct sweep *sweep, const char *id, const char *ended, int64_t tasks)
{
    const size_t room = LINE_BYTES * (size_t)(tasks + 1);
    char *text = malloc(room);
    if (text == NULL) {
        return NULL;
    }
    size_t used = (size_t)snprintf(
        text, room,
        "{\"op\":\"release\",\"hold\":\"%.64s\",\"cluster\":\"%.64s\",\"reason\":\"workload is gone\"}\n",
        id, sweep->cluster);
    for (int64_t task = 0; task < tasks; task++) {
        used += (size_t)snprintf(
            text + used, room - used,
            "{\"op\":\"settle\",\"hold\":\"%.64s\",\"cluster\":\"%.64s\",\"task\":%lld,"
            "\"ended_at\":\"%.40s\",\"outcome\":\"other\"}\n",
            id, sweep->cluster, (long long)task, ended);
    }
    return text;
}

static void hold_end(struct sweep *sweep, const json_t *hold)
{
    const char *id = object_text(hold, "id", NULL);
    const char *ended = last_seen(hold);
    const int64_t tasks = json_integer_value(json_object_get(hold, "tasks"));
    char *text = tasks < 1 || tasks > KUEUE_PODS_MAX ? NULL : lines_text(sweep, id, ended, tasks);
    if (text == NULL) {
        return;
    }
    const struct corehour_request request = {.method = "POST",
                                             .path = "/v1/batch",
                                             .bytes = text,
                                             .bytes_count = strlen(text),
                                             .content_type = "application/x-ndjson"};
    struct corehour_answer answer;
    struct corehour_error error;
    if (corehour_call(sweep->client, &request, &answer, &error) == COREHOUR_OK) {
        sweep->ended += answer.status == OK ? 1 : 0;
        agent_log("info", "workload_vanished", "hold", id, "ended_at", ended, NULL);
        corehour_answer_fini(&answer);
    }
    free(text);
}

static void hold_check(struct sweep *sweep, const json_t *hold)
{
    char uid[KUEUE_UID_BYTES];
    if (uid_of(object_text(hold, "id", NULL), uid) && !sweep->exists(sweep->context, uid)) {
        hold_end(sweep, hold);
    }
}

/* One page. @token: of this page, "" for the first; then of the next, "" at the end. False without an answer. */
static bool page_check(struct sweep *sweep, const char *state, char *token)
{
    char path[PATH_BYTES];
    (void)snprintf(path, sizeof path, "/v1/holds");
    bool ok = corehour_url_query(path, sizeof path, "cluster", sweep->cluster) == COREHOUR_OK &&
              corehour_url_query(path, sizeof path, "state", state) == COREHOUR_OK &&
              (token[0] == '\0' ||
               corehour_url_query(path, sizeof path, "page_token", token) == COREHOUR_OK);
    const struct corehour_request request = {.method = "GET", .path = path};
    struct corehour_answer answer;
    struct corehour_error error;
    if (!ok || corehour_call(sweep->client, &request, &answer, &error) != COREHOUR_OK) {
        return false;
    }
    size_t index;
    json_t *hold;
    json_array_foreach(json_object_get(answer.body, "items"), index, hold)
    {
        hold_check(sweep, hold);
    }
    object_copy(token, object_text(answer.body, "next_page_token", NULL), TOKEN_BYTES);
    ok = answer.status == OK;
    corehour_answer_fini(&answer);
    return ok;
}

unsigned workload_sweep(struct corehour_client *client,
                        const char *cluster,
                        workload_exists_fn exists,
                        void *context)
{
    static const char *const states[] = {"frozen", "running"};
    struct sweep sweep = {client, cluster, exists, context, 0};
    for (size_t i = 0; i < sizeof states / sizeof states[0]; i++) {
        char token[TOKEN_BYTES] = "";
        while (page_check(&sweep, states[i], token) && token[0] != '\0') {
        }
    }
    return sweep.ended;
}

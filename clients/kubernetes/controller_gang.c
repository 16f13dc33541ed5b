/*
 * Gangs behind the gate: pods that belong together (gang.h) are frozen all at once or not at all, when all of them are there.
 * One atomic batch decides, so that two gangs never hold half of what each needs. Of the worker's thread.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clients/clock.h"
#include "clients/kubernetes/agent_log.h"
#include "clients/kubernetes/commands.h"
#include "clients/kubernetes/controller_parts.h"
#include "clients/kubernetes/object.h"
#include "clients/ndjson.h"

enum {
    GANG_RETRY_FIRST_MS = 15000,
    GANG_RETRY_LAST_MS = 60000,
    GANG_ABSENT_MS = 1000, /* pods that are still to come */
};

/* One gang that is due. */
struct gang_round {
    struct gang gang;
    int64_t members;  /* that live, frozen or not */
    int64_t unfrozen; /* of these */
    char **uids;      /* of the unfrozen ones, in the order of the lines */
    char *lines;
    size_t lines_bytes;
};

static bool is_gang_due(const struct pod_record *record, int64_t now_ms)
{
    return record->gang != NULL && pod_record_step(record) == POD_STEP_FREEZE &&
           record->retry_ms <= now_ms && record->user[0] != '\0';
}

static bool is_member(const struct pod_record *record, const struct gang *gang)
{
    return record->gang != NULL && !record->gone && record->facts.end.at_s == 0 &&
           strcmp(record->gang->key, gang->key) == 0;
}

/* The next gang with a pod that is due. */
static bool gang_next(struct controller *controller, struct gang *ret_gang)
{
    const int64_t now_ms = client_clock_mono_ms();
    bool found = false;
    pthread_mutex_lock(&controller->lock);
    for (struct pod_record *record = pod_store_next(&controller->store, NULL);
         record != NULL && !found; record = pod_store_next(&controller->store, record)) {
        if (is_gang_due(record, now_ms)) {
            *ret_gang = *record->gang;
            found = true;
        }
    }
    pthread_mutex_unlock(&controller->lock);
    return found;
}

/* How many pods it takes; 0 when nobody says. */
static int64_t size_find(struct controller *controller, const struct gang *gang)
{
    int64_t size = gang->size;
    if (size == 0) {
        const struct api_request request = {.method = "GET", .path = gang->path};
        json_t *object = NULL;
        if (api_call(&controller->caller, &request, &object) != 200 ||
            !gang_size_of_object(object, &size)) {
            size = 0;
        }
        json_decref(object);
    }
    return size;
}

static bool line_add(struct controller *controller,
                     struct gang_round *round,
                     const struct pod_record *record)
{
    const struct command_pod pod = {.cluster = controller->config->cluster.text,
                                    .account = record->rules.account,
                                    .user = record->user,
                                    .namespace = record->facts.namespace,
                                    .name = record->facts.name,
                                    .uid = record->facts.uid,
                                    .qos = record->qos,
                                    .resources = record->resources,
                                    .time_limit_s = record->facts.time_limit_s};
    json_t *body = command_freeze(&pod, "reject", 0);
    if (body != NULL) {
        json_object_set_new(body, "op", json_string("freeze"));
    }
    char *text = body == NULL ? NULL : json_dumps(body, JSON_COMPACT);
    json_decref(body);
    const size_t more = text == NULL ? 0 : strlen(text) + 1;
    char *longer = more == 0 ? NULL : realloc(round->lines, round->lines_bytes + more);
    if (longer != NULL) {
        round->lines = longer;
        memcpy(longer + round->lines_bytes, text, more - 1);
        longer[round->lines_bytes + more - 1] = '\n';
        round->lines_bytes += more;
        round->uids[round->unfrozen++] = strdup(record->facts.uid);
    }
    free(text);
    return longer != NULL;
}

/* Counts the members and writes the lines of those that are not frozen. False when memory is out. */
static bool round_fill(struct controller *controller, struct gang_round *round)
{
    bool ok = true;
    round->uids = calloc(GANG_SIZE_MAX, sizeof *round->uids);
    pthread_mutex_lock(&controller->lock);
    for (struct pod_record *record = pod_store_next(&controller->store, NULL);
         record != NULL && ok && round->uids != NULL;
         record = pod_store_next(&controller->store, record)) {
        if (!is_member(record, &round->gang)) {
            continue;
        }
        round->members++;
        const bool wants = pod_record_step(record) == POD_STEP_FREEZE && record->user[0] != '\0';
        ok = !wants || (round->unfrozen < GANG_SIZE_MAX && line_add(controller, round, record));
    }
    pthread_mutex_unlock(&controller->lock);
    return ok && round->uids != NULL;
}

static void round_free(struct gang_round *round)
{
    for (int64_t i = 0; i < round->unfrozen; i++) {
        free(round->uids[i]);
    }
    free(round->uids);
    free(round->lines);
}

/* Tells one member what became of it, and when it is looked at again. */
static void member_tell(struct controller *controller,
                        const char *uid,
                        const char *type,
                        const char *reason,
                        const char *message)
{
    struct controller_told told = {.type = NULL};
    pthread_mutex_lock(&controller->lock);
    struct pod_record *record = pod_store_find(&controller->store, uid);
    if (record != NULL) {
        controller_tell(record, type, reason, message, &told);
        if (strcmp(type, "Warning") == 0) {
            controller_retry(record, GANG_RETRY_FIRST_MS, GANG_RETRY_LAST_MS);
        } else {
            controller_retry(record, GANG_ABSENT_MS, GANG_RETRY_LAST_MS);
        }
    }
    pthread_mutex_unlock(&controller->lock);
    controller_tell_later(controller, &told);
}

static void wait_for_members(struct controller *controller,
                             const struct gang_round *round,
                             int64_t size)
{
    char message[160];
    if (size > 0) {
        (void)snprintf(message, sizeof message, "waits for its gang: %lld of %lld pods are there",
                       (long long)round->members, (long long)size);
    } else {
        (void)snprintf(message, sizeof message,
                       "waits for its gang: nothing says how many pods it has");
    }
    for (int64_t i = 0; i < round->unfrozen; i++) {
        member_tell(controller, round->uids[i], "Normal", "CorehourGang", message);
    }
}

static void member_frozen(struct controller *controller, const char *uid)
{
    pthread_mutex_lock(&controller->lock);
    struct pod_record *record = pod_store_find(&controller->store, uid);
    if (record != NULL) {
        record->frozen_here = true;
        record->hold = POD_HOLD_UNKNOWN;
        record->failures = 0;
        record->retry_ms = 0;
    }
    pthread_mutex_unlock(&controller->lock);
}

/* One line's answer to one member. */
static void answer_take(struct controller *controller, const char *uid, const json_t *body)
{
    const json_int_t status = json_integer_value(object_get(body, "status", NULL));
    const char *code = object_text(body, "code", NULL);
    const char *detail = object_text(body, "detail", NULL);
    if (status == 201 || strcmp(code, "id_reused") == 0) {
        member_frozen(controller, uid);
    } else if (strcmp(code, "rolled_back") == 0) {
        member_tell(controller, uid, "Warning", "CorehourGang",
                    "another pod of its gang does not fit");
    } else {
        member_tell(controller, uid, "Warning", "CorehourInsufficient",
                    detail[0] == '\0' ? code : detail);
    }
}

static void round_send(struct controller *controller, const struct gang_round *round)
{
    const struct corehour_request request = {.method = "POST",
                                             .path = "/v1/batch?atomic=true",
                                             .bytes = round->lines,
                                             .bytes_count = round->lines_bytes,
                                             .content_type = "application/x-ndjson"};
    struct corehour_answer answer;
    struct corehour_error error;
    if (corehour_call(controller->client, &request, &answer, &error) != COREHOUR_OK) {
        return; /* the next round, too, finds the ledger silent and waits */
    }
    const char *text = answer.text;
    json_t *body;
    for (int64_t i = 0; i < round->unfrozen && ndjson_next(&text, &body); i++) {
        if (body != NULL) {
            answer_take(controller, round->uids[i], body);
        }
        json_decref(body);
    }
    corehour_answer_fini(&answer);
}

void controller_gangs(struct controller *controller)
{
    struct gang_round round = {.members = 0};
    /* One gang a round: whatever comes of it, its pods are not due again before others had their turn. */
    if (!gang_next(controller, &round.gang)) {
        return;
    }
    const int64_t size = size_find(controller, &round.gang);
    if (round_fill(controller, &round)) {
        if (size == 0 || round.members < size) {
            wait_for_members(controller, &round, size);
        } else {
            agent_log("info", "gang_asked", "gang", round.gang.key, NULL);
            round_send(controller, &round);
        }
    }
    round_free(&round);
}

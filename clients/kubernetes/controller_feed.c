/*
 * The ledger's feed: promotions of waiting pods, and pods without core-hours (SPEC 5.4, 5.13). An event only makes the worker ask
 * again, so an event that comes twice or late does nothing. Where the feed was read up to stands in the spool.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "clients/clock.h"
#include "clients/kubernetes/agent_log.h"
#include "clients/kubernetes/controller_parts.h"
#include "clients/kubernetes/object.h"
#include "clients/url.h"

enum { POLL_S = 4, PAUSE_MS = 200 };

static void place_path(const struct controller *controller, char *ret_path, size_t bytes)
{
    (void)snprintf(ret_path, bytes, "%.300s/feed.seq", controller->config->spool_dir.text);
}

static int64_t place_read(const struct controller *controller)
{
    char path[512];
    long long place = 0;
    place_path(controller, path, sizeof path);
    FILE *file = fopen(path, "re");
    if (file != NULL) {
        if (fscanf(file, "%lld", &place) != 1) { /* NOLINT(cert-err34-c): anything else is 0 */
            place = 0;
        }
        (void)fclose(file);
    }
    return place;
}

static void place_write(const struct controller *controller, int64_t place)
{
    char path[512];
    char part[520];
    place_path(controller, path, sizeof path);
    (void)snprintf(part, sizeof part, "%s.part", path);
    FILE *file = fopen(part, "we");
    if (file == NULL) {
        return;
    }
    (void)fprintf(file, "%lld\n", (long long)place);
    if (fclose(file) == 0) {
        (void)rename(part, path);
    }
}

static void event_take(struct controller *controller, const json_t *event)
{
    const char *hold = object_text(event, "hold", NULL);
    const char *type = object_text(event, "type", NULL);
    const char *message = object_text(event, "message", NULL);
    if (strncmp(hold, "pod-", 4) != 0) {
        return;
    }
    agent_log("info", "feed", "type", type, "hold", hold, "message",
              message[0] == '\0' ? NULL : message, NULL);
    struct controller_told told = {.type = NULL};
    pthread_mutex_lock(&controller->lock);
    struct pod_record *record = pod_store_find(&controller->store, hold + 4);
    if (record != NULL && strcmp(type, "frozen") == 0) {
        record->frozen_here = true;
        record->hold = record->hold == POD_HOLD_WAITING ? POD_HOLD_UNKNOWN : record->hold;
        record->retry_ms = 0;
    } else if (record != NULL) {
        if (strcmp(type, "exhausted") == 0) {
            controller_tell(record, "Warning", "CorehourExhausted",
                            message[0] == '\0' ? "goes on without core-hours" : message, &told);
        }
        controller->beat = true; /* exhausted, stop: the next heartbeat's answer decides */
    }
    controller_wake(controller);
    pthread_mutex_unlock(&controller->lock);
    if (told.type != NULL) {
        cluster_event(&controller->feed_caller, &told.facts, told.type, told.reason, told.message);
    }
}

/* One poll. Returns false without a useful answer. */
static bool poll_once(struct controller *controller, int64_t *place)
{
    char path[COREHOUR_URL_BYTES];
    (void)snprintf(path, sizeof path, "/v1/clusters/%s/feed?after=%lld&wait_s=%d",
                   controller->config->cluster.text, (long long)*place, POLL_S);
    const struct corehour_request request = {.method = "GET", .path = path};
    struct corehour_answer answer;
    struct corehour_error error;
    if (corehour_call(controller->feed_client, &request, &answer, &error) != COREHOUR_OK) {
        return false;
    }
    size_t index;
    json_t *event;
    json_array_foreach(object_get(answer.body, "events", NULL), index, event)
    {
        event_take(controller, event);
    }
    const json_t *next = object_get(answer.body, "next_after", NULL);
    const bool ok = answer.status == 200 && json_is_integer(next);
    if (ok && json_integer_value(next) != *place) {
        *place = json_integer_value(next);
        place_write(controller, *place);
    }
    corehour_answer_fini(&answer);
    return ok;
}

void *controller_follow_feed(void *context)
{
    struct controller *controller = context;
    int64_t place = place_read(controller);
    while (!atomic_load(&controller->stopping)) {
        pthread_mutex_lock(&controller->lock);
        const bool acts = controller->leads && controller->listed;
        pthread_mutex_unlock(&controller->lock);
        if (!acts || !poll_once(controller, &place)) {
            client_clock_sleep_ms(PAUSE_MS);
        }
    }
    return NULL;
}

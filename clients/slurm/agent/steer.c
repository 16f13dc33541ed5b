/* SPDX-License-Identifier: MIT
 *
 * See steer.h. */
#include "clients/slurm/agent/steer.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "clients/slurm/agent/logs.h"
#include "clients/units.h"

enum {
    UNSEEN_S = 120 /* an event about a job that the queue does not show is given up after this */
};

struct event {
    const json_t *json;
    const char *hold;
    const char *message;
    int64_t at_s;
    struct indexes ranks; /* of its tasks; empty: all */
};

/* Does the event's work on one row. Returns whether more is to be done to it later. */
typedef bool (*act_fn)(struct steer *steer,
                       const struct event *event,
                       const struct queue_job *row,
                       int64_t now_s);

static void id_write(uint32_t id, char *ret_text, size_t size_bytes)
{
    (void)snprintf(ret_text, size_bytes, "%" PRIu32, id);
}

static void notify(struct steer *steer,
                   const struct queue_job *row,
                   const char *what,
                   const char *message)
{
    char id[16];
    char text[400];
    id_write(row->raw_id, id, sizeof id);
    (void)snprintf(text, sizeof text, "corehour: %s: %s", what, message);
    const char *const argv[] = {"scontrol", "notify", id, text, NULL};
    (void)steer->run(steer->context, argv);
}

/* The message where scontrol show job and sacct show it, then the end. */
static void cancel(struct steer *steer, const struct queue_job *row, const char *message)
{
    char id[16];
    char comment[400];
    id_write(row->raw_id, id, sizeof id);
    (void)snprintf(comment, sizeof comment, "Comment=corehour: cancelled: %s", message);
    const char *const update[] = {"scontrol", "update", "jobid", id, comment, NULL};
    const char *const end[] = {"scancel", id, NULL};
    (void)steer->run(steer->context, update);
    (void)steer->run(steer->context, end);
    logs_say(4, "job %s was cancelled: %s", id, message);
}

static bool act_frozen(struct steer *steer,
                       const struct event *event,
                       const struct queue_job *row,
                       int64_t now_s)
{
    char id[16];
    (void)event;
    (void)now_s;
    if (row->fate.kind != FATE_PENDING || row->priority != 0) {
        return false;
    }
    id_write(row->raw_id, id, sizeof id);
    const char *const argv[] = {"scontrol", "release", id, NULL};
    const bool released = steer->run(steer->context, argv);
    logs_say(released ? 6 : 4, "job %s %s: its core-hours are frozen", id,
             released ? "is released" : "could not be released yet");
    return !released;
}

static bool act_released(struct steer *steer,
                         const struct event *event,
                         const struct queue_job *row,
                         int64_t now_s)
{
    (void)now_s;
    if (row->fate.kind == FATE_PENDING) {
        cancel(steer, row, event->message);
    }
    return false;
}

static bool act_exhausted(struct steer *steer,
                          const struct event *event,
                          const struct queue_job *row,
                          int64_t now_s)
{
    (void)now_s;
    if (row->fate.kind == FATE_RUNNING) {
        notify(steer, row, "core-hours are used up", event->message);
    }
    return false;
}

static bool act_stop(struct steer *steer,
                     const struct event *event,
                     const struct queue_job *row,
                     int64_t now_s)
{
    char what[80];
    char grace[COREHOUR_UNITS_TEXT_BYTES];
    const int64_t left_s = event->at_s + steer->grace_s - now_s;
    if (row->fate.kind != FATE_RUNNING && row->fate.kind != FATE_SUSPENDED) {
        return false;
    }
    if (left_s <= 0) {
        cancel(steer, row, event->message);
        return false;
    }
    if (json_object_get(event->json, "told") == NULL) {
        corehour_duration_format(left_s, grace);
        (void)snprintf(what, sizeof what, "this job ends in %s", grace);
        notify(steer, row, what, event->message);
    }
    return true;
}

static const struct {
    const char *type;
    act_fn act;
} acts[] = {
    {"frozen", act_frozen},
    {"released", act_released},
    {"exhausted", act_exhausted},
    {"stop", act_stop},
};

static act_fn act_of(const json_t *event)
{
    const char *type = json_string_value(json_object_get(event, "type"));
    for (size_t i = 0; type != NULL && i < sizeof acts / sizeof acts[0]; i++) {
        if (strcmp(acts[i].type, type) == 0) {
            return acts[i].act;
        }
    }
    return NULL;
}

static const char *text_of(const json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));
    return text == NULL ? "" : text;
}

static struct event event_of(const json_t *json, int64_t now_s)
{
    struct event event = {
        .json = json, .hold = text_of(json, "hold"), .message = text_of(json, "message")};
    const char *tasks = text_of(json, "tasks");
    if (corehour_time_parse(text_of(json, "at"), now_s, &event.at_s) != COREHOUR_OK) {
        event.at_s = now_s;
    }
    if (*tasks != '\0') {
        (void)indexes_add(&event.ranks, tasks, strlen(tasks));
    }
    return event;
}

/* Whether the row has a task that the event is about. */
static bool is_about(const struct steer *steer,
                     const struct event *event,
                     const struct queue_job *row)
{
    struct indexes shown = {0};
    struct roll_job *job = roll_find((struct roll *)(uintptr_t)steer->roll, event->hold);
    bool found = event->ranks.count == 0 || !row->is_array || job == NULL;
    if (found || !indexes_add(&shown, row->indexes, strlen(row->indexes))) {
        indexes_fini(&shown);
        return found;
    }
    for (size_t i = 0; !found && i < shown.count; i++) {
        const int64_t rank = indexes_rank(&job->indexes, shown.values[i]);
        found = rank >= 0 && indexes_rank(&event->ranks, (uint32_t)rank) >= 0;
    }
    indexes_fini(&shown);
    return found;
}

/* Returns whether the event is done with. */
static bool event_do(struct steer *steer, json_t *json, const struct queue *queue, int64_t now_s)
{
    const act_fn act = act_of(json);
    bool more = false;
    bool seen = false;
    struct event event = event_of(json, now_s);
    for (size_t i = 0; act != NULL && i < queue->count; i++) {
        const struct queue_job *row = &queue->jobs[i];
        if (row->is_ours && strcmp(row->token.hold, event.hold) == 0 &&
            is_about(steer, &event, row)) {
            seen = true;
            more = act(steer, &event, row, now_s) || more;
        }
    }
    indexes_fini(&event.ranks);
    (void)json_object_set_new(json, "told", json_true());
    return act == NULL || (seen && !more) || (!seen && now_s - event.at_s > UNSEEN_S);
}

void steer_take(struct steer *steer, const json_t *events)
{
    size_t i;
    json_t *event;
    if (steer->events == NULL) {
        steer->events = json_array();
    }
    json_array_foreach(events, i, event)
    {
        const int64_t seq = json_integer_value(json_object_get(event, "seq"));
        if (seq > steer->last && json_array_append(steer->events, event) == 0) {
            steer->last = seq;
        }
    }
}

void steer_round(struct steer *steer, const struct queue *queue, int64_t now_s)
{
    for (size_t i = 0; i < json_array_size(steer->events);) {
        if (event_do(steer, json_array_get(steer->events, i), queue, now_s)) {
            (void)json_array_remove(steer->events, i);
        } else {
            i++;
        }
    }
}

int64_t steer_done(const struct steer *steer)
{
    const json_t *first = json_array_get(steer->events, 0);
    return first == NULL ? steer->last : json_integer_value(json_object_get(first, "seq")) - 1;
}

void steer_hold(struct steer *steer, uint32_t raw_id)
{
    char id[16];
    id_write(raw_id, id, sizeof id);
    const char *const argv[] = {"scontrol", "hold", id, NULL};
    if (steer->run(steer->context, argv)) {
        logs_say(6, "job %s was requeued and waits for core-hours: held", id);
    }
}

void steer_fini(struct steer *steer)
{
    json_decref(steer->events);
    steer->events = NULL;
}

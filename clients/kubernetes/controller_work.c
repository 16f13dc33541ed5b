/*
 * The worker: round after round it looks which records have a step, tells the ledger all of them in one batch, and takes the
 * answers over. The lock is never held while anybody is asked.
 */
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clients/clock.h"
#include "clients/kubernetes/agent_log.h"
#include "clients/kubernetes/commands.h"
#include "clients/kubernetes/controller_parts.h"
#include "clients/kubernetes/counters.h"
#include "clients/kubernetes/object.h"
#include "clients/kubernetes/spool.h"
#include "clients/ndjson.h"

enum {
    ROUND_STEPS = 2000, /* lines of a batch */
    ROUND_BYTES = 12 << 20,
    IDLE_MS = 250,
    DOWN_FIRST_MS = 250,
    DOWN_LAST_MS = 5000,
    TOLD_BURST = 32,
};

/* One line of a round. */
struct line {
    char uid[POD_UID_BYTES];
    enum pod_step step;
};

struct round {
    struct line lines[ROUND_STEPS];
    size_t count;
    char *text;
    size_t bytes;
    size_t room;
};

/* ---- who */

static bool wants_user(const struct pod_record *record)
{
    const enum pod_step step = pod_record_step(record);
    const bool runs_unheld =
        record->hold == POD_HOLD_NONE && record->facts.placed && !record->spooled;
    return record->user[0] == '\0' &&
           (step == POD_STEP_FREEZE || step == POD_STEP_CHARGE || (runs_unheld && !record->gone));
}

/* The next record that needs its human found. The lock is not held. */
static bool user_next(struct controller *controller,
                      struct pod_facts *ret_facts,
                      json_t **ret_relations)
{
    bool found = false;
    pthread_mutex_lock(&controller->lock);
    for (struct pod_record *record = pod_store_next(&controller->store, NULL);
         record != NULL && !found; record = pod_store_next(&controller->store, record)) {
        if (wants_user(record)) {
            *ret_facts = record->facts;
            *ret_relations = json_incref(record->relations);
            found = true;
        }
    }
    pthread_mutex_unlock(&controller->lock);
    return found;
}

static void users_find(struct controller *controller)
{
    struct pod_facts facts;
    json_t *relations;
    while (!atomic_load(&controller->stopping) && user_next(controller, &facts, &relations)) {
        char user[PEOPLE_NAME_BYTES];
        people_find(controller->parts->people, relations, facts.namespace, "", user);
        json_decref(relations);
        pthread_mutex_lock(&controller->lock);
        struct pod_record *record = pod_store_find(&controller->store, facts.uid);
        if (record != NULL) {
            object_copy(record->user, user, sizeof record->user);
        }
        pthread_mutex_unlock(&controller->lock);
    }
}

/* ---- building a round */

static json_t *step_body(struct controller *controller,
                         const struct pod_record *record,
                         enum pod_step step)
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
    const bool with_start = record->start_known || record->facts.scheduled_s > 0;
    switch (step) {
    case POD_STEP_FREEZE:
        return command_freeze(&pod, "wait", 0);
    case POD_STEP_BIND:
        return command_bind(&record->facts);
    case POD_STEP_START:
        return command_start(&record->facts);
    case POD_STEP_SETTLE:
        return command_settle(&record->facts, with_start, record->allocated);
    case POD_STEP_CORRECT:
        return command_correct(&record->facts, record->allocated);
    case POD_STEP_RELEASE:
        return command_release("the pod was deleted before it started");
    case POD_STEP_CHARGE:
        return command_charge(&pod, &record->facts);
    case POD_STEP_NONE:
    case POD_STEP_LIFT:
        return NULL;
    }
    return NULL;
}

static const char *const step_ops[] = {
    [POD_STEP_FREEZE] = "freeze", [POD_STEP_BIND] = "bind",       [POD_STEP_START] = "start",
    [POD_STEP_SETTLE] = "settle", [POD_STEP_CORRECT] = "correct", [POD_STEP_RELEASE] = "release",
    [POD_STEP_CHARGE] = "charge",
};

static bool text_append(struct round *round, const char *text)
{
    const size_t more = strlen(text) + 1;
    if (round->bytes + more > ROUND_BYTES) {
        return false;
    }
    if (round->bytes + more > round->room) {
        const size_t room = 2 * (round->bytes + more);
        char *longer = realloc(round->text, room);
        if (longer == NULL) {
            return false;
        }
        round->text = longer;
        round->room = room;
    }
    memcpy(round->text + round->bytes, text, more - 1);
    round->text[round->bytes + more - 1] = '\n';
    round->bytes += more;
    return true;
}

static bool line_append(struct controller *controller,
                        struct round *round,
                        const struct pod_record *record,
                        enum pod_step step)
{
    char hold[HOLD_ID_BYTES];
    json_t *body = step_body(controller, record, step);
    if (body == NULL) {
        return false;
    }
    json_object_set_new(body, "op", json_string(step_ops[step]));
    if (step != POD_STEP_FREEZE && step != POD_STEP_CHARGE) {
        command_hold_id(record->facts.uid, hold);
        json_object_set_new(body, "hold", json_string(hold));
    }
    char *text = json_dumps(body, JSON_COMPACT);
    json_decref(body);
    const bool ok = text != NULL && text_append(round, text);
    free(text);
    if (ok) {
        struct line *line = &round->lines[round->count++];
        memcpy(line->uid, record->facts.uid, sizeof line->uid);
        line->step = step;
    }
    return ok;
}

/* A correction only where the ends differ, which the ledger has to be asked first: not in a batch. */
static bool is_single(enum pod_step step)
{
    return step == POD_STEP_LIFT || step == POD_STEP_CORRECT;
}

/* Frozen with its gang (controller_gang.c). */
static bool is_ganged(const struct pod_record *record, enum pod_step step)
{
    return step == POD_STEP_FREEZE && record->gang != NULL;
}

/* Fills the round; returns how many records have a step, due or not. The lock is held. */
static int64_t round_fill(struct controller *controller, struct round *round)
{
    const int64_t now_ms = client_clock_mono_ms();
    int64_t pending = 0;
    struct pod_record *record = pod_store_next(&controller->store, NULL);
    while (record != NULL) {
        const enum pod_step step = pod_record_step(record);
        const bool unchecked = record->check_ms == 0 && controller_is_overdue(controller, record);
        pending += step != POD_STEP_NONE || unchecked;
        const bool due =
            step != POD_STEP_NONE && !is_single(step) && !is_ganged(record, step) &&
            record->retry_ms <= now_ms &&
            !(wants_user(record) && (step == POD_STEP_FREEZE || step == POD_STEP_CHARGE));
        if (due && round->count < ROUND_STEPS) {
            (void)line_append(controller, round, record, step);
        }
        if (record->hold == POD_HOLD_NONE && record->facts.placed && !record->spooled &&
            !record->gone && record->facts.end.at_s == 0) {
            (void)spool_put(controller->config->spool_dir.text, record, false);
        }
        record = pod_record_is_done(record) ? controller_forget(controller, record)
                                            : pod_store_next(&controller->store, record);
    }
    return pending;
}

/* ---- telling people */

void controller_tell_later(struct controller *controller, const struct controller_told *told)
{
    if (told->type != NULL && controller->told_count < TOLD_MAX) {
        controller->told[controller->told_count++] = *told;
    }
}

/* A few of those that wait, so that nothing else waits for them. */
static void told_send(struct controller *controller)
{
    for (unsigned i = 0; i < TOLD_BURST && controller->told_count > 0; i++) {
        const struct controller_told *told = &controller->told[--controller->told_count];
        cluster_event(&controller->caller, &told->facts, told->type, told->reason, told->message);
    }
}

/* ---- telling the ledger */

static void ledger_down(struct controller *controller, const char *why)
{
    const unsigned doublings = controller->ledger_failures < 6 ? controller->ledger_failures : 6;
    const int64_t wait_ms = DOWN_FIRST_MS << doublings;
    if (controller->ledger_failures == 0) {
        agent_log("warning", "ledger_silent", "why", why, NULL);
    }
    controller->ledger_failures++;
    controller->down_until_ms =
        client_clock_mono_ms() + (wait_ms < DOWN_LAST_MS ? wait_ms : DOWN_LAST_MS);
}

static void ledger_up(struct controller *controller)
{
    if (controller->ledger_failures > 0) {
        agent_log("info", "ledger_back", NULL, NULL);
    }
    controller->ledger_failures = 0;
}

static void line_take(struct controller *controller, const struct line *line, const json_t *body)
{
    struct controller_told told = {.type = NULL};
    const int status = (int)json_integer_value(object_get(body, "status", NULL));
    pthread_mutex_lock(&controller->lock);
    struct pod_record *record = pod_store_find(&controller->store, line->uid);
    if (record != NULL && pod_record_step(record) == line->step) {
        controller_result(controller, record, line->step, status, body, &told);
    }
    pthread_mutex_unlock(&controller->lock);
    controller_tell_later(controller, &told);
}

/* One answer for each line, in their order; what is cut off is asked again. */
static void answers_take(struct controller *controller, const struct round *round, const char *text)
{
    json_t *body;
    for (size_t i = 0; i < round->count && ndjson_next(&text, &body); i++) {
        if (body != NULL) {
            line_take(controller, &round->lines[i], body);
        }
        json_decref(body);
    }
}

static void round_send(struct controller *controller, const struct round *round)
{
    const struct corehour_request request = {.method = "POST",
                                             .path = "/v1/batch",
                                             .bytes = round->text,
                                             .bytes_count = round->bytes,
                                             .content_type = "application/x-ndjson"};
    struct corehour_answer answer;
    struct corehour_error error;
    if (corehour_call(controller->client, &request, &answer, &error) != COREHOUR_OK) {
        ledger_down(controller, error.detail);
        return;
    }
    if (answer.status == 200) {
        ledger_up(controller);
        answers_take(controller, round, answer.text);
    } else {
        ledger_down(controller, answer.text);
    }
    corehour_answer_fini(&answer);
}

/* ---- single steps */

static bool single_next(struct controller *controller,
                        struct pod_facts *ret_facts,
                        enum pod_step *ret_step)
{
    const int64_t now_ms = client_clock_mono_ms();
    bool found = false;
    pthread_mutex_lock(&controller->lock);
    for (struct pod_record *record = pod_store_next(&controller->store, NULL);
         record != NULL && !found; record = pod_store_next(&controller->store, record)) {
        const enum pod_step step = pod_record_step(record);
        if (is_single(step) && record->retry_ms <= now_ms) {
            *ret_facts = record->facts;
            *ret_step = step;
            /* Until the watch shows the change, or for the next try. */
            controller_retry(record, 1000, 30000);
            found = true;
        }
    }
    pthread_mutex_unlock(&controller->lock);
    return found;
}

/* Whether the ledger's run has this end, so that there is nothing to correct. */
static bool is_same_end(const json_t *hold, const struct pod_facts *facts)
{
    const json_t *run = json_array_get(object_get(hold, "runs", NULL), 0);
    const int64_t started_s = object_time(run, "started_at");
    return object_time(run, "ended_at") == facts->end.at_s &&
           (facts->scheduled_s == 0 || started_s == facts->scheduled_s);
}

static void correct(struct controller *controller, const struct pod_facts *facts)
{
    char hold[HOLD_ID_BYTES];
    char path[192];
    struct corehour_answer answer;
    struct corehour_error error;
    command_hold_id(facts->uid, hold);
    (void)snprintf(path, sizeof path, "/v1/holds/%s?cluster=%.64s", hold,
                   controller->config->cluster.text);
    const struct corehour_request request = {.method = "GET", .path = path};
    if (corehour_call(controller->client, &request, &answer, &error) != COREHOUR_OK) {
        ledger_down(controller, error.detail);
        return;
    }
    const bool same = answer.status == 200 && is_same_end(answer.body, facts);
    corehour_answer_fini(&answer);
    struct round *round = calloc(1, sizeof *round);
    pthread_mutex_lock(&controller->lock);
    struct pod_record *record = pod_store_find(&controller->store, facts->uid);
    if (record != NULL && same) {
        record->hold = POD_HOLD_SETTLED;
        spool_drop(controller->config->spool_dir.text, record);
    } else if (record != NULL && round != NULL) {
        (void)line_append(controller, round, record, POD_STEP_CORRECT);
    }
    pthread_mutex_unlock(&controller->lock);
    if (round != NULL && round->count > 0) {
        round_send(controller, round);
    }
    free(round == NULL ? NULL : round->text);
    free(round);
}

static void singles_run(struct controller *controller)
{
    struct pod_facts facts;
    enum pod_step step;
    while (!atomic_load(&controller->stopping) && single_next(controller, &facts, &step)) {
        if (step == POD_STEP_CORRECT) {
            correct(controller, &facts);
        } else if (cluster_gate_lift(&controller->caller, &facts)) {
            agent_log("info", "gate_lifted", "namespace", facts.namespace, "pod", facts.name, "uid",
                      facts.uid, NULL);
        }
    }
}

/* ---- rounds */

static bool is_ledger_asked(const struct controller *controller)
{
    return client_clock_mono_ms() >= controller->down_until_ms;
}

/* Returns whether something was done, so that there may be more. */
static bool round_run(struct controller *controller, struct round *round)
{
    round->count = 0;
    round->bytes = 0;
    users_find(controller);
    pthread_mutex_lock(&controller->lock);
    const int64_t pending = controller->leads ? round_fill(controller, round) : 0;
    counter_set(COUNTER_PENDING, pending);
    pthread_mutex_unlock(&controller->lock);
    if (round->count > 0 && is_ledger_asked(controller)) {
        round_send(controller, round);
        return true;
    }
    return false;
}

static void wait_for_work(const struct controller *controller)
{
    struct pollfd wake = {.fd = controller->wake_fd, .events = POLLIN};
    uint64_t wakes;
    if (poll(&wake, 1, IDLE_MS) == 1) {
        const ssize_t taken = read(controller->wake_fd, &wakes, sizeof wakes);
        (void)taken;
    }
}

static void timers_run(struct controller *controller)
{
    pthread_mutex_lock(&controller->lock);
    const bool acts = controller->leads && controller->listed;
    const int64_t now_ms = client_clock_mono_ms();
    const bool sweeps = acts && (controller->sweep || now_ms >= controller->sweep_ms);
    const bool beats = acts && (controller->beat || now_ms >= controller->heartbeat_ms);
    controller->sweep = controller->sweep && !sweeps;
    controller->beat = controller->beat && !beats;
    pthread_mutex_unlock(&controller->lock);
    if (acts) {
        controller_check_pods(controller);
    }
    if (sweeps && is_ledger_asked(controller)) {
        controller->sweep_ms = now_ms + controller->config->sweep_s * 1000;
        controller_sweep(controller);
    }
    if (beats && is_ledger_asked(controller)) {
        controller->heartbeat_ms = now_ms + controller->config->heartbeat_s * 1000;
        controller_heartbeat(controller);
    }
}

void *controller_work(void *context)
{
    struct controller *controller = context;
    struct round *round = calloc(1, sizeof *round);
    while (round != NULL && !atomic_load(&controller->stopping)) {
        if (!round_run(controller, round)) {
            singles_run(controller);
            if (is_ledger_asked(controller)) {
                controller_gangs(controller);
            }
            timers_run(controller);
            told_send(controller);
            wait_for_work(controller);
        }
    }
    while (controller->told_count > 0 && controller->told_count < TOLD_BURST) {
        told_send(controller); /* few enough for a last word */
    }
    free(round == NULL ? NULL : round->text);
    free(round);
    return NULL;
}

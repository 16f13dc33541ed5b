/*
 * Kueue's Workloads: see workloads.h.
 *
 * The watches put objects into a table; a thread takes one after the other whose object has changed, asks the ledger, and writes
 * the answer back. The lock guards the table and is never held while anybody is asked. A step that fails is forgotten, and so done
 * again; a step that was done before comes to the same in the ledger.
 */
#include "clients/kubernetes/workloads.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clients/clock.h"
#include "clients/kubernetes/agent_log.h"
#include "clients/kubernetes/kueue.h"
#include "clients/kubernetes/object.h"
#include "clients/kubernetes/workload_sweep.h"
#include "clients/units.h"

#define WORKLOADS_PATH "/apis/kueue.x-k8s.io/v1beta2/workloads"
#define CHECKS_PATH    "/apis/kueue.x-k8s.io/v1beta2/admissionchecks"

enum {
    PAUSE_MS = 100,
    RETRY_MS = 5000,
    CALL_MS = 10000,
    BATCH_MS = 30000,
    STOP_RETRY_S = 60,
    PATH_BYTES = 700,
    OK = 200,
    CONFLICT = 409,
    INVALID = 422,
};

struct entry {
    char uid[KUEUE_UID_BYTES];
    json_t *object; /* owned */
    struct kueue_memory memory;
    int64_t retry_ms; /* monotonic: not before */
    bool deleted;
    bool dirty;  /* to be looked at */
    bool listed; /* by the list that is coming in */
};

struct workloads {
    const struct admission *parts;
    struct watch *watch;
    struct watch *checks_watch;
    struct corehour_client *client;
    struct api_caller caller;
    pthread_t thread;
    atomic_bool stopping;
    bool watching; /* of the loop's thread */

    pthread_mutex_t lock;
    bool leads;
    bool complete; /* a whole list has come in since it leads */
    struct entry *entries;
    size_t count;
    size_t room;
    json_t *places; /* uid -> place in entries */
    json_t *checks; /* name -> AdmissionCheck of ours */
};

/* ---- the table; the lock is held */

static struct entry *entry_find(const struct workloads *workloads, const char *uid)
{
    const json_t *place = json_object_get(workloads->places, uid);
    return place == NULL ? NULL : &workloads->entries[json_integer_value(place)];
}

static struct entry *entry_add(struct workloads *workloads, const char *uid)
{
    if (workloads->entries == NULL || workloads->count == workloads->room) {
        const size_t room = workloads->room == 0 ? 64 : 2 * workloads->room;
        struct entry *longer = realloc(workloads->entries, room * sizeof *longer);
        if (longer == NULL) {
            return NULL;
        }
        workloads->entries = longer;
        workloads->room = room;
    }
    if (json_object_set_new(workloads->places, uid, json_integer((json_int_t)workloads->count)) !=
        0) {
        return NULL;
    }
    struct entry *entry = &workloads->entries[workloads->count++];
    memset(entry, 0, sizeof *entry);
    object_copy(entry->uid, uid, sizeof entry->uid);
    return entry;
}

/* The last one takes its place. */
static void entry_remove(struct workloads *workloads, struct entry *entry)
{
    struct entry *last = &workloads->entries[workloads->count - 1];
    json_object_del(workloads->places, entry->uid);
    json_decref(entry->object);
    if (entry != last) {
        const json_int_t place = entry - workloads->entries;
        *entry = *last;
        json_object_set_new(workloads->places, entry->uid, json_integer(place));
    }
    workloads->count--;
}

static void table_clear(struct workloads *workloads)
{
    while (workloads->count > 0) {
        entry_remove(workloads, &workloads->entries[0]);
    }
    json_object_clear(workloads->checks);
    workloads->complete = false;
}

/* ---- the watches, in the loop's thread */

static void workload_put(struct workloads *workloads, const json_t *object, bool deleted)
{
    const char *uid = object_text(object, "metadata", "uid", NULL);
    if (uid[0] == '\0' || strlen(uid) >= KUEUE_UID_BYTES) {
        return;
    }
    pthread_mutex_lock(&workloads->lock);
    struct entry *entry = entry_find(workloads, uid);
    entry = entry == NULL ? entry_add(workloads, uid) : entry;
    if (entry != NULL) {
        json_decref(entry->object);
        entry->object = json_incref((json_t *)(uintptr_t)object);
        entry->deleted = deleted;
        entry->dirty = true;
        entry->listed = true;
    }
    pthread_mutex_unlock(&workloads->lock);
}

static void on_workloads_begin(void *context)
{
    struct workloads *workloads = context;
    pthread_mutex_lock(&workloads->lock);
    for (size_t i = 0; i < workloads->count; i++) {
        workloads->entries[i].listed = false;
    }
    pthread_mutex_unlock(&workloads->lock);
}

static void on_workload(void *context, const json_t *object)
{
    workload_put(context, object, false);
}

/* What is not there any more went while nobody looked. */
static void on_workloads_end(void *context)
{
    struct workloads *workloads = context;
    pthread_mutex_lock(&workloads->lock);
    workloads->complete = true;
    for (size_t i = 0; i < workloads->count; i++) {
        struct entry *entry = &workloads->entries[i];
        if (!entry->listed && !entry->deleted) {
            entry->deleted = true;
            entry->dirty = true;
        }
    }
    pthread_mutex_unlock(&workloads->lock);
}

static void on_workload_change(void *context, const json_t *object, bool deleted)
{
    workload_put(context, object, deleted);
}

/* A check comes, changes or goes: every Workload may be ours now. */
static void check_put(struct workloads *workloads, const json_t *object, bool deleted)
{
    const char *name = object_text(object, "metadata", "name", NULL);
    const bool ours = !deleted && strcmp(object_text(object, "spec", "controllerName", NULL),
                                         KUEUE_CONTROLLER) == 0;
    pthread_mutex_lock(&workloads->lock);
    if (ours) {
        (void)json_object_set(workloads->checks, name, (json_t *)(uintptr_t)object);
    } else {
        (void)json_object_del(workloads->checks, name);
    }
    for (size_t i = 0; i < workloads->count; i++) {
        workloads->entries[i].dirty = true;
    }
    pthread_mutex_unlock(&workloads->lock);
}

static void on_checks_begin(void *context)
{
    struct workloads *workloads = context;
    pthread_mutex_lock(&workloads->lock);
    json_object_clear(workloads->checks);
    pthread_mutex_unlock(&workloads->lock);
}

static void on_check(void *context, const json_t *object)
{
    check_put(context, object, false);
}

static void on_checks_end(void *context)
{
    (void)context;
}

static void on_check_change(void *context, const json_t *object, bool deleted)
{
    check_put(context, object, deleted);
}

/* ---- one Workload */

/* A Workload being worked on: a copy of its entry. */
struct job {
    struct entry entry;
    struct kueue_workload facts;
    json_t *checks; /* names; owned */
};

static void verdict_tell(struct workloads *workloads,
                         struct job *job,
                         const struct kueue_verdict *verdict)
{
    char path[PATH_BYTES];
    const int64_t now_s = client_clock_wall_ms() / 1000;
    (void)snprintf(path, sizeof path,
                   "/apis/kueue.x-k8s.io/v1beta2/namespaces/%s/workloads/%s/status",
                   job->facts.namespace, job->facts.name);
    json_t *patch = kueue_patch(job->entry.object, &job->facts, verdict, now_s);
    const struct api_request request = {.method = "PATCH",
                                        .path = path,
                                        .content_type = "application/json-patch+json",
                                        .body = patch};
    const int status = patch == NULL ? 0 : api_call(&workloads->caller, &request, NULL);
    json_decref(patch);
    agent_log(status == OK ? "info" : "warning",
              status == OK ? "workload_checked" : "workload_check_not_written", "namespace",
              job->facts.namespace, "workload", job->facts.name, "message", verdict->message, NULL);
    if (status != OK) {
        /* The object has changed meanwhile, and comes again; or the API server is silent. */
        memset(&job->entry.memory, 0, sizeof job->entry.memory);
        job->entry.dirty = status != CONFLICT && status != INVALID;
        job->entry.retry_ms = client_clock_mono_ms() + RETRY_MS;
    }
}

static void step_failed(struct job *job)
{
    memset(&job->entry.memory, 0, sizeof job->entry.memory);
    job->entry.dirty = true;
    job->entry.retry_ms = client_clock_mono_ms() + RETRY_MS;
}

/* The lines as NDJSON. NULL when memory is out. */
static char *lines_text(const json_t *lines)
{
    size_t bytes = 0;
    FILE *stream;
    char *text = NULL;
    stream = open_memstream(&text, &bytes);
    bool good = stream != NULL;
    for (size_t i = 0; good && i < json_array_size(lines); i++) {
        good = json_dumpf(json_array_get(lines, i), stream, JSON_COMPACT) == 0 &&
               fputc('\n', stream) != EOF;
    }
    if (stream != NULL && (fclose(stream) != 0 || !good)) {
        free(text);
        return NULL;
    }
    return text;
}

/* The answer's lines; what is not JSON is left out. */
static json_t *answers_read(const char *text)
{
    json_t *answers = json_array();
    while (answers != NULL && *text != '\0') {
        const size_t bytes = strcspn(text, "\n");
        json_t *answer = json_loadb(text, bytes, 0, NULL);
        if (answer != NULL && json_array_append_new(answers, answer) != 0) {
            break;
        }
        text += bytes + (text[bytes] == '\n' ? 1 : 0);
    }
    return answers;
}

/* Sends a batch. Returns the HTTP status, 0 without an answer; ret_answers: its lines, for json_decref. */
static int batch_send(struct workloads *workloads,
                      const char *path,
                      const json_t *lines,
                      json_t **ret_answers)
{
    char *text = lines_text(lines);
    struct corehour_answer answer;
    struct corehour_error error;
    *ret_answers = NULL;
    if (text == NULL) {
        return 0;
    }
    const struct corehour_request request = {.method = "POST",
                                             .path = path,
                                             .bytes = text,
                                             .bytes_count = strlen(text),
                                             .content_type = "application/x-ndjson"};
    int status = 0;
    if (corehour_call(workloads->client, &request, &answer, &error) == COREHOUR_OK) {
        status = answer.status;
        *ret_answers = answers_read(answer.text);
        corehour_answer_fini(&answer);
    } else {
        agent_log("warning", "ledger_silent", "why", error.detail, NULL);
    }
    free(text);
    return status;
}

static void verdict_set(struct kueue_verdict *verdict, enum kueue_state state, const char *message)
{
    *verdict = (struct kueue_verdict){.state = state};
    object_copy(verdict->message, message, sizeof verdict->message);
}

static void freeze_ask(struct workloads *workloads,
                       const json_t *lines,
                       struct kueue_verdict *ret_verdict)
{
    json_t *answers;
    const int status = batch_send(workloads, "/v1/batch?atomic=true", lines, &answers);
    kueue_verdict_read(status, answers, client_clock_wall_ms() / 1000, ret_verdict);
    json_decref(answers);
}

static void freeze(struct workloads *workloads,
                   struct job *job,
                   enum namespace_mode mode,
                   const json_t *lines,
                   const char *problem)
{
    struct kueue_verdict verdict;
    if (mode != NAMESPACE_KUEUE) {
        verdict_set(&verdict, KUEUE_READY, "Workloads of this namespace are not charged");
    } else if (lines == NULL) {
        verdict_set(&verdict, problem[0] == '\0' ? KUEUE_PENDING : KUEUE_REJECTED, problem);
    } else if (json_array_size(lines) == 0) {
        verdict_set(&verdict, KUEUE_READY, "no accelerators are asked for");
    } else {
        freeze_ask(workloads, lines, &verdict);
    }
    if (verdict.state == KUEUE_PENDING) {
        step_failed(job);
    } else {
        verdict_tell(workloads, job, &verdict);
    }
}

/* Any answer of the ledger will do: what it does not know it has nothing to do about (404), what it has it keeps (409). */
static void report(struct workloads *workloads, struct job *job, const json_t *lines)
{
    json_t *answers = NULL;
    const int status =
        json_array_size(lines) == 0 ? OK : batch_send(workloads, "/v1/batch", lines, &answers);
    json_decref(answers);
    if (lines == NULL || status != OK) {
        step_failed(job);
    }
}

static void step_do(struct workloads *workloads, struct job *job)
{
    const struct kueue_workload *facts = &job->facts;
    const struct namespace_rules rules =
        namespaces_find(workloads->parts->namespaces, facts->namespace);
    char user[PEOPLE_NAME_BYTES] = "";
    char problem[KUEUE_MESSAGE_BYTES];
    if (facts->step == KUEUE_FREEZE) {
        people_find(workloads->parts->people, job->entry.object, facts->namespace, "", user);
    }
    const struct kueue_context context = {
        .cluster = workloads->parts->config->cluster.text,
        .account = rules.account,
        .user = user,
        .table = workloads->parts->table,
    };
    json_t *lines = kueue_commands(facts, &context, client_clock_wall_ms() / 1000, problem);
    if (facts->step == KUEUE_FREEZE) {
        freeze(workloads, job, rules.mode, lines, problem);
    } else {
        report(workloads, job, lines);
    }
    json_decref(lines);
}

static void job_do(struct workloads *workloads, struct job *job)
{
    char problem[KUEUE_MESSAGE_BYTES];
    const bool good = kueue_read(job->entry.object, job->checks, job->entry.deleted,
                                 client_clock_wall_ms() / 1000, &job->facts, problem);
    if (good && kueue_is_news(&job->facts, &job->entry.memory)) {
        step_do(workloads, job);
    } else if (!good && job->facts.check != NULL && job->facts.state == KUEUE_PENDING &&
               job->facts.reserved_s > 0) {
        struct kueue_verdict verdict;
        verdict_set(&verdict, KUEUE_REJECTED, problem);
        verdict_tell(workloads, job, &verdict);
    }
}

/* ---- the thread */

static json_t *check_names(const struct workloads *workloads)
{
    json_t *names = json_array();
    const char *name;
    json_t *check;
    json_object_foreach(workloads->checks, name, check)
    {
        (void)json_array_append_new(names, json_string(name));
    }
    return names;
}

/* Copies the next entry that is to be looked at. */
static bool job_next(struct workloads *workloads, struct job *ret_job)
{
    const int64_t now_ms = client_clock_mono_ms();
    bool found = false;
    pthread_mutex_lock(&workloads->lock);
    const bool may = workloads->leads && json_object_size(workloads->checks) > 0;
    for (size_t i = 0; may && !found && i < workloads->count; i++) {
        struct entry *entry = &workloads->entries[i];
        if (entry->dirty && entry->retry_ms <= now_ms) {
            entry->dirty = false;
            ret_job->entry = *entry;
            json_incref(entry->object);
            ret_job->checks = check_names(workloads);
            found = true;
        }
    }
    pthread_mutex_unlock(&workloads->lock);
    return found;
}

/* Takes over what came of it; the object may have changed meanwhile, and is then looked at again. */
static void job_end(struct workloads *workloads, struct job *job)
{
    pthread_mutex_lock(&workloads->lock);
    struct entry *entry = entry_find(workloads, job->entry.uid);
    if (entry != NULL) {
        entry->memory = job->entry.memory;
        entry->retry_ms = job->entry.retry_ms;
        entry->dirty = entry->dirty || job->entry.dirty;
        if (entry->deleted && !entry->dirty) {
            entry_remove(workloads, entry);
        }
    }
    pthread_mutex_unlock(&workloads->lock);
    json_decref(job->entry.object);
    json_decref(job->checks);
}

static void checks_activate(struct workloads *workloads)
{
    char path[PATH_BYTES];
    const char *name;
    json_t *check;
    pthread_mutex_lock(&workloads->lock);
    json_t *checks = workloads->leads ? json_copy(workloads->checks) : NULL;
    pthread_mutex_unlock(&workloads->lock);
    json_object_foreach(checks, name, check)
    {
        json_t *patch = kueue_active_patch(check, client_clock_wall_ms() / 1000);
        (void)snprintf(path, sizeof path, CHECKS_PATH "/%s/status", name);
        const struct api_request request = {.method = "PATCH",
                                            .path = path,
                                            .content_type = "application/merge-patch+json",
                                            .body = patch};
        if (patch != NULL && api_call(&workloads->caller, &request, NULL) != OK) {
            agent_log("warning", "check_not_activated", "check", name, NULL);
        }
        json_decref(patch);
    }
    json_decref(checks);
}

/* ---- heartbeats */

/* Copies the entry at @at when its Workload runs. */
static bool running_at(struct workloads *workloads, size_t at, struct job *ret_job, bool *ret_more)
{
    pthread_mutex_lock(&workloads->lock);
    *ret_more = workloads->leads && at < workloads->count;
    const bool runs = *ret_more && workloads->entries[at].memory.step == KUEUE_START;
    if (runs) {
        ret_job->entry = workloads->entries[at];
        json_incref(ret_job->entry.object);
        ret_job->checks = check_names(workloads);
    }
    pthread_mutex_unlock(&workloads->lock);
    return runs;
}

static bool says_stop(const json_t *body)
{
    bool stop = false;
    size_t index;
    json_t *result;
    json_array_foreach(json_object_get(body, "results"), index, result)
    {
        stop = stop || strcmp(object_text(result, "result", NULL), "stop") == 0;
    }
    return stop;
}

/* One Workload's runs. Whether the ledger wants them to end. */
static bool beat(struct workloads *workloads, const struct kueue_workload *facts)
{
    char now[COREHOUR_UNITS_TEXT_BYTES];
    struct corehour_answer answer;
    struct corehour_error error;
    json_t *runs = json_array();
    corehour_time_format(client_clock_wall_ms() / 1000, now);
    const bool any = runs != NULL && kueue_runs_append(facts, workloads->parts->table, runs) &&
                     json_array_size(runs) > 0;
    json_t *body = json_pack("{s:s, s:s, s:o}", "cluster", workloads->parts->config->cluster.text,
                             "at", now, "runs", runs);
    const struct corehour_request request = {
        .method = "POST", .path = "/v1/heartbeats", .body = body};
    bool stop = false;
    if (any && body != NULL &&
        corehour_call(workloads->client, &request, &answer, &error) == COREHOUR_OK) {
        stop = says_stop(answer.body);
        corehour_answer_fini(&answer);
    }
    json_decref(body);
    return stop;
}

/* Retry makes Kueue evict the Workload, with the grace of its pods. */
static void heartbeats_send(struct workloads *workloads)
{
    bool more = true;
    for (size_t i = 0; more && !atomic_load(&workloads->stopping); i++) {
        struct job job;
        char problem[KUEUE_MESSAGE_BYTES];
        if (!running_at(workloads, i, &job, &more)) {
            continue;
        }
        const struct kueue_verdict verdict = {KUEUE_RETRY, STOP_RETRY_S,
                                              "its core-hours are used up"};
        if (kueue_read(job.entry.object, job.checks, false, client_clock_wall_ms() / 1000,
                       &job.facts, problem) &&
            job.facts.step == KUEUE_START && beat(workloads, &job.facts)) {
            verdict_tell(workloads, &job, &verdict);
        }
        json_decref(job.entry.object);
        json_decref(job.checks);
    }
}

/* ---- what went while nobody looked */

static bool workload_exists(void *context, const char *uid)
{
    struct workloads *workloads = context;
    pthread_mutex_lock(&workloads->lock);
    const bool exists = !workloads->complete || entry_find(workloads, uid) != NULL;
    pthread_mutex_unlock(&workloads->lock);
    return exists;
}

static void sweep(struct workloads *workloads)
{
    pthread_mutex_lock(&workloads->lock);
    const bool may = workloads->leads && workloads->complete;
    pthread_mutex_unlock(&workloads->lock);
    if (may) {
        (void)workload_sweep(workloads->client, workloads->parts->config->cluster.text,
                             workload_exists, workloads);
    }
}

static void *workloads_run(void *context)
{
    struct workloads *workloads = context;
    const int64_t beat_ms = workloads->parts->config->heartbeat_s * 1000;
    int64_t next_beat_ms = client_clock_mono_ms() + beat_ms;
    int64_t next_activation_ms = 0;
    int64_t next_sweep_ms = 0;
    while (!atomic_load(&workloads->stopping)) {
        struct job job;
        const int64_t now_ms = client_clock_mono_ms();
        if (now_ms >= next_activation_ms) {
            checks_activate(workloads);
            next_activation_ms = now_ms + RETRY_MS / 10;
        }
        if (now_ms >= next_beat_ms) {
            heartbeats_send(workloads);
            next_beat_ms = now_ms + beat_ms;
        }
        if (now_ms >= next_sweep_ms) {
            sweep(workloads);
            next_sweep_ms = now_ms + workloads->parts->config->sweep_s * 1000;
        }
        if (job_next(workloads, &job)) {
            job_do(workloads, &job);
            job_end(workloads, &job);
        } else {
            client_clock_sleep_ms(PAUSE_MS);
        }
    }
    return NULL;
}

/* ---- life */

static bool watches_add(struct workloads *workloads, struct watch_loop *loop)
{
    const struct watch_events events = {.context = workloads,
                                        .list_begin = on_workloads_begin,
                                        .item = on_workload,
                                        .list_end = on_workloads_end,
                                        .change = on_workload_change};
    const struct watch_events checks = {.context = workloads,
                                        .list_begin = on_checks_begin,
                                        .item = on_check,
                                        .list_end = on_checks_end,
                                        .change = on_check_change};
    workloads->watch = watch_add(loop, WORKLOADS_PATH, &events);
    workloads->checks_watch = watch_add(loop, CHECKS_PATH, &checks);
    return workloads->watch != NULL && workloads->checks_watch != NULL;
}

static void workloads_destroy(struct workloads *workloads)
{
    table_clear(workloads);
    free(workloads->entries);
    json_decref(workloads->places);
    json_decref(workloads->checks);
    api_caller_fini(&workloads->caller);
    corehour_client_destroy(workloads->client);
    pthread_mutex_destroy(&workloads->lock);
    free(workloads);
}

bool workloads_start(const struct admission *parts,
                     const struct api_server *server,
                     struct watch_loop *loop,
                     struct workloads **ret_workloads,
                     struct agent_error *ret_error)
{
    struct workloads *workloads = calloc(1, sizeof *workloads);
    if (workloads == NULL) {
        return agent_error_set(ret_error, "out of memory");
    }
    pthread_mutex_init(&workloads->lock, NULL);
    workloads->parts = parts;
    workloads->places = json_object();
    workloads->checks = json_object();
    if (!api_caller_init(&workloads->caller, server, CALL_MS) ||
        !ledger_pool_client(parts->ledger, BATCH_MS, &workloads->client, ret_error) ||
        workloads->places == NULL || workloads->checks == NULL || !watches_add(workloads, loop) ||
        pthread_create(&workloads->thread, NULL, workloads_run, workloads) != 0) {
        workloads_destroy(workloads);
        return agent_error_set(ret_error, "Kueue's Workloads cannot be followed");
    }
    *ret_workloads = workloads;
    return true;
}

void workloads_stop(struct workloads *workloads)
{
    if (workloads != NULL) {
        atomic_store(&workloads->stopping, true);
        pthread_join(workloads->thread, NULL);
        workloads_destroy(workloads);
    }
}

void workloads_turn(struct workloads *workloads, bool leads)
{
    if (workloads == NULL) {
        return;
    }
    const bool may_watch = leads && namespaces_are_known(workloads->parts->namespaces);
    const bool begins = may_watch && !workloads->watching;
    const bool ends = !leads && workloads->watching;
    pthread_mutex_lock(&workloads->lock);
    workloads->leads = leads;
    if (begins || ends) {
        table_clear(workloads);
    }
    pthread_mutex_unlock(&workloads->lock);
    if (begins) {
        watch_resume(workloads->checks_watch);
        watch_resume(workloads->watch);
    } else if (ends) {
        watch_pause(workloads->checks_watch);
        watch_pause(workloads->watch);
    }
    workloads->watching = may_watch || (workloads->watching && !ends);
}

/* SPDX-License-Identifier: MIT
 *
 * See observe.h. A round has five steps: take the rows; choose whose records are needed; read them in one call; say what
 * has ended; say what runs. An attempt's start is said only after the end of the one before, so that the ledger freezes
 * again in between. */
#include "clients/slurm/agent/observe.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clients/slurm/agent/columns.h"
#include "clients/slurm/agent/ops.h"
#include "clients/units.h"

enum {
    LOOK_FIRST_MS = 500, /* doubling with each look without an end */
    LOOK_LAST_MS = 60000,
    YOUNG_S =
        20, /* the queue alone shows all tasks of an array that was submitted within this time */
    YOUNG_ALONE_S =
        240, /* and, when slurmdbd is away, within this: MinJobAge is 300 s by default */
    CONTRADICTED_S =
        120, /* a record that ends this long before the job was seen running is not believed */
};

/* ---- saying ---- */

static bool say(struct observer *observer, const struct roll_job *job, uint32_t raw_id, json_t *op)
{
    char key[48];
    ops_job_key(job->job_id, job->submit_s, key, sizeof key);
    const struct ops_job shown = {
        .job_key = key,
        .account = job->account,
        .user = job->user,
        .partition = job->partition,
        .qos = job->qos,
        .raw_id = raw_id,
        .is_open = job->token.is_open,
    };
    json_t *about = ops_job_json(&shown);
    const bool good = op != NULL && about != NULL && outbox_append(observer->outbox, op, about);
    json_decref(op);
    json_decref(about);
    return good;
}

static int64_t rank_of(const struct roll_job *job, const struct roll_task *task)
{
    return job->is_array ? indexes_rank(&job->indexes, task->index) : 0;
}

/* A job that was let through: its freeze is tried once, late, as long as the plugin's file lies there. */
static bool say_late_freeze(struct observer *observer, const struct roll_job *job)
{
    char path[512];
    (void)snprintf(path, sizeof path, "%s/%s.json", observer->spool_dir, job->token.hold);
    json_t *body = job->token.is_open ? json_load_file(path, JSON_REJECT_DUPLICATES, NULL) : NULL;
    if (body == NULL) {
        return true;
    }
    (void)json_object_del(body, "at");
    (void)json_object_del(body, "ttl_s");
    (void)json_object_set_new(body, "op", json_string("freeze"));
    (void)json_object_set_new(body, "on_insufficient", json_string("reject"));
    return say(observer, job, 0, body);
}

static bool say_bind(struct observer *observer, struct roll_job *job)
{
    char id[16];
    char key[48];
    if (job->is_bound || !job->is_resolved) {
        return true;
    }
    (void)snprintf(id, sizeof id, "%" PRIu32, job->job_id);
    ops_job_key(job->job_id, job->submit_s, key, sizeof key);
    job->is_bound =
        say_late_freeze(observer, job) && say(observer, job, 0, ops_bind(job->token.hold, id, key));
    return job->is_bound;
}

static bool say_release(struct observer *observer, const struct roll_job *job, const char *tasks)
{
    return say(observer, job, 0,
               ops_release(job->token.hold, tasks, "cancelled before it started"));
}

/* ---- taking the rows ---- */

static void job_fill(struct roll_job *job, const struct queue_job *row)
{
    job->job_id = row->array_id;
    job->is_array = row->is_array;
    job->is_seen = true;
    memcpy(job->account, row->account, sizeof job->account);
    memcpy(job->user, row->user, sizeof job->user);
    memcpy(job->partition, row->partition, sizeof job->partition);
    memcpy(job->qos, row->qos, sizeof job->qos);
    if (job->submit_s == 0 && row->restarts == 0) {
        job->submit_s = row->submit_s;
    }
}

/* A finished job may be requeued by hand: then its last attempt is said once more, as one that another follows. */
static void task_revive(struct roll_task *task)
{
    if (task->is_done) {
        task->is_done = false;
        task->closed -= task->closed > 0 ? 1 : 0;
        task->look_ms = 1;
        task->looked = 0;
    }
}

static void task_take(struct observer *observer,
                      struct roll_task *task,
                      const struct queue_job *row)
{
    task->raw_id = row->raw_id;
    task->kind = row->fate.kind;
    task->queue_start_s = row->start_s;
    task->restarts = row->restarts;
    task->is_seen = true;
    task->last_run_s = task->kind == FATE_RUNNING ? observer->now_s : task->last_run_s;
    switch (task->kind) {
    case FATE_PENDING:
    case FATE_RUNNING:
    case FATE_SUSPENDED:
        task_revive(task);
        if (task->closed < task->restarts && task->ranked != task->restarts && task->look_ms == 0) {
            task->look_ms = observer->now_ms;
            task->looked = 0;
        }
        break;
    case FATE_ENDING:
    case FATE_ENDED:
        if (!task->is_done && task->look_ms == 0) {
            task->look_ms = observer->now_ms;
        }
        break;
    case FATE_UNKNOWN:
        break;
    }
}

static bool is_one_index(const char *text)
{
    return text[strspn(text, "0123456789")] == '\0';
}

static bool row_take(struct observer *observer, const struct queue_job *row)
{
    struct roll_job *job = roll_add(&observer->roll, &row->token);
    if (job == NULL) {
        return false;
    }
    if (job->seen_ms == 0) {
        job->seen_ms = observer->now_ms;
        job->time_limit_s = row->time_limit_s;
        job->rest_look_ms = row->is_array ? observer->now_ms : 0;
    }
    job_fill(job, row);
    if (row->is_array && !indexes_add(&job->indexes, row->indexes, strlen(row->indexes))) {
        return false;
    }
    if (row->is_array && !is_one_index(row->indexes)) {
        job->has_rest = true;
        job->rest_seen = true;
        if (row->fate.kind == FATE_ENDED && !job->rest_ended) {
            job->rest_look_ms = observer->now_ms;
        }
        return true;
    }
    struct roll_task *task =
        roll_task_add(job, row->is_array ? (uint32_t)columns_number(row->indexes, 0) : 0);
    if (task == NULL) {
        return false;
    }
    task_take(observer, task, row);
    return true;
}

static bool rows_take(struct observer *observer, const struct queue *queue)
{
    bool good = true;
    for (size_t i = 0; i < observer->roll.count; i++) {
        struct roll_job *job = observer->roll.jobs[i];
        job->is_seen = false;
        job->rest_seen = false;
        for (size_t t = 0; t < job->task_count; t++) {
            job->tasks[t].is_seen = false;
        }
    }
    for (size_t i = 0; i < queue->count; i++) {
        if (queue->jobs[i].is_ours) {
            good = row_take(observer, &queue->jobs[i]) && good;
        }
    }
    return good;
}

/* ---- choosing whose records are needed ---- */

struct ids {
    uint32_t *values;
    size_t count;
    size_t room;
};

static void ids_add(struct ids *ids, uint32_t id)
{
    if (ids->count == ids->room) {
        const size_t room = ids->room == 0 ? 64 : ids->room * 2;
        uint32_t *grown = realloc(ids->values, room * sizeof *grown);
        if (grown == NULL) {
            return;
        }
        ids->values = grown;
        ids->room = room;
    }
    ids->values[ids->count++] = id;
}

static bool is_due(const struct observer *observer, int64_t look_ms)
{
    return look_ms > 0 && look_ms <= observer->now_ms;
}

/* Tasks that the queue shows no more, or shows with another run than the open one, have ended. */
static void task_choose(struct observer *observer,
                        const struct roll_job *job,
                        struct roll_task *task,
                        struct ids *ids)
{
    if (task->is_done) {
        return;
    }
    const bool other_run = task->started_s != 0 && task->is_seen && task->kind <= FATE_SUSPENDED &&
                           (task->kind == FATE_PENDING || task->queue_start_s != task->started_s);
    if (task->look_ms == 0 && (!task->is_seen || other_run)) {
        task->look_ms = observer->now_ms;
        task->looked = 0;
    }
    if (is_due(observer, task->look_ms)) {
        ids_add(ids, task->raw_id != 0 ? task->raw_id : job->job_id);
    }
}

static void job_choose(struct observer *observer, struct roll_job *job, struct ids *ids)
{
    if (job->has_rest && !job->rest_seen && job->rest_look_ms == 0) {
        job->rest_look_ms = observer->now_ms;
    }
    if (is_due(observer, job->rest_look_ms)) {
        ids_add(ids, job->job_id);
    }
    for (size_t t = 0; t < job->task_count; t++) {
        task_choose(observer, job, &job->tasks[t], ids);
    }
}

/* ---- saying what has ended ---- */

static int64_t look_again_ms(const struct observer *observer, int64_t looked)
{
    int64_t wait_ms = LOOK_FIRST_MS;
    for (int64_t i = 0; i < looked && wait_ms < LOOK_LAST_MS; i++) {
        wait_ms *= 2;
    }
    return observer->now_ms + (wait_ms < LOOK_LAST_MS ? wait_ms : LOOK_LAST_MS);
}

static bool is_of_job(const struct record *record, const struct roll_job *job)
{
    if (record->has_comment &&
        (!record->is_ours || strcmp(record->token.hold, job->token.hold) != 0)) {
        return false;
    }
    return record->array_id == job->job_id && record->submit_s >= job->submit_s;
}

/* Whether the queue shows that another attempt follows this one. */
static bool queue_follows(const struct roll_task *task, const struct record *record)
{
    return task->is_seen &&
           (task->kind == FATE_PENDING ||
            (task->kind <= FATE_SUSPENDED && task->queue_start_s != record->start_s));
}

static bool end_say(struct observer *observer,
                    const struct roll_job *job,
                    struct roll_task *task,
                    int64_t attempt,
                    const struct record *record,
                    bool another)
{
    const struct ops_run run = {job->token.hold, rank_of(job, task), attempt};
    if (run.task < 0 ||
        !say(observer, job, task->raw_id, ops_end(another ? "requeue" : "settle", &run, record))) {
        return false;
    }
    task->closed = attempt + 1;
    task->attempts = task->attempts > task->closed ? task->attempts : task->closed;
    task->started_s = 0;
    task->last_run_s = 0;
    task->is_suspended = false;
    task->is_done = !another;
    return true;
}

static bool never_ran_say(struct observer *observer,
                          const struct roll_job *job,
                          struct roll_task *task)
{
    char tasks[24];
    (void)snprintf(tasks, sizeof tasks, "%" PRId64, rank_of(job, task));
    task->is_done = say_release(observer, job, job->is_array ? tasks : NULL);
    return task->is_done;
}

/* The attempts of one task, in order. rows: those of the job, `count` of them. */
static bool attempts_say(struct observer *observer,
                         const struct roll_job *job,
                         struct roll_task *task,
                         const struct record *const *rows,
                         size_t count)
{
    int64_t attempt = 0;
    for (size_t i = 0; i < count; i++) {
        const struct record *record = rows[i];
        const bool is_last = i + 1 == count;
        if (!record_has_ended(record)) {
            break;
        }
        if (!record_has_run(record)) {
            if (is_last && !queue_follows(task, record) && !never_ran_say(observer, job, task)) {
                return false;
            }
            continue; /* it took no number */
        }
        if (is_last && task->is_seen && task->kind == FATE_ENDING && record->fate.may_requeue) {
            break; /* it is not known yet whether another follows */
        }
        if (is_last && attempt >= task->closed &&
            record->end_s + CONTRADICTED_S < task->last_run_s) {
            break; /* a repaired runaway ends at its start: for a person, see reconcile */
        }
        if (attempt >= task->closed && !end_say(observer, job, task, attempt, record,
                                                !is_last || queue_follows(task, record))) {
            return false;
        }
        attempt++;
    }
    return true;
}

/* The task's rows among all, as far as they are this job's. */
static size_t rows_of_task(const struct roll_job *job,
                           const struct roll_task *task,
                           const struct records *records,
                           const struct record **ret_rows,
                           size_t room)
{
    size_t count = 0;
    size_t low = 0;
    size_t high = records->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (records->rows[middle].raw_id < task->raw_id) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    for (; low < records->count && records->rows[low].raw_id == task->raw_id && count < room;
         low++) {
        const struct record *record = &records->rows[low];
        const bool is_its =
            !job->is_array || (is_one_index(record->indexes) && *record->indexes != '\0' &&
                               columns_number(record->indexes, -1) == (int64_t)task->index);
        if (is_its && is_of_job(record, job) &&
            (count == 0 || ret_rows[count - 1]->db_index != record->db_index)) {
            ret_rows[count++] = record;
        }
    }
    return count;
}

static bool task_apply(struct observer *observer,
                       struct roll_job *job,
                       struct roll_task *task,
                       const struct records *records)
{
    const struct record *rows[512];
    if (task->is_done || !is_due(observer, task->look_ms)) {
        return true;
    }
    const size_t count = rows_of_task(job, task, records, rows, sizeof rows / sizeof rows[0]);
    if (count > 0 && job->submit_s == 0) {
        job->submit_s = rows[0]->submit_s;
    }
    if (!job->is_resolved) {
        return true; /* due again in the next round */
    }
    if (!say_bind(observer, job) || !attempts_say(observer, job, task, rows, count)) {
        return false;
    }
    task->ranked = count > 0 ? task->restarts : task->ranked;
    const bool is_live = task->is_seen && task->kind <= FATE_SUSPENDED;
    const bool is_open =
        task->started_s != 0 && (!is_live || task->started_s != task->queue_start_s);
    const bool waits =
        !task->is_done && (!is_live || is_open || (task->closed < task->restarts && count == 0));
    task->look_ms = waits ? look_again_ms(observer, task->looked++) : 0;
    return true;
}

/* Rows of an array: indexes that are not known yet, tasks that have ended without the queue ever showing them. */
static bool rest_row_apply(struct observer *observer,
                           struct roll_job *job,
                           const struct record *record)
{
    if (!indexes_add(&job->indexes, record->indexes, strlen(record->indexes))) {
        return true; /* nothing that could be numbered */
    }
    if (is_one_index(record->indexes)) {
        struct roll_task *task = roll_task_add(job, (uint32_t)columns_number(record->indexes, 0));
        if (task == NULL) {
            return false;
        }
        if (task->raw_id == 0) {
            task->raw_id = record->raw_id;
            task->look_ms = observer->now_ms;
        }
    }
    return true;
}

/* Tasks of one row that were cancelled together before any of them started. */
static bool rest_release(struct observer *observer,
                         struct roll_job *job,
                         const struct record *record)
{
    struct indexes gone = {0};
    bool good = indexes_add(&gone, record->indexes, strlen(record->indexes));
    for (size_t i = 0; good && i < gone.count; i++) {
        struct roll_task *task = roll_task_add(job, gone.values[i]);
        good = task != NULL && (task->is_done || never_ran_say(observer, job, task));
    }
    indexes_fini(&gone);
    return good;
}

static bool rest_apply(struct observer *observer,
                       struct roll_job *job,
                       const struct records *records)
{
    bool good = true;
    bool found = false;
    if (!is_due(observer, job->rest_look_ms)) {
        return true;
    }
    for (size_t i = 0; good && i < records->count; i++) {
        const struct record *record = &records->rows[i];
        if (record->is_array && is_of_job(record, job)) {
            found = true;
            good = rest_row_apply(observer, job, record);
            job->submit_s = job->submit_s == 0 ? record->submit_s : job->submit_s;
        }
    }
    job->is_resolved = job->is_resolved || found;
    good = good && say_bind(observer, job);
    for (size_t i = 0; good && job->is_resolved && i < records->count; i++) {
        const struct record *record = &records->rows[i];
        if (record->is_array && !is_one_index(record->indexes) && is_of_job(record, job) &&
            record_has_ended(record) && !record_has_run(record)) {
            good = rest_release(observer, job, record);
            job->rest_ended = good;
        }
    }
    job->has_rest = job->rest_seen;
    job->rest_look_ms = found ? 0 : look_again_ms(observer, 4);
    return good;
}

static bool records_apply(struct observer *observer, const struct records *records)
{
    bool good = true;
    for (size_t i = 0; good && i < observer->roll.count; i++) {
        struct roll_job *job = observer->roll.jobs[i];
        good = rest_apply(observer, job, records);
        for (size_t t = 0; good && t < job->task_count; t++) {
            good = task_apply(observer, job, &job->tasks[t], records);
        }
    }
    return good;
}

/* Reads and applies the records that this round needs. */
static bool ended_say(struct observer *observer)
{
    struct ids ids = {0};
    bool good = true;
    for (size_t i = 0; i < observer->roll.count; i++) {
        job_choose(observer, observer->roll.jobs[i], &ids);
    }
    if (ids.count > 0) {
        struct records records;
        observer->records_failed = !observer->records_read(observer->context, ids.values, ids.count,
                                                           &records, observer->detail);
        if (!observer->records_failed) {
            good = records_apply(observer, &records);
            records_fini(&records);
        }
    }
    free(ids.values);
    return good;
}

/* ---- saying what runs ---- */

static bool start_say(struct observer *observer, const struct roll_job *job, struct roll_task *task)
{
    const bool is_known = task->closed == task->restarts || task->ranked == task->restarts;
    if (task->started_s != 0 || !is_known || task->queue_start_s == 0) {
        return true; /* the end of the attempt before comes first */
    }
    const struct ops_run run = {job->token.hold, rank_of(job, task), task->closed};
    if (run.task < 0 || !say(observer, job, task->raw_id, ops_start(&run, task->queue_start_s))) {
        return false;
    }
    task->started_s = task->queue_start_s;
    task->attempts = task->closed + 1;
    return true;
}

static bool run_say(struct observer *observer, const struct roll_job *job, struct roll_task *task)
{
    const bool runs = task->is_seen && (task->kind == FATE_RUNNING || task->kind == FATE_SUSPENDED);
    if (!runs || !start_say(observer, job, task)) {
        return !runs;
    }
    const bool suspends = task->kind == FATE_SUSPENDED;
    if (task->started_s != task->queue_start_s || suspends == task->is_suspended) {
        return true;
    }
    const struct ops_run run = {job->token.hold, rank_of(job, task), task->closed};
    if (!say(observer, job, task->raw_id,
             ops_pause(suspends ? "suspend" : "resume", &run, observer->now_s))) {
        return false;
    }
    task->is_suspended = suspends;
    return true;
}

/* What the queue alone can tell: a young array shows all of its tasks; a job that was never requeued its submission. */
static void job_resolve(const struct observer *observer, struct roll_job *job)
{
    const int64_t age_s = observer->now_s - job->submit_s;
    const bool young = age_s < (observer->records_failed ? YOUNG_ALONE_S : YOUNG_S);
    if (!job->is_resolved && job->submit_s > 0 && (!job->is_array || young)) {
        job->is_resolved = true;
    }
}

static bool job_say(struct observer *observer, struct roll_job *job)
{
    bool good = true;
    job_resolve(observer, job);
    if (!job->is_resolved) {
        return true;
    }
    good = say_bind(observer, job);
    for (size_t t = 0; good && t < job->task_count; t++) {
        good = job->tasks[t].is_done || run_say(observer, job, &job->tasks[t]);
    }
    return good;
}

static void limits_follow(struct observer *observer, const struct queue *queue)
{
    for (size_t i = 0; i < queue->count; i++) {
        const struct queue_job *row = &queue->jobs[i];
        struct roll_job *job = row->is_ours ? roll_find(&observer->roll, row->token.hold) : NULL;
        if (job == NULL || !job->is_bound || row->time_limit_s == job->time_limit_s ||
            row->fate.kind > FATE_SUSPENDED) {
            continue;
        }
        job->time_limit_s = row->time_limit_s;
        if (row->time_limit_s > 0) {
            (void)say(observer, job, 0, ops_resize(job->token.hold, row->time_limit_s));
        }
    }
}

/* ---- a round ---- */

static bool is_over(const struct roll_job *job)
{
    for (size_t t = 0; t < job->task_count; t++) {
        if (!job->tasks[t].is_done) {
            return false;
        }
    }
    return !job->is_seen && !job->has_rest && job->rest_look_ms == 0;
}

bool observe_round(struct observer *observer, const struct queue *queue)
{
    bool good = rows_take(observer, queue);
    for (size_t i = 0; i < observer->roll.count; i++) {
        job_resolve(observer, observer->roll.jobs[i]);
    }
    good = good && ended_say(observer);
    for (size_t i = 0; good && i < observer->roll.count; i++) {
        good = job_say(observer, observer->roll.jobs[i]);
    }
    if (good) {
        limits_follow(observer, queue);
    }
    for (size_t i = observer->roll.count; i > 0; i--) {
        if (is_over(observer->roll.jobs[i - 1])) {
            roll_remove(&observer->roll, i - 1);
        }
    }
    return outbox_sync(observer->outbox) && good;
}

static bool is_alive(const struct roll_task *task)
{
    return task->started_s != 0 && !task->is_suspended && task->is_seen &&
           task->kind == FATE_RUNNING;
}

json_t *observe_heartbeat(const struct observer *observer,
                          const char *cluster,
                          size_t skip,
                          size_t count,
                          size_t *ret_runs)
{
    char at[COREHOUR_UNITS_TEXT_BYTES];
    json_t *runs = json_array();
    size_t seen = 0;
    for (size_t i = 0; i < observer->roll.count; i++) {
        const struct roll_job *job = observer->roll.jobs[i];
        for (size_t t = 0; t < job->task_count; t++) {
            const struct roll_task *task = &job->tasks[t];
            if (!is_alive(task) || seen++ < skip || json_array_size(runs) >= count) {
                continue;
            }
            (void)json_array_append_new(runs, json_pack("{s:s, s:I, s:I}", "hold", job->token.hold,
                                                        "task", (json_int_t)rank_of(job, task),
                                                        "attempt", (json_int_t)task->closed));
        }
    }
    *ret_runs = json_array_size(runs);
    if (*ret_runs == 0) {
        json_decref(runs);
        return NULL;
    }
    corehour_time_format(observer->now_s, at);
    return json_pack("{s:s, s:s, s:o}", "cluster", cluster, "at", at, "runs", runs);
}

/* SPDX-License-Identifier: MIT
 *
 * See ops.h. */
#include "clients/slurm/agent/ops.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "clients/slurm/agent/tres.h"
#include "clients/units.h"

static json_t *time_json(int64_t time_s)
{
    char text[COREHOUR_UNITS_TEXT_BYTES];
    corehour_time_format(time_s, text);
    return json_string(text);
}

json_t *ops_bind(const char *hold, const char *job_id, const char *job_key)
{
    return json_pack("{s:s, s:s, s:s, s:s}", "op", "bind", "hold", hold, "job_id", job_id,
                     "job_key", job_key);
}

json_t *ops_start(const struct ops_run *run, int64_t started_s)
{
    return json_pack("{s:s, s:s, s:I, s:I, s:o}", "op", "start", "hold", run->hold, "task",
                     (json_int_t)run->task, "attempt", (json_int_t)run->attempt, "started_at",
                     time_json(started_s));
}

json_t *ops_pause(const char *verb, const struct ops_run *run, int64_t at_s)
{
    return json_pack("{s:s, s:s, s:I, s:o}", "op", verb, "hold", run->hold, "task",
                     (json_int_t)run->task, "at", time_json(at_s));
}

json_t *ops_resize(const char *hold, int64_t time_limit_s)
{
    return json_pack("{s:s, s:s, s:I}", "op", "resize", "hold", hold, "time_limit_s",
                     (json_int_t)time_limit_s);
}

/* "node1" as a host; a range of nodes is left out rather than misread. */
static int hosts_add(json_t *op, const char *nodes)
{
    if (strpbrk(nodes, "[], ") != NULL || *nodes == '\0') {
        return 0;
    }
    return json_object_set_new(op, "hosts", json_pack("[s]", nodes));
}

json_t *ops_end(const char *verb, const struct ops_run *run, const struct record *record)
{
    struct tres tres;
    char key[32];
    (void)snprintf(key, sizeof key, "%" PRIu64, record->db_index);
    json_t *op =
        json_pack("{s:s, s:s, s:I, s:I, s:o, s:o, s:I, s:s}", "op", verb, "hold", run->hold, "task",
                  (json_int_t)run->task, "attempt", (json_int_t)run->attempt, "started_at",
                  time_json(record->start_s), "ended_at", time_json(record->end_s), "suspended_s",
                  (json_int_t)record->suspended_s, "outcome", record->fate.outcome);
    int failed = op == NULL;
    if (tres_parse(record->tres, &tres) && (tres.cores > 0 || tres.gpus > 0)) {
        failed |= json_object_set_new(op, "allocated", tres_json(&tres));
    }
    if (strcmp(verb, "correct") == 0) {
        failed |= json_object_set_new(op, "source", json_string("sacct"));
        failed |= json_object_set_new(op, "reason",
                                      json_string("Slurm's accounting record says otherwise"));
    } else {
        failed |= json_object_set_new(op, "run_key", json_string(key));
        failed |= hosts_add(op, record->nodes);
    }
    if (failed != 0) {
        json_decref(op);
        return NULL;
    }
    return op;
}

json_t *ops_release(const char *hold, const char *tasks, const char *reason)
{
    json_t *op = json_pack("{s:s, s:s, s:s}", "op", "release", "hold", hold, "reason", reason);
    if (tasks != NULL && json_object_set_new(op, "tasks", json_string(tasks)) != 0) {
        json_decref(op);
        return NULL;
    }
    return op;
}

json_t *ops_job_json(const struct ops_job *job)
{
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:I, s:b}", "job_key", job->job_key, "account",
                     job->account, "user", job->user, "partition", job->partition, "qos", job->qos,
                     "raw_id", (json_int_t)job->raw_id, "open", job->is_open);
}

void ops_charge_id(const char *hold, int64_t task, int64_t attempt, char *ret_id)
{
    char tail[48];
    (void)snprintf(tail, sizeof tail, ".%" PRId64 ".%" PRId64, task, attempt);
    const size_t room = COREHOUR_ID_BYTES - 1 - strlen(tail);
    const size_t bytes = strlen(hold);
    /* Too long a cluster's name gives way at its front: the UUID behind it is what tells holds apart. */
    const char *kept = bytes > room ? hold + (bytes - room) : hold;
    kept += strspn(kept, "._-");
    (void)snprintf(ret_id, COREHOUR_ID_BYTES, "%s%s", kept, tail);
}

void ops_job_key(uint32_t job_id, int64_t submit_s, char *ret_key, size_t size_bytes)
{
    (void)snprintf(ret_key, size_bytes, "%" PRIu32 "@%" PRId64, job_id, submit_s);
}

/* Members that a charge has in common with the end of a run. */
static int shared_copy(const json_t *op, json_t *charge)
{
    static const char *const names[] = {"started_at", "ended_at", "suspended_s",
                                        "outcome",    "run_key",  "hosts"};
    int failed = 0;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        json_t *value = json_object_get(op, names[i]);
        if (value != NULL) {
            failed |= json_object_set(charge, names[i], value);
        }
    }
    return failed;
}

static int job_copy(const json_t *job, json_t *charge)
{
    static const char *const names[] = {"partition", "qos"};
    json_t *shown = json_object();
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *value = json_string_value(json_object_get(job, names[i]));
        if (value != NULL && *value != '\0') {
            (void)json_object_set(shown, names[i], json_object_get(job, names[i]));
        }
    }
    return json_object_set_new(charge, "job", shown);
}

json_t *ops_charge(const json_t *op, const json_t *job, const char *cluster)
{
    char id[COREHOUR_ID_BYTES];
    const char *hold = json_string_value(json_object_get(op, "hold"));
    json_t *allocated = json_object_get(op, "allocated");
    if (hold == NULL || allocated == NULL || !json_is_object(job) ||
        json_object_get(op, "ended_at") == NULL) {
        return NULL;
    }
    ops_charge_id(hold, json_integer_value(json_object_get(op, "task")),
                  json_integer_value(json_object_get(op, "attempt")), id);
    json_t *charge = json_pack("{s:s, s:s, s:s, s:O, s:O, s:O, s:O}", "op", "charge", "id", id,
                               "cluster", cluster, "account", json_object_get(job, "account"),
                               "user", json_object_get(job, "user"), "job_key",
                               json_object_get(job, "job_key"), "resources", allocated);
    if (charge == NULL || (shared_copy(op, charge) | job_copy(job, charge)) != 0) {
        json_decref(charge);
        return NULL;
    }
    return charge;
}

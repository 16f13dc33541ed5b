/* SPDX-License-Identifier: MIT
 *
 * What becomes of a line by the answer to it is one table: see deliver.h and SPEC 5.12. */
#include "clients/slurm/agent/deliver.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "clients/slurm/agent/logs.h"
#include "clients/slurm/agent/ops.h"

enum fate_of_line {
    LINE_DONE,
    LINE_CHARGE,  /* no such hold: the use is charged without one */
    LINE_CORRECT, /* settled with other facts: these are better */
    LINE_DROP,    /* does not matter any more; a line in the log */
    LINE_REJECT,  /* for a person to read */
};

static bool is_op(const json_t *op, const char *name)
{
    const char *is = json_string_value(json_object_get(op, "op"));
    return is != NULL && strcmp(is, name) == 0;
}

static bool is_end(const json_t *op)
{
    return is_op(op, "settle") || is_op(op, "requeue");
}

static enum fate_of_line line_fate(const json_t *op, const json_t *answer)
{
    const int status = link_status(answer);
    const char *code = link_code(answer);
    if (status >= 200 && status < 300) {
        return LINE_DONE;
    }
    if (strcmp(code, "unknown_hold") == 0) {
        return is_end(op) ? LINE_CHARGE : LINE_DROP;
    }
    if (strcmp(code, "run_conflict") == 0) {
        return LINE_CORRECT;
    }
    if (is_op(op, "freeze") || strcmp(code, "quota_insufficient") == 0 ||
        strcmp(code, "invalid_state") == 0) {
        return LINE_DROP;
    }
    return LINE_REJECT;
}

/* The plugin's file about a job that it let through: its freeze has been decided, once and for all. */
static void spool_forget(const struct deliver *deliver, const json_t *op)
{
    char path[512];
    const char *id = json_string_value(json_object_get(op, "id"));
    (void)snprintf(path, sizeof path, "%s/%s.json", deliver->spool_dir, id == NULL ? "" : id);
    if (unlink(path) != 0 && errno != ENOENT) {
        logs_say(4, "%s cannot be removed: %s", path, strerrordesc_np(errno));
    }
    const int folder = open(deliver->spool_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder >= 0) {
        (void)fsync(folder);
        (void)close(folder);
    }
}

static const char *hold_of(const json_t *op)
{
    const char *hold = json_string_value(json_object_get(op, "hold"));
    hold = hold == NULL ? json_string_value(json_object_get(op, "id")) : hold;
    return hold == NULL ? "" : hold;
}

static void log_answer(int level, const json_t *op, const json_t *answer)
{
    const char *detail = json_string_value(json_object_get(answer, "detail"));
    logs_say(level, "%s %s: %d %s: %s", json_string_value(json_object_get(op, "op")), hold_of(op),
             link_status(answer), link_code(answer), detail == NULL ? "" : detail);
}

/* Sends another operation in a line's place. Returns false when the daemon is away. */
static bool instead_send(struct deliver *deliver, const json_t *line, json_t *op)
{
    json_t *answer = op == NULL ? NULL : link_do(deliver->client, op, false, deliver->detail);
    const int status = link_status(answer);
    if (op == NULL) {
        outbox_reject(deliver->outbox, line, NULL);
        return true;
    }
    const bool later = answer == NULL || link_is_later(status);
    if (!later && status >= 300) {
        log_answer(3, op, answer);
        outbox_reject(deliver->outbox, line, answer);
    } else if (!later && is_op(op, "charge")) {
        logs_say(6, "job %s was charged without a hold (%s)",
                 json_string_value(json_object_get(op, "job_key")), hold_of(op));
    }
    json_decref(answer);
    json_decref(op);
    return !later;
}

/* The same facts as a correction. */
static json_t *correct_of(const json_t *op)
{
    json_t *correct = json_copy((json_t *)(uintptr_t)op);
    int failed = correct == NULL;
    failed |= json_object_set_new(correct, "op", json_string("correct"));
    failed |= json_object_set_new(correct, "source", json_string("sacct"));
    failed |= json_object_set_new(correct, "reason",
                                  json_string("Slurm's accounting record says otherwise"));
    (void)json_object_del(correct, "run_key");
    (void)json_object_del(correct, "hosts");
    if (failed != 0) {
        json_decref(correct);
        return NULL;
    }
    return correct;
}

static void done_handle(struct deliver *deliver,
                        const json_t *line,
                        const json_t *op,
                        const json_t *answer)
{
    const json_int_t raw_id =
        json_integer_value(json_object_get(json_object_get(line, "job"), "raw_id"));
    if (is_op(op, "requeue") && link_status(answer) == 202 && raw_id > 0 && raw_id < UINT32_MAX) {
        deliver->hold_job(deliver->context, (uint32_t)raw_id);
    }
}

/* Returns false when the daemon is away: the line stays. */
static bool line_handle(struct deliver *deliver, const json_t *line, const json_t *answer)
{
    const json_t *op = json_object_get(line, "op");
    if (link_is_later(link_status(answer))) {
        (void)snprintf(deliver->detail, sizeof deliver->detail, "the daemon answers %d %s",
                       link_status(answer), link_code(answer));
        return false;
    }
    if (is_op(op, "freeze")) {
        spool_forget(deliver, op);
    }
    switch (line_fate(op, answer)) {
    case LINE_DONE:
        done_handle(deliver, line, op, answer);
        return true;
    case LINE_CHARGE:
        return instead_send(deliver, line,
                            ops_charge(op, json_object_get(line, "job"), deliver->cluster));
    case LINE_CORRECT:
        return instead_send(deliver, line, correct_of(op));
    case LINE_DROP:
        log_answer(6, op, answer);
        return true;
    case LINE_REJECT:
        log_answer(3, op, answer);
        outbox_reject(deliver->outbox, line, answer);
        return true;
    }
    return true;
}

static json_t *ops_of(const json_t *lines)
{
    json_t *ops = json_array();
    size_t i;
    json_t *line;
    json_array_foreach(lines, i, line)
    {
        (void)json_array_append(ops, json_object_get(line, "op"));
    }
    return ops;
}

enum deliver_result deliver_some(struct deliver *deliver)
{
    json_t *lines = outbox_peek(deliver->outbox, LINK_BATCH);
    if (json_array_size(lines) == 0) {
        json_decref(lines);
        return DELIVER_EMPTY;
    }
    json_t *ops = ops_of(lines);
    json_t *answers = link_batch(deliver->client, ops, false, deliver->detail);
    size_t handled = 0;
    while (answers != NULL && handled < json_array_size(lines) &&
           line_handle(deliver, json_array_get(lines, handled), json_array_get(answers, handled))) {
        handled++;
    }
    const bool all = answers != NULL && handled == json_array_size(lines);
    json_decref(answers);
    json_decref(ops);
    json_decref(lines);
    if (!outbox_advance(deliver->outbox, handled)) {
        (void)snprintf(deliver->detail, sizeof deliver->detail, "the outbox cannot be written");
        return DELIVER_AWAY;
    }
    if (!all) {
        return DELIVER_AWAY;
    }
    return outbox_waiting(deliver->outbox) > 0 ? DELIVER_MORE : DELIVER_EMPTY;
}

/* Closed months: their list, their digests, their usage in canonical form, and closing one (SPEC 8.2). */
#include <stdlib.h>
#include <string.h>

#include "ledger/base/calendar.h"
#include "ledger/base/cleanup.h"
#include "ledger/base/text.h"
#include "server/api.h"
#include "server/decode_commands.h"
#include "server/encode.h"
#include "server/json_in.h"
#include "server/rights.h"

/* ---- the path */

static enum error_code read_month(const struct request *request,
                                  int64_t *ret_month,
                                  struct error *err)
{
    int32_t month;
    if (calendar_parse_month(request->path_values[1], &month, NULL) != ERR_OK) {
        return error_set(err, ERR_NOT_FOUND, "no month %s", request->path_values[1]);
    }
    *ret_month = month;
    return ERR_OK;
}

/* A close has nothing to say beside its path: no body, or an empty object. */
static enum error_code check_body(const struct request *request, struct error *err)
{
    if (request->body_bytes == 0) {
        return ERR_OK;
    }
    CLEANUP(json_in_decref) json_t *body = NULL;
    const enum error_code code = request_parse_body(request, &body, err);
    if (code == ERR_OK && !json_is_object(body)) {
        return error_set(err, ERR_MALFORMED, "the body is no object");
    }
    void *first = code == ERR_OK ? json_object_iter(body) : NULL;
    if (first != NULL) {
        return error_set_field(err, ERR_INVALID_FIELD, json_object_iter_key(first),
                               "unknown field");
    }
    return code;
}

enum error_code api_place_period(struct request *request,
                                 struct command *command,
                                 struct error *err)
{
    enum error_code code = check_body(request, err);
    if (code != ERR_OK) {
        return code;
    }
    code = request_path_value(request, 0, text_is_node_name, command->close.root,
                              sizeof(command->close.root), err);
    return code == ERR_OK ? read_month(request, &command->close.month, err) : code;
}

static enum error_code find_root(const struct request *request,
                                 struct ledger_reader *reader,
                                 struct node *ret_root,
                                 struct error *err)
{
    struct rights rights;
    const char *name = request->path_values[0];
    enum error_code code = rights_begin(&request->principal, reader, &rights, err);
    if (code == ERR_OK) {
        code = ledger_read_node(reader, NODE_ORGANIZATION, name, "", ret_root, err);
    }
    if (code == ERR_OK) {
        code = rights_see_node(&rights, ret_root, name, err);
    }
    if (code == ERR_NOT_FOUND || (code == ERR_OK && ret_root->root_no != ret_root->node_no)) {
        return error_set(err, ERR_NOT_FOUND, "no root %s", name);
    }
    return code;
}

/* ---- digests */

/*
 * A month that was closed a moment ago has no digest yet: it is computed here, and written down. A short read only finds
 * that out: all rows of a month are no work for those who answer everyone else.
 */
static enum error_code complete(struct request *request,
                                struct ledger_reader *reader,
                                struct period *period,
                                struct error *err)
{
    if (period->sealed != 0) {
        return ERR_OK;
    }
    if (!request->is_long) {
        request->wants_long = true;
        return ERR_OK;
    }
    const enum error_code code = ledger_period_rows(reader, period, NULL, NULL, err);
    if (code == ERR_OK) {
        struct command command;
        command_reset(&command, COMMAND_SEAL);
        command.role = ROLE_ADMIN;
        command.seal = *period;
        api_send_quietly(request->service, &command);
        period->sealed = 1;
    }
    return code;
}

static void encode_period(struct json_out *out, const char *root, const struct period *period)
{
    char month[CALENDAR_MONTH_TEXT_BYTES];
    char digest[DIGEST_TEXT_BYTES];
    json_out_text(out, "root", root);
    json_out_text(out, "month", calendar_format_month((int32_t)period->month, month));
    json_out_bool(out, "closed", true);
    json_out_time_ms(out, "closed_at", period->closed_ms);
    json_out_text(out, "closed_with", calendar_format_month((int32_t)period->closing_month, month));
    json_out_integer(out, "last_entry", period->last_seq);
    if (period->sealed == 0) {
        json_out_null(out, "digest");
        return;
    }
    json_out_text(out, "digest", digest_format(&period->digest, digest));
    json_out_integer(out, "rows", period->row_count);
    json_out_amount(out, "used", period->used_mcs);
    json_out_amount(out, "waived", period->waived_mcs);
    json_out_exact(out, "mgs", period->mgs);
    json_out_integer(out, "runs", period->runs);
}

void encode_close_answer(struct json_out *out,
                         const struct command *command,
                         const struct ledger_result *result)
{
    encode_period(out, command->close.root, &result->period);
}

/* ---- reading */

/* All of them: a root has a few hundred months. */
struct period_list {
    struct period *rows; /* owned */
    size_t count;
    size_t capacity;
    bool failed;
};

static bool keep_period(void *context, const void *record)
{
    struct period_list *list = context;
    if (list->count == list->capacity) {
        const size_t capacity = list->capacity == 0 ? 64 : 2 * list->capacity;
        struct period *rows = realloc(list->rows, capacity * sizeof(rows[0]));
        if (rows == NULL) {
            list->failed = true;
            return false;
        }
        list->rows = rows;
        list->capacity = capacity;
    }
    list->rows[list->count++] = *(const struct period *)record;
    return true;
}

static enum error_code keep_periods(struct ledger_reader *reader,
                                    const struct node *root,
                                    struct period_list *list,
                                    struct error *err)
{
    const struct select_args args = {.n = {root->node_no}};
    const enum error_code code =
        ledger_read_list(reader, SELECT_PERIODS, &args, keep_period, list, err);
    return code == ERR_OK && list->failed ? error_set(err, ERR_UNAVAILABLE, "out of memory") : code;
}

static enum error_code write_list(struct request *request,
                                  struct ledger_reader *reader,
                                  struct json_out *out,
                                  struct error *err)
{
    struct node root;
    struct period_list list = {.count = 0};
    enum error_code code = find_root(request, reader, &root, err);
    if (code == ERR_OK) {
        code = keep_periods(reader, &root, &list, err);
    }
    json_out_array_open(out, "items");
    for (size_t i = 0; i < list.count && code == ERR_OK && !request_is_put_off(request); i++) {
        code = complete(request, reader, &list.rows[i], err);
        json_out_object_open(out, NULL);
        encode_period(out, root.name, &list.rows[i]);
        json_out_object_close(out);
    }
    json_out_array_close(out);
    json_out_null(out, "next_page_token");
    free(list.rows);
    return code;
}

void api_list_periods(struct request *request)
{
    request_answer_by_reading(request, write_list);
}

static enum error_code read_period(struct request *request,
                                   struct ledger_reader *reader,
                                   struct node *ret_root,
                                   struct period *ret_period,
                                   struct error *err)
{
    int64_t month = 0;
    enum error_code code = find_root(request, reader, ret_root, err);
    if (code == ERR_OK) {
        code = read_month(request, &month, err);
    }
    if (code == ERR_OK) {
        code = ledger_read_period(reader, ret_root->node_no, month, ret_period, err);
    }
    if (code == ERR_NOT_FOUND) {
        return error_set(err, code, "%s of %s is not closed", request->path_values[1],
                         request->path_values[0]);
    }
    return code == ERR_OK ? complete(request, reader, ret_period, err) : code;
}

static enum error_code write_period(struct request *request,
                                    struct ledger_reader *reader,
                                    struct json_out *out,
                                    struct error *err)
{
    struct node root;
    struct period period;
    const enum error_code code = read_period(request, reader, &root, &period, err);
    if (code == ERR_OK) {
        encode_period(out, root.name, &period);
    }
    return code;
}

void api_get_period(struct request *request)
{
    request_answer_by_reading(request, write_period);
}

/* ---- canonical rows */

static bool take_bytes(void *context, const void *bytes, size_t length_bytes)
{
    struct request *request = context;
    (void)buffer_append(&request->answer.body, bytes, length_bytes);
    return request_answer_spill(request);
}

static void read_rows(struct request *request, struct ledger_reader *reader)
{
    struct error err;
    struct node root;
    struct period period;
    struct json_out unused;
    enum error_code code = ledger_reader_begin(reader, &err);
    if (code == ERR_OK) {
        code = read_period(request, reader, &root, &period, &err);
        request_answer_begin(request, 200, &unused);
        request->answer.content_type = "text/csv; charset=utf-8; header=present";
        if (code == ERR_OK) {
            code = ledger_period_rows(reader, &period, take_bytes, request, &err);
        }
        ledger_reader_end(reader);
    }
    if (code != ERR_OK) {
        request_refuse(request, &err);
        return;
    }
    request_answer_end(request);
}

void api_period_rows(struct request *request)
{
    request_answer_by_report(request, read_rows);
}

/* ---- closing */

static void encode_open(struct json_out *out, const struct ledger_still_open *open)
{
    json_out_object_open(out, "still_open");
    json_out_integer(out, "runs", open->runs);
    json_out_integer(out, "stale_runs", open->stale_runs);
    json_out_integer(out, "unbound_holds", open->unbound);
    json_out_integer(out, "unattributed_charges", open->unattributed);
    json_out_amount(out, "unattributed", open->unattributed_mcs);
    json_out_array_open(out, "examples");
    for (int64_t i = 0; i < open->listed; i++) {
        const struct ledger_open_run *run = &open->run[i];
        json_out_object_open(out, NULL);
        json_out_text(out, "hold", run->hold);
        json_out_text(out, "project", run->project);
        json_out_text(out, "user", run->user);
        json_out_integer(out, "task", run->task);
        json_out_integer(out, "attempt", run->attempt);
        json_out_time(out, "started_at", run->started_s);
        json_out_time(out, "last_seen", run->last_seen_s);
        json_out_bool(out, "stale", run->stale);
        json_out_object_close(out);
    }
    json_out_array_close(out);
    json_out_object_close(out);
}

static enum error_code encode_closed(struct request *request,
                                     struct ledger_reader *reader,
                                     struct json_out *out,
                                     struct error *err)
{
    static _Thread_local struct ledger_still_open open;
    struct period period = request->slot->result.period;
    struct node root;
    enum error_code code = ledger_read_node_no(reader, period.root_no, &root, err);
    if (code == ERR_OK && request->dry_run) {
        code = ledger_read_still_open(reader, &root, period.month, request->now_ms, &open, err);
    }
    if (code == ERR_OK && request->dry_run && period.sealed == 0) {
        code = ledger_period_rows(reader, &period, NULL, NULL, err);
        period.sealed = code == ERR_OK;
    } else if (code == ERR_OK) {
        code = complete(request, reader, &period, err);
    }
    if (code == ERR_OK) {
        encode_period(out, root.name, &period);
        if (request->dry_run) {
            encode_open(out, &open);
        }
    }
    return code;
}

/* The close is done, and its answer tells the digest: the same whenever it is asked for. A preview tells what is still
 * open instead, which would be booked in the next month. */
void api_read_closed(struct request *request, struct ledger_reader *reader)
{
    struct error err;
    struct json_out out;
    request_answer_begin(request, 200, &out);
    json_out_object_open(&out, NULL);
    enum error_code code = ledger_reader_begin(reader, &err);
    if (code == ERR_OK) {
        code = encode_closed(request, reader, &out, &err);
        ledger_reader_end(reader);
    }
    json_out_object_close(&out);
    if (code != ERR_OK) {
        return; /* the answer is then written without it */
    }
    request->answer.is_replayed = request->slot->result.replayed;
    request_answer_end(request);
}

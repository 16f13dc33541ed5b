/* POST /v1/batch: NDJSON, a command a line, an answer a line. */
#include <stdlib.h>
#include <string.h>

#include "ledger/base/cleanup.h"
#include "server/api.h"
#include "server/bulk.h"
#include "server/decode_commands.h"
#include "server/json_in.h"
#include "server/problem.h"

struct batch_source {
    struct bulk_source bulk; /* first */
    const char *at;          /* the next line */
    int64_t number;
};

static bool is_blank(const char *line, size_t bytes)
{
    return strspn(line, " \t\r") >= bytes;
}

/* Cut off the next line that is not blank. False at the end. */
static bool next_text(const char **at,
                      const char *end,
                      int64_t *number,
                      const char **ret_line,
                      size_t *ret_bytes)
{
    while (*at < end) {
        const char *line = *at;
        const char *newline = memchr(line, '\n', (size_t)(end - line));
        const size_t bytes = (size_t)((newline != NULL ? newline : end) - line);
        *at = line + bytes + 1;
        ++*number;
        if (!is_blank(line, bytes < (size_t)(end - line) ? bytes : (size_t)(end - line))) {
            *ret_line = line;
            *ret_bytes = bytes;
            return true;
        }
    }
    return false;
}

static enum error_code decode_line(struct batch_source *source,
                                   struct bulk *bulk,
                                   const json_t *body,
                                   struct bulk_line *line)
{
    const json_t *op = json_object_get(body, "op");
    if (!json_is_string(op)) {
        return error_set_field(&line->error, ERR_INVALID_FIELD, "op",
                               "required: freeze, settle, ...");
    }
    const enum command_kind kind = command_kind_of_op(json_string_value(op));
    if (kind == COMMAND__COUNT) {
        return error_set_field(&line->error, ERR_INVALID_FIELD, "op", "\"%.40s\" is no operation",
                               json_string_value(op));
    }
    const struct route *route;
    const enum error_code code = bulk_find_route(source->bulk.request, kind, &route, &line->error);
    if (code != ERR_OK) {
        return code;
    }
    struct command *command = bulk_command(bulk, &source->bulk, line, route);
    return decode_command(body, true, command, &line->error);
}

static bool next_line(struct bulk_source *bulk_source, struct bulk *bulk, struct bulk_line *line)
{
    struct batch_source *source = (struct batch_source *)(void *)bulk_source;
    const struct request *request = bulk_source->request;
    const char *text;
    size_t bytes;
    if (!next_text(&source->at, request->body + request->body_bytes, &source->number, &text,
                   &bytes)) {
        return false;
    }
    line->number = source->number;
    CLEANUP(json_in_decref) json_t *body = NULL;
    if (bulk_line_parse(line, "a line", text, bytes, &body) == ERR_OK) {
        (void)decode_line(source, bulk, body, line);
    }
    return true;
}

/* `status`, then what the command's own route would answer. */
static void write_line(struct bulk_source *source,
                       struct json_out *out,
                       const struct bulk_line *line)
{
    const struct ledger_result *result = line->result;
    json_out_object_open(out, NULL);
    if (result != NULL && api_is_answer(line->command, result)) {
        json_out_integer(out, "status", api_status_of(line->row, result));
        line->row->encode(out, line->command, result);
    } else {
        const struct problem problem = {
            .error = result != NULL ? &result->error : &line->error,
            .refusal = result != NULL ? result->refusal : NULL,
            .is_chinese = source->request->is_chinese,
            .line = line->number,
        };
        problem_write(out, &problem);
    }
    json_out_object_close(out);
    (void)buffer_append_byte(out->buffer, '\n');
    out->needs_comma = false;
}

static void batch_fini(struct bulk_source *source)
{
    free(source);
}

static enum error_code count_lines(const struct request *request,
                                   size_t *ret_lines,
                                   struct error *err)
{
    const char *at = request->body;
    int64_t number = 0;
    const char *text;
    size_t bytes;
    size_t lines = 0;
    while (next_text(&at, request->body + request->body_bytes, &number, &text, &bytes)) {
        lines++;
    }
    if (lines > LIMIT_BATCH_LINES) {
        return error_set(err, ERR_TOO_MANY_LINES, "%zu lines are more than %d", lines,
                         LIMIT_BATCH_LINES);
    }
    *ret_lines = lines;
    return ERR_OK;
}

static enum error_code submit_batch(struct request *request, struct error *err)
{
    size_t lines = 0;
    bool is_atomic;
    enum error_code code = request_query_switch(request, QUERY_ATOMIC, &is_atomic, err);
    if (code == ERR_OK) {
        code = count_lines(request, &lines, err);
    }
    if (code != ERR_OK) {
        return code;
    }
    struct batch_source *source = calloc(1, sizeof(*source));
    if (source == NULL) {
        return error_set(err, ERR_UNAVAILABLE, "out of memory");
    }
    source->at = request->body;
    source->bulk = (struct bulk_source){
        .next = next_line,
        .write = write_line,
        .fini = batch_fini,
        .request = request,
        .content_type = "application/x-ndjson",
        .is_atomic = is_atomic,
        .lines = lines,
    };
    code = bulk_submit(request->service->bulk, &source->bulk, err);
    if (code != ERR_OK) {
        free(source);
    }
    return code;
}

void api_batch(struct request *request)
{
    struct error err;
    request->is_pending = true;
    if (submit_batch(request, &err) != ERR_OK) {
        request->is_pending = false;
        request_refuse(request, &err);
    }
}

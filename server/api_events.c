/*
 * POST /v1/events: CloudEvents 1.0, one (structured) or an array (batch).
 *
 * An event is a verb in an envelope: its data is the verb's body. source and id are the sender's duplicate key; that a
 * command twice is the same decision again is the ledger's doing, so nothing of the envelope is kept. Attributes that
 * are not known pass (SPEC 11.5).
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ledger/base/cleanup.h"
#include "server/api.h"
#include "server/api_heartbeats.h"
#include "server/bulk.h"
#include "server/decode_commands.h"
#include "server/json_in.h"
#include "server/problem.h"

enum { ATTRIBUTE_BYTES = 256 };

static const struct event_type {
    const char *type;
    enum command_kind kind;
} event_types[] = {
    {"corehour.job.submitted", COMMAND_FREEZE},    {"corehour.job.started", COMMAND_START},
    {"corehour.job.heartbeat", COMMAND_HEARTBEAT}, {"corehour.job.suspended", COMMAND_SUSPEND},
    {"corehour.job.resumed", COMMAND_RESUME},      {"corehour.job.requeued", COMMAND_REQUEUE},
    {"corehour.job.finished", COMMAND_SETTLE},     {"corehour.job.cancelled", COMMAND_RELEASE},
};

/* The envelope, borrowed from its tree. */
struct envelope {
    const char *source;
    const char *id;
    enum command_kind kind;
    json_t *data;
};

static enum error_code read_attribute(const json_t *event,
                                      const char *name,
                                      const char **ret_text,
                                      struct error *err)
{
    const json_t *value = json_object_get(event, name);
    const size_t bytes = json_string_length(value); /* 0 for what is no string */
    if (bytes == 0 || bytes > ATTRIBUTE_BYTES) {
        return error_set_field(err, ERR_INVALID_FIELD, name, "required, a text of 1 to %d bytes",
                               ATTRIBUTE_BYTES);
    }
    *ret_text = json_string_value(value);
    return ERR_OK;
}

static enum error_code read_kind(const char *type, enum command_kind *ret_kind, struct error *err)
{
    for (size_t i = 0; i < ARRAY_LEN(event_types); i++) {
        if (strcmp(event_types[i].type, type) == 0) {
            *ret_kind = event_types[i].kind;
            return ERR_OK;
        }
    }
    return error_set_field(err, ERR_INVALID_FIELD, "type", "\"%.60s\" is no event of a job", type);
}

static enum error_code read_envelope(const json_t *event,
                                     struct envelope *envelope,
                                     struct error *err)
{
    const char *version = NULL;
    const char *type = NULL;
    if (!json_is_object(event)) {
        return error_set(err, ERR_INVALID_FIELD, "an event is an object");
    }
    enum error_code code = read_attribute(event, "id", &envelope->id, err);
    code = code == ERR_OK ? read_attribute(event, "source", &envelope->source, err) : code;
    code = code == ERR_OK ? read_attribute(event, "specversion", &version, err) : code;
    if (code == ERR_OK && strcmp(version, "1.0") != 0) {
        code = error_set_field(err, ERR_INVALID_FIELD, "specversion", "only 1.0 is understood");
    }
    code = code == ERR_OK ? read_attribute(event, "type", &type, err) : code;
    code = code == ERR_OK ? read_kind(type, &envelope->kind, err) : code;
    if (code != ERR_OK) {
        return code;
    }
    envelope->data = json_object_get(event, "data");
    if (!json_is_object(envelope->data)) {
        return error_set_field(err, ERR_INVALID_FIELD, "data", "required, an object");
    }
    return ERR_OK;
}

/* Faults in the data are named with their place in the event. */
static enum error_code decode_data(const struct envelope *envelope,
                                   struct command *command,
                                   struct error *err)
{
    struct error why = {0};
    const enum error_code code = decode_command(envelope->data, true, command, &why);
    if (code == ERR_OK) {
        return code;
    }
    char field[LIMIT_ERROR_FIELD_BYTES + 1] = "data";
    if (why.field[0] != '\0') {
        (void)snprintf(field, sizeof(field), "data.%.58s", why.field);
    }
    return error_set_field(err, code, field, "%s", why.detail);
}

/* ---- one event: the verb's own answer */

static enum error_code submit_one(struct request *request, const json_t *event, struct error *err)
{
    struct envelope envelope;
    const struct route *route;
    struct command *command;
    enum error_code code = read_envelope(event, &envelope, err);
    if (code == ERR_OK && json_object_get(envelope.data, "runs") != NULL) {
        api_heartbeats_submit(request, true);
        return ERR_OK;
    }
    code = code == ERR_OK ? bulk_find_route(request, envelope.kind, &route, err) : code;
    code = code == ERR_OK ? api_command_begin(request, route->command, &command, err) : code;
    code = code == ERR_OK ? decode_data(&envelope, command, err) : code;
    if (code == ERR_OK) {
        api_command_submit(request);
    }
    return code;
}

/* ---- an array of events: one result each */

/* Elements are cut out of the body and parsed one by one: a tree of 16 MiB of JSON would be far larger. */
struct events_source {
    struct bulk_source bulk; /* first */
    const char *at;
    const char *end;
    int64_t number;
};

/* The element that begins at *at, which is moved behind its comma. False at the closing bracket. */
static bool next_element(const char **at, const char *end, const char **ret_text, size_t *ret_bytes)
{
    const char *from = *at;
    while (from < end && isspace((unsigned char)*from)) {
        from++;
    }
    if (from >= end || *from == ']') {
        return false;
    }
    int depth = 0;
    bool in_string = false;
    const char *to = from;
    for (; to < end; to++) {
        if (in_string) {
            to += *to == '\\';
            in_string = to >= end || *to != '"';
        } else if (*to == '"') {
            in_string = true;
        } else if (*to == '{' || *to == '[') {
            depth++;
        } else if (depth == 0 && (*to == ',' || *to == '}' || *to == ']')) {
            break;
        } else if (*to == '}' || *to == ']') {
            depth--;
        }
    }
    to = to < end ? to : end;
    *ret_text = from;
    *ret_bytes = (size_t)(to - from);
    *at = to < end && *to == ',' ? to + 1 : to;
    return true;
}

/* The array's shape as a whole: [ elements ], at most LIMIT_BATCH_LINES of them. */
static enum error_code check_array(const struct request *request,
                                   const char **ret_first,
                                   size_t *ret_count,
                                   struct error *err)
{
    const char *end = request->body + request->body_bytes;
    const char *at = request->body;
    while (at < end && isspace((unsigned char)*at)) {
        at++;
    }
    const char *text;
    size_t bytes;
    size_t count = 0;
    *ret_first = ++at;
    while (next_element(&at, end, &text, &bytes)) {
        count++;
    }
    const char *rest = at;
    while (rest < end && isspace((unsigned char)*rest)) {
        rest++;
    }
    if (rest >= end || *rest != ']' || strspn(rest + 1, " \t\r\n") < (size_t)(end - rest - 1)) {
        return error_set(err, ERR_MALFORMED, "the array of events does not end");
    }
    if (count == 0) {
        return error_set(err, ERR_INVALID_FIELD, "the array of events is empty");
    }
    *ret_count = count;
    return count <= LIMIT_BATCH_LINES
               ? ERR_OK
               : error_set(err, ERR_TOO_MANY_LINES, "%zu events are more than %d", count,
                           LIMIT_BATCH_LINES);
}

static enum error_code make_line(struct events_source *source,
                                 struct bulk *bulk,
                                 const json_t *event,
                                 struct bulk_line *line)
{
    struct envelope envelope = {0};
    const struct route *route;
    enum error_code code = read_envelope(event, &envelope, &line->error);
    line->id = envelope.id != NULL ? strdup(envelope.id) : NULL;
    line->source = envelope.source != NULL ? strdup(envelope.source) : NULL;
    if (code == ERR_OK) {
        code = bulk_find_route(source->bulk.request, envelope.kind, &route, &line->error);
    }
    if (code == ERR_OK) {
        struct command *command = bulk_command(bulk, &source->bulk, line, route);
        code = decode_data(&envelope, command, &line->error);
    }
    return code;
}

static bool next_event(struct bulk_source *bulk_source, struct bulk *bulk, struct bulk_line *line)
{
    struct events_source *source = (struct events_source *)(void *)bulk_source;
    const char *text;
    size_t bytes;
    if (!next_element(&source->at, source->end, &text, &bytes)) {
        return false;
    }
    line->number = ++source->number;
    CLEANUP(json_in_decref) json_t *event = NULL;
    if (bulk_line_parse(line, "an event", text, bytes, &event) == ERR_OK) {
        (void)make_line(source, bulk, event, line);
    }
    return true;
}

static void write_outcome(struct bulk_source *source,
                          struct json_out *out,
                          const struct bulk_line *line)
{
    const struct ledger_result *result = line->result;
    if (result != NULL && result->error.code == ERR_OK) {
        const bool is_heartbeat = line->command->kind == COMMAND_HEARTBEAT;
        json_out_integer(out, "status", api_status_of(line->row, result));
        if (!is_heartbeat) {
            json_out_object_open(out, "hold");
        }
        line->row->encode(out, line->command, result);
        if (!is_heartbeat) {
            json_out_object_close(out);
        }
        return;
    }
    const struct problem problem = {
        .error = result != NULL ? &result->error : &line->error,
        .refusal = result != NULL ? result->refusal : NULL,
        .is_chinese = source->request->is_chinese,
        .line = line->number,
    };
    problem_write(out, &problem);
}

static void write_event(struct bulk_source *source,
                        struct json_out *out,
                        const struct bulk_line *line)
{
    json_out_object_open(out, NULL);
    if (line->source != NULL) {
        json_out_text(out, "source", line->source);
    }
    if (line->id != NULL) {
        json_out_text(out, "id", line->id);
    }
    write_outcome(source, out, line);
    json_out_object_close(out);
    free(line->source);
    free(line->id);
}

static void events_fini(struct bulk_source *source)
{
    free(source);
}

static enum error_code submit_array(struct request *request, struct error *err)
{
    const char *first;
    size_t count = 0;
    enum error_code code = check_array(request, &first, &count, err);
    if (code != ERR_OK) {
        return code;
    }
    struct events_source *source = calloc(1, sizeof(*source));
    if (source == NULL) {
        return error_set(err, ERR_UNAVAILABLE, "out of memory");
    }
    source->at = first;
    source->end = request->body + request->body_bytes;
    source->bulk = (struct bulk_source){
        .next = next_event,
        .write = write_event,
        .begin = bulk_results_begin,
        .end = bulk_results_end,
        .fini = events_fini,
        .request = request,
        .content_type = "application/json",
        .lines = count,
    };
    code = bulk_submit(request->service->bulk, &source->bulk, err);
    if (code != ERR_OK) {
        free(source);
    }
    return code;
}

/* ---- the handler */

static bool is_array(const struct request *request)
{
    const size_t blank = strspn(request->body, " \t\r\n");
    return request->body[blank] == '[';
}

void api_events(struct request *request)
{
    struct error err;
    if (is_array(request)) {
        request->is_pending = true;
        if (submit_array(request, &err) != ERR_OK) {
            request->is_pending = false;
            request_refuse(request, &err);
        }
        return;
    }
    CLEANUP(json_in_decref) json_t *event = NULL;
    if (request->body_bytes > LIMIT_BODY_BYTES) {
        (void)error_set(&err, ERR_TOO_LARGE, "an event has at most %d bytes", LIMIT_BODY_BYTES);
        request_refuse(request, &err);
    } else if (request_parse_body(request, &event, &err) != ERR_OK ||
               submit_one(request, event, &err) != ERR_OK) {
        request_refuse(request, &err);
    }
}

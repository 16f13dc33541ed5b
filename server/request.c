/* Requests: reading their line and answering them. Nothing here waits. */
#include "server/request.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ledger/base/text.h"
#include "server/http.h"
#include "server/json_in.h"
#include "server/problem.h"
#include "server/service.h"

/* ---- answers */

static void drop_file(struct answer *answer)
{
    if (answer->has_file) {
        (void)close(answer->file);
        answer->has_file = false;
        answer->file_bytes = 0;
    }
}

void request_answer_begin(struct request *request, uint16_t status, struct json_out *ret_out)
{
    struct answer *answer = &request->answer;
    buffer_fini(&answer->body);
    drop_file(answer);
    buffer_init(&answer->body, REQUEST_ANSWER_BYTES);
    (void)buffer_reserve(&answer->body, 511); /* most answers fit at once */
    answer->status = status;
    answer->code = ERR_OK;
    answer->content_type = "application/json";
    json_out_init(ret_out, &answer->body, request->amounts_as_text);
}

/* Not where the ledger is: a large report must not fill its disk. */
static int open_unnamed(void)
{
    static const char *const folders[] = {"/var/tmp", "/tmp"};
    int fd = -1;
    for (size_t i = 0; i < ARRAY_LEN(folders) && fd < 0; i++) {
        fd = open(folders[i], O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    }
    return fd;
}

enum error_code request_answer_file(struct request *request, int *ret_fd, struct error *err)
{
    struct answer *answer = &request->answer;
    if (!answer->has_file) {
        answer->file = open_unnamed();
        answer->has_file = answer->file >= 0;
        answer->file_bytes = 0;
    }
    if (!answer->has_file) {
        return error_set(err, ERR_UNAVAILABLE, "no temporary file for a long answer: %m");
    }
    *ret_fd = answer->file;
    return ERR_OK;
}

static bool write_all(int fd, const char *bytes, size_t count)
{
    while (count > 0) {
        const ssize_t written = write(fd, bytes, count);
        if (written < 0 && errno != EINTR) {
            return false;
        }
        if (written > 0) {
            bytes += written;
            count -= (size_t)written;
        }
    }
    return true;
}

/* What is in memory goes to the end of the file. */
static bool move_to_file(struct request *request)
{
    struct answer *answer = &request->answer;
    int fd;
    if (buffer_failure(&answer->body) != ERR_OK ||
        request_answer_file(request, &fd, NULL) != ERR_OK ||
        !write_all(fd, answer->body.bytes, answer->body.length_bytes)) {
        answer->body.failure = ERR_UNAVAILABLE;
        return false;
    }
    answer->file_bytes += answer->body.length_bytes;
    buffer_reset(&answer->body);
    return true;
}

bool request_answer_spill(struct request *request)
{
    return request->answer.body.length_bytes < REQUEST_SPILL_BYTES || move_to_file(request);
}

/* Out of memory, or an answer beyond all bounds. */
static void answer_failed_buffer(struct request *request)
{
    static const char body[] =
        "{\"type\":\"https://corehour.invalid/problems/unavailable\",\"code\":\"unavailable\","
        "\"status\":503,\"title\":\"the answer needs more memory than there is\"}";
    struct answer *answer = &request->answer;
    buffer_fini(&answer->body);
    drop_file(answer);
    answer->static_body = body;
    answer->static_bytes = sizeof(body) - 1;
    answer->status = error_http_status(ERR_UNAVAILABLE);
    answer->code = ERR_UNAVAILABLE;
    answer->content_type = "application/problem+json";
}

void request_answer_end(struct request *request)
{
    if (request->answer.has_file && request->answer.body.length_bytes > 0) {
        (void)move_to_file(request);
    }
    if (buffer_failure(&request->answer.body) != ERR_OK) {
        answer_failed_buffer(request);
    }
    request->answer.is_ready = true;
}

void request_answer_empty(struct request *request, uint16_t status)
{
    request->answer.status = status;
    request->answer.is_ready = true;
}

/* How long to wait, of refusals that say "later". */
static int32_t retry_after_s(enum error_code code)
{
    switch ((int)code) {
    case ERR_RATE_LIMITED:
        return 60;
    case ERR_UNAVAILABLE:
    case ERR_OVERLOADED:
        return 1;
    default:
        return 0;
    }
}

void request_refuse(struct request *request, const struct error *err)
{
    request_refuse_quota(request, err, NULL);
}

void request_refuse_quota(struct request *request,
                          const struct error *err,
                          const struct ledger_refusal *refusal)
{
    const struct problem problem = {
        .error = err,
        .refusal = refusal,
        .is_chinese = request->is_chinese,
        .request_id = request->id,
    };
    struct json_out out;
    request_answer_begin(request, error_http_status(err->code), &out);
    json_out_object_open(&out, NULL);
    problem_write(&out, &problem);
    json_out_object_close(&out);
    struct answer *answer = &request->answer;
    answer->content_type = "application/problem+json";
    answer->code = err->code;
    answer->retry_after_s = retry_after_s(err->code);
    answer->language = request->is_chinese ? "zh" : "en";
    answer->etag = 0;
    answer->location = NULL;
    answer->is_replayed = false;
    request_answer_end(request);
}

/* ---- who asks */

const struct ledger_actor *request_actor(struct request *request)
{
    struct ledger_actor *actor = &request->principal.actor;
    if (request->principal.role == ROLE_SCHEDULER || request->principal.role == 0) {
        return NULL;
    }
    http_address_text(request, actor->address);
    return actor;
}

/* ---- the target */

static int hex_value(char digit)
{
    if (digit >= '0' && digit <= '9') {
        return digit - '0';
    }
    const char lower = (char)(digit | 0x20);
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/* Decode percent escapes (and + in a query) into *at, with a NUL. False for a broken escape or a NUL byte. */
static bool decode_escapes(const char *text, size_t bytes, bool plus_is_space, char **at)
{
    char *to = *at;
    for (size_t i = 0; i < bytes; i++) {
        char c = text[i];
        if (c == '%') {
            const int high = i + 2 < bytes ? hex_value(text[i + 1]) : -1;
            const int low = high >= 0 ? hex_value(text[i + 2]) : -1;
            if (low < 0) {
                return false;
            }
            c = (char)(high << 4 | low);
            i += 2;
        } else if (c == '+' && plus_is_space) {
            c = ' ';
        }
        if (c == '\0') {
            return false;
        }
        *to++ = c;
    }
    *to++ = '\0';
    *at = to;
    return true;
}

static enum error_code decode_path(struct request *request,
                                   const struct route_match *match,
                                   char **at,
                                   struct error *err)
{
    for (size_t i = 0; i < ROUTE_PATH_VALUES && match->values[i].text != NULL; i++) {
        request->path_values[i] = *at;
        if (!decode_escapes(match->values[i].text, match->values[i].bytes, false, at)) {
            return error_set(err, ERR_MALFORMED, "a percent escape in the path is broken");
        }
    }
    return ERR_OK;
}

/* One "name=value" of the query. */
static enum error_code decode_parameter(struct request *request,
                                        const char *text,
                                        size_t bytes,
                                        char **at,
                                        struct error *err)
{
    const char *equals = memchr(text, '=', bytes);
    const size_t name_bytes = equals != NULL ? (size_t)(equals - text) : bytes;
    const size_t value_from = equals != NULL ? name_bytes + 1 : bytes;
    char *name = *at;
    if (!decode_escapes(text, name_bytes, true, at)) {
        return error_set(err, ERR_MALFORMED, "a percent escape in the query is broken");
    }
    char *value = *at;
    if (!decode_escapes(text + value_from, bytes - value_from, true, at)) {
        return error_set_field(err, ERR_MALFORMED, name, "a percent escape is broken");
    }
    if (!text_is_printable(name, strlen(name))) {
        return error_set(err, ERR_MALFORMED, "a parameter's name is no printable UTF-8");
    }
    if (!text_is_printable(value, strlen(value))) {
        return error_set_field(err, ERR_MALFORMED, name, "no printable UTF-8");
    }
    const enum query_param param = query_param_parse(name);
    if (param == QUERY__COUNT || (request->route->query & QUERY_BIT(param)) == 0) {
        return error_set_field(err, ERR_MALFORMED, name, "unknown parameter");
    }
    if (request->query[param] != NULL) {
        return error_set_field(err, ERR_MALFORMED, name, "given twice");
    }
    request->query[param] = value;
    return ERR_OK;
}

static enum error_code decode_query(struct request *request, char **at, struct error *err)
{
    const char *text = request->target + request->path_bytes;
    while (*text != '\0') {
        text++; /* ? or & */
        const size_t bytes = strcspn(text, "&");
        if (bytes > 0) {
            const enum error_code code = decode_parameter(request, text, bytes, at, err);
            if (code != ERR_OK) {
                return code;
            }
        }
        text += bytes;
    }
    return ERR_OK;
}

static enum error_code read_flags(struct request *request, struct error *err)
{
    const char *amounts = request->query[QUERY_AMOUNTS];
    if (amounts != NULL && strcmp(amounts, "string") != 0 && strcmp(amounts, "number") != 0) {
        return error_set_field(err, ERR_MALFORMED, "amounts", "neither number nor string");
    }
    request->amounts_as_text = amounts != NULL && amounts[0] == 's';
    return request_query_switch(request, QUERY_DRY_RUN, &request->dry_run, err);
}

enum error_code request_decode_target(struct request *request,
                                      const struct route_match *match,
                                      struct error *err)
{
    /* Decoded texts are never longer, but for the NUL that each of them gets in place of / & or =. */
    const size_t bytes = strlen(request->target) + 1;
    if (bytes > LIMIT_URL_BYTES) {
        return error_set(err, ERR_TOO_LARGE, "the URL is longer than %d bytes", LIMIT_URL_BYTES);
    }
    const size_t needed = bytes + ROUTE_PATH_VALUES;
    request->decoded = needed <= REQUEST_TARGET_BYTES ? request->inline_decoded : malloc(needed);
    if (request->decoded == NULL) {
        return error_set(err, ERR_UNAVAILABLE, "out of memory");
    }
    char *at = request->decoded;
    enum error_code code = decode_path(request, match, &at, err);
    if (code == ERR_OK) {
        code = decode_query(request, &at, err);
    }
    return code == ERR_OK ? read_flags(request, err) : code;
}

enum error_code request_query_integer(const struct request *request,
                                      const struct query_integer *asked,
                                      int64_t *ret_value,
                                      struct error *err)
{
    const char *text = request->query[asked->param];
    if (text == NULL) {
        *ret_value = asked->absent;
        return ERR_OK;
    }
    int64_t value = 0;
    size_t digits = 0;
    for (; text[digits] >= '0' && text[digits] <= '9' && digits < 18; digits++) {
        value = value * 10 + (text[digits] - '0');
    }
    if (digits == 0 || text[digits] != '\0' || value < asked->min || value > asked->max) {
        return error_set_field(err, ERR_MALFORMED, query_param_name(asked->param),
                               "not an integer from %lld to %lld", (long long)asked->min,
                               (long long)asked->max);
    }
    *ret_value = value;
    return ERR_OK;
}

enum error_code request_query_switch(const struct request *request,
                                     enum query_param param,
                                     bool *ret_value,
                                     struct error *err)
{
    const char *text = request->query[param];
    if (text != NULL && strcmp(text, "true") != 0 && strcmp(text, "false") != 0) {
        return error_set_field(err, ERR_MALFORMED, query_param_name(param),
                               "neither true nor false");
    }
    *ret_value = text != NULL && text[0] == 't';
    return ERR_OK;
}

/* The name of a placeholder of the route's pattern, for messages. */
static void placeholder_name(const struct route *route, size_t index, char *ret_text, size_t size)
{
    const char *at = strchr(route->pattern, '{');
    for (size_t i = 0; i < index; i++) {
        at = strchr(at + 1, '{');
    }
    const size_t bytes = strcspn(at + 1, "}");
    const size_t kept = bytes < size ? bytes : size - 1;
    memcpy(ret_text, at + 1, kept);
    ret_text[kept] = '\0';
}

enum error_code request_path_value(const struct request *request,
                                   size_t index,
                                   bool (*is_of_form)(const char *text),
                                   char *ret_text,
                                   size_t size,
                                   struct error *err)
{
    const char *value = request->path_values[index];
    const size_t bytes = strlen(value);
    if (bytes < size && is_of_form(value)) {
        memcpy(ret_text, value, bytes + 1);
        return ERR_OK;
    }
    if (request->method == METHOD_PUT) {
        char name[32];
        placeholder_name(request->route, index, name, sizeof(name));
        return error_set_field(err, ERR_INVALID_FIELD, name, "not a name of the right form");
    }
    return error_set(err, ERR_NOT_FOUND, "nothing has such a name");
}

enum error_code request_parse_body(const struct request *request,
                                   json_t **ret_body,
                                   struct error *err)
{
    return json_in_parse(request->body, request->body_bytes, ret_body, err);
}

/* ---- reading */

bool request_is_put_off(const struct request *request)
{
    return request->wants_long && !request->is_long;
}

static void run_read(struct reader_job *job, struct ledger_reader *reader)
{
    struct request *request =
        (struct request *)(void *)((char *)job - offsetof(struct request, job));
    request->read(request, reader);
    if (request_is_put_off(request)) {
        struct error err;
        if (request_read_long(request, request->read, &err) == ERR_OK) {
            return; /* it is another thread's now */
        }
        request_refuse(request, &err);
    }
    http_finish(request->http, request);
}

enum error_code request_read(struct request *request,
                             void (*read)(struct request *request, struct ledger_reader *reader),
                             struct error *err)
{
    request->read = read;
    request->job.run = run_read;
    request->is_long = false;
    request->wants_long = false;
    return readers_submit(request->service->readers, &request->job, err);
}

enum error_code request_read_long(struct request *request,
                                  void (*read)(struct request *request,
                                               struct ledger_reader *reader),
                                  struct error *err)
{
    request->read = read;
    request->job.run = run_read;
    request->is_long = true;
    return readers_submit(request->service->reports, &request->job, err);
}

void request_answer_by_report(struct request *request,
                              void (*read)(struct request *request, struct ledger_reader *reader))
{
    struct error err;
    request->is_pending = true;
    if (request_read_long(request, read, &err) != ERR_OK) {
        request->is_pending = false;
        request_refuse(request, &err);
    }
}

/* One snapshot, one object. */
static void read_object(struct request *request, struct ledger_reader *reader)
{
    struct error err;
    struct json_out out;
    request_answer_begin(request, 200, &out);
    json_out_object_open(&out, NULL);
    enum error_code code = ledger_reader_begin(reader, &err);
    if (code == ERR_OK) {
        code = request->write(request, reader, &out, &err);
        ledger_reader_end(reader);
    }
    json_out_object_close(&out);
    if (code != ERR_OK) {
        request_refuse(request, &err);
    } else if (!request_is_put_off(request)) {
        request_answer_end(request);
    }
}

void request_answer_by_reading(struct request *request, request_write_fn write)
{
    struct error err;
    request->write = write;
    request->is_pending = true;
    if (request_read(request, read_object, &err) != ERR_OK) {
        request->is_pending = false;
        request_refuse(request, &err);
    }
}

void request_fini(struct request *request)
{
    if (request->target != request->inline_target) {
        free(request->target);
    }
    if (request->decoded != request->inline_decoded) {
        free(request->decoded);
    }
    if (request->body != request->inline_body) {
        free(request->body);
    }
    command_slot_release(request->slot);
    buffer_fini(&request->answer.body);
    drop_file(&request->answer);
}

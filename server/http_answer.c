/* The only place where a status and headers are sent. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ledger/base/clock.h"
#include "ledger/base/log.h"
#include "server/http_internal.h"
#include "server/metrics.h"

enum { HEADER_TEXT_BYTES = 128 };

static void add_header(struct MHD_Response *response, const char *name, const char *value)
{
    (void)MHD_add_response_header(response, name, value);
}

static void add_allow(struct MHD_Response *response, unsigned allowed)
{
    char text[HEADER_TEXT_BYTES] = "";
    for (int method = 0; method < METHOD__COUNT; method++) {
        if ((allowed & 1U << method) != 0) {
            const size_t used = strlen(text);
            (void)snprintf(text + used, sizeof(text) - used, "%s%s", used > 0 ? ", " : "",
                           method_name((enum method)method));
        }
    }
    add_header(response, "Allow", text);
}

/* The rarer headers, each only where the answer has it. */
static void add_optional_headers(struct MHD_Response *response, const struct request *request)
{
    const struct answer *answer = &request->answer;
    char text[HEADER_TEXT_BYTES];
    if (answer->etag > 0) {
        (void)snprintf(text, sizeof(text), "\"%" PRId64 "\"", answer->etag);
        add_header(response, "ETag", text);
    }
    if (answer->location != NULL) {
        add_header(response, "Location", answer->location);
    }
    if (answer->is_replayed) {
        add_header(response, "Idempotency-Replayed", "true");
    }
    if (answer->retry_after_s > 0) {
        (void)snprintf(text, sizeof(text), "%d", (int)answer->retry_after_s);
        add_header(response, "Retry-After", text);
    }
    if (answer->allow != 0) {
        add_allow(response, answer->allow);
    }
    if (answer->language != NULL) {
        add_header(response, "Content-Language", answer->language);
    }
    if (answer->status == 401) {
        add_header(response, "WWW-Authenticate", "Bearer");
    }
    if (request->traceparent[0] != '\0') {
        add_header(response, "traceparent", request->traceparent);
    }
    if (answer->closes) {
        add_header(response, "Connection", "close");
    }
}

static struct MHD_Response *make_response(struct answer *answer, size_t *ret_bytes)
{
    if (answer->static_body != NULL) {
        *ret_bytes = answer->static_bytes;
        /* MHD takes a pointer to non-const, and with PERSISTENT does not write. */
        return MHD_create_response_from_buffer(
            answer->static_bytes, (void *)(uintptr_t)answer->static_body, MHD_RESPMEM_PERSISTENT);
    }
    if (answer->has_file) {
        *ret_bytes = (size_t)answer->file_bytes;
        struct MHD_Response *response =
            MHD_create_response_from_fd64(answer->file_bytes, answer->file);
        answer->has_file = response == NULL; /* it closes the file */
        return response;
    }
    size_t bytes = 0;
    char *body = buffer_take(&answer->body, &bytes);
    *ret_bytes = bytes;
    struct MHD_Response *response =
        body != NULL ? MHD_create_response_from_buffer(bytes, body, MHD_RESPMEM_MUST_FREE)
                     : MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT);
    if (response == NULL) {
        free(body);
    }
    return response;
}

static void log_answer(const struct request *request, size_t bytes)
{
    /* A trace that is sampled is followed through the log at the normal level (flag 01). */
    const bool is_sampled =
        request->traceparent[0] != '\0' && (request->traceparent[54] - '0') % 2 == 1;
    const enum log_level level = request->answer.status >= 500 ? LOG_WARNING
                                 : is_sampled                  ? LOG_INFO
                                                               : LOG_DEBUG;
    if (!log_enabled(level)) {
        return;
    }
    log_event(
        level, "answered", log_text("request", request->id),
        log_text("method", method_name(request->method)),
        log_text("route", request->route != NULL ? request->route->pattern : NULL),
        log_int("status", request->answer.status), log_int("bytes", (int64_t)bytes),
        log_int("us", (clock_mono_ns() - request->started_ns) / 1000),
        log_text("traceparent", request->traceparent[0] != '\0' ? request->traceparent : NULL));
}

enum MHD_Result http_answer_send(struct request *request)
{
    struct answer *answer = &request->answer;
    size_t bytes;
    struct MHD_Response *response = make_response(answer, &bytes);
    if (response == NULL) {
        return MHD_NO;
    }
    if (answer->content_type != NULL) {
        add_header(response, "Content-Type", answer->content_type);
    }
    add_header(response, "X-Request-Id", request->id);
    add_optional_headers(response, request);
    log_answer(request, bytes);
    struct metrics *metrics = request->http->options.metrics;
    metrics_observe(metrics, METRIC_REQUEST_SECONDS, clock_mono_ns() - request->started_ns);
    metrics_add(metrics, METRIC_ANSWER_BYTES, bytes);
    metrics_answer(metrics, answer->status, answer->code);
    const enum MHD_Result result =
        MHD_queue_response(request->connection, answer->status, response);
    MHD_destroy_response(response);
    return result;
}

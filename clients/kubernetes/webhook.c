/* HTTPS with libmicrohttpd: see webhook.h. */
#include "clients/kubernetes/webhook.h"

#include <netdb.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <microhttpd.h>

#include "clients/clock.h"
#include "clients/kubernetes/certificate.h"
#include "clients/kubernetes/counters.h"

enum {
    THREAD_STACK_BYTES = 512 << 10,
    SILENCE_S = 10, /* until the first request is answered */
    IDLE_S = 120,   /* after that: longer than the API server keeps a connection */
    BODY_S = 10,    /* a whole body */
    PROBLEM_BYTES = 256,
    METRICS_BYTES = 8192
};

struct webhook {
    const struct admission *admission;
    struct MHD_Daemon *daemon;
    _Atomic int64_t bodies_bytes;
};

/* One request while it comes in. */
struct exchange {
    struct webhook *webhook;
    char *body;
    size_t bytes;
    size_t room;
    bool refused;   /* answered before its body was read */
    int64_t due_ms; /* monotonic: by then the body is there */
};

/* A page: one path with one method. */
struct page;
typedef enum MHD_Result (*page_fn)(struct MHD_Connection *connection,
                                   const struct page *page,
                                   const struct exchange *exchange);
struct page {
    const char *method;
    const char *path;
    page_fn answer;
    admission_fn decide; /* of reviews */
};

/* ---- answers */

/* Takes `bytes`, which malloc gave. */
static enum MHD_Result send_bytes(struct MHD_Connection *connection,
                                  unsigned status,
                                  const char *type,
                                  char *bytes)
{
    if (bytes == NULL) {
        return MHD_NO;
    }
    struct MHD_Response *response =
        MHD_create_response_from_buffer(strlen(bytes), bytes, MHD_RESPMEM_MUST_FREE);
    if (response == NULL) {
        free(bytes);
        return MHD_NO;
    }
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
    const enum MHD_Result result = MHD_queue_response(connection, status, response);
    MHD_destroy_response(response);
    return result;
}

static enum MHD_Result send_text(struct MHD_Connection *connection,
                                 unsigned status,
                                 const char *text)
{
    char *bytes = NULL;
    if (asprintf(&bytes, "%s\n", text) < 0) {
        return MHD_NO;
    }
    return send_bytes(connection, status, "text/plain; charset=utf-8", bytes);
}

static enum MHD_Result answer_health(struct MHD_Connection *connection,
                                     const struct page *page,
                                     const struct exchange *exchange)
{
    (void)page, (void)exchange;
    return send_text(connection, MHD_HTTP_OK, "ok");
}

static enum MHD_Result answer_ready(struct MHD_Connection *connection,
                                    const struct page *page,
                                    const struct exchange *exchange)
{
    (void)page;
    if (!namespaces_are_known(exchange->webhook->admission->namespaces)) {
        return send_text(connection, MHD_HTTP_SERVICE_UNAVAILABLE,
                         "the namespaces are not known yet");
    }
    return send_text(connection, MHD_HTTP_OK, "ok");
}

static enum MHD_Result answer_metrics(struct MHD_Connection *connection,
                                      const struct page *page,
                                      const struct exchange *exchange)
{
    (void)page, (void)exchange;
    char *text = malloc(METRICS_BYTES);
    if (text != NULL) {
        (void)counters_write(text, METRICS_BYTES);
    }
    return send_bytes(connection, MHD_HTTP_OK, "text/plain; version=0.0.4", text);
}

static enum MHD_Result answer_review(struct MHD_Connection *connection,
                                     const struct page *page,
                                     const struct exchange *exchange)
{
    struct review review;
    char problem[PROBLEM_BYTES];
    char nothing[] = "";
    if (!review_parse(exchange->body == NULL ? nothing : exchange->body, exchange->bytes, &review,
                      problem, sizeof problem)) {
        counter_add(COUNTER_MALFORMED, 1);
        return send_text(connection, MHD_HTTP_BAD_REQUEST, problem);
    }
    json_t *answer = page->decide(exchange->webhook->admission, &review);
    char *text = answer == NULL ? NULL : json_dumps(answer, JSON_COMPACT);
    json_decref(answer);
    review_fini(&review);
    if (text == NULL) {
        return send_text(connection, MHD_HTTP_INTERNAL_SERVER_ERROR, "out of memory");
    }
    return send_bytes(connection, MHD_HTTP_OK, "application/json", text);
}

static const struct page pages[] = {
    {"POST", "/enforce", answer_review, admission_enforce},
    {"POST", "/gate", answer_review, admission_gate},
    {"POST", "/stamp", answer_review, admission_stamp},
    {"GET", "/healthz", answer_health, NULL},
    {"GET", "/readyz", answer_ready, NULL},
    {"GET", "/metrics", answer_metrics, NULL},
};

/* ret_status: 404 or 405 when there is none. */
static const struct page *page_find(const char *method, const char *path, unsigned *ret_status)
{
    *ret_status = MHD_HTTP_NOT_FOUND;
    for (size_t i = 0; i < sizeof pages / sizeof pages[0]; i++) {
        if (strcmp(pages[i].path, path) != 0) {
            continue;
        }
        if (strcmp(pages[i].method, method) == 0) {
            return &pages[i];
        }
        *ret_status = MHD_HTTP_METHOD_NOT_ALLOWED;
    }
    return NULL;
}

/* ---- requests */

static void exchange_destroy(struct exchange *exchange)
{
    if (exchange != NULL) {
        atomic_fetch_sub(&exchange->webhook->bodies_bytes, (int64_t)exchange->room);
        free(exchange->body);
        free(exchange);
    }
}

/* Makes room for so many bytes in all; the status of the refusal otherwise. */
static unsigned body_reserve(struct exchange *exchange, size_t bytes)
{
    if (bytes > WEBHOOK_BODY_BYTES) {
        return MHD_HTTP_CONTENT_TOO_LARGE;
    }
    if (bytes <= exchange->room) {
        return 0;
    }
    const size_t room = bytes > 2 * exchange->room ? bytes : 2 * exchange->room;
    const int64_t more = (int64_t)(room - exchange->room);
    if (atomic_fetch_add(&exchange->webhook->bodies_bytes, more) + more > WEBHOOK_BODIES_BYTES) {
        atomic_fetch_sub(&exchange->webhook->bodies_bytes, more);
        return MHD_HTTP_SERVICE_UNAVAILABLE;
    }
    char *body = realloc(exchange->body, room);
    if (body == NULL) {
        atomic_fetch_sub(&exchange->webhook->bodies_bytes, more);
        return MHD_HTTP_SERVICE_UNAVAILABLE;
    }
    exchange->body = body;
    exchange->room = room;
    return 0;
}

/* The headers are there. */
static enum MHD_Result request_begin(struct webhook *webhook,
                                     struct MHD_Connection *connection,
                                     const struct page *page,
                                     unsigned status,
                                     void **request_context)
{
    struct exchange *exchange = calloc(1, sizeof *exchange);
    if (exchange == NULL) {
        return MHD_NO;
    }
    exchange->webhook = webhook;
    exchange->due_ms = client_clock_mono_ms() + BODY_S * INT64_C(1000);
    *request_context = exchange;
    if (page != NULL) {
        const char *length = MHD_lookup_connection_value(connection, MHD_HEADER_KIND,
                                                         MHD_HTTP_HEADER_CONTENT_LENGTH);
        const unsigned long long bytes = length == NULL ? 0 : strtoull(length, NULL, 10);
        status = body_reserve(exchange, bytes > SIZE_MAX ? SIZE_MAX : (size_t)bytes);
    }
    if (status == 0) {
        return MHD_YES;
    }
    exchange->refused = true;
    return send_text(connection, status, "refused");
}

/* The signature is libmicrohttpd's. NOLINTNEXTLINE(readability-function-size) */
static enum MHD_Result on_request(void *context,
                                  struct MHD_Connection *connection,
                                  const char *path,
                                  const char *method,
                                  const char *version,
                                  const char *upload,
                                  size_t *upload_bytes,
                                  void **request_context)
{
    (void)version;
    struct webhook *webhook = context;
    unsigned status = 0;
    const struct page *page = page_find(method, path, &status);
    struct exchange *exchange = *request_context;
    if (exchange == NULL) {
        return request_begin(webhook, connection, page, page == NULL ? status : 0, request_context);
    }
    if (*upload_bytes > 0) {
        if (client_clock_mono_ms() > exchange->due_ms ||
            (!exchange->refused && body_reserve(exchange, exchange->bytes + *upload_bytes) != 0)) {
            return MHD_NO; /* a body that trickles, or a chunked one without end */
        }
        if (!exchange->refused) {
            memcpy(exchange->body + exchange->bytes, upload, *upload_bytes);
            exchange->bytes += *upload_bytes;
        }
        *upload_bytes = 0;
        return MHD_YES;
    }
    MHD_set_connection_option(connection, MHD_CONNECTION_OPTION_TIMEOUT, (unsigned)IDLE_S);
    return exchange->refused || page == NULL ? MHD_YES : page->answer(connection, page, exchange);
}

static void on_completed(void *context,
                         struct MHD_Connection *connection,
                         void **request_context,
                         enum MHD_RequestTerminationCode code)
{
    (void)context, (void)connection, (void)code;
    exchange_destroy(*request_context);
    *request_context = NULL;
}

static void on_log(void *context, const char *format, va_list arguments)
{
    (void)context, (void)format,
        (void)arguments; /* clients that do not know the CA: their side says so */
}

/* ---- life */

/* "0.0.0.0:8443", "[::]:8443" */
static bool address_read(const char *listen,
                         struct addrinfo **ret_address,
                         struct agent_error *ret_error)
{
    char host[128];
    const char *colon = strrchr(listen, ':');
    if (colon == NULL) {
        return agent_error_set(ret_error, "listen: %.100s is not ADDRESS:PORT", listen);
    }
    const bool bracketed = listen[0] == '[' && colon > listen && colon[-1] == ']';
    (void)snprintf(host, sizeof host, "%.*s", (int)(colon - listen) - (bracketed ? 2 : 0),
                   listen + (bracketed ? 1 : 0));
    const struct addrinfo hints = {.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE,
                                   .ai_socktype = SOCK_STREAM};
    const int code = getaddrinfo(host, colon + 1, &hints, ret_address);
    return code == 0 ||
           agent_error_set(ret_error, "listen: %.100s: %s", listen, gai_strerror(code));
}

static struct MHD_Daemon *daemon_start(struct webhook *webhook, const struct addrinfo *address)
{
    const unsigned flags = MHD_USE_THREAD_PER_CONNECTION | MHD_USE_INTERNAL_POLLING_THREAD |
                           MHD_USE_POLL | MHD_USE_TLS | MHD_USE_ERROR_LOG |
                           (address->ai_family == AF_INET6 ? MHD_USE_DUAL_STACK : 0U);
    const unsigned connections = (unsigned)webhook->admission->config->connections_max;
    /* clang-format off */
    return MHD_start_daemon(
        flags, 0, NULL, NULL, on_request, webhook,
        MHD_OPTION_EXTERNAL_LOGGER, on_log, NULL,
        MHD_OPTION_SOCK_ADDR, address->ai_addr,
        MHD_OPTION_HTTPS_CERT_CALLBACK2, certificate_retrieve,
        MHD_OPTION_HTTPS_PRIORITIES, "SECURE128:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2",
        MHD_OPTION_CONNECTION_LIMIT, connections,
        MHD_OPTION_PER_IP_CONNECTION_LIMIT, connections / 2,
        MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)SILENCE_S,
        MHD_OPTION_THREAD_STACK_SIZE, (size_t)THREAD_STACK_BYTES,
        MHD_OPTION_LISTENING_ADDRESS_REUSE, 1U,
        MHD_OPTION_NOTIFY_COMPLETED, on_completed, NULL,
        MHD_OPTION_END);
    /* clang-format on */
}

bool webhook_start(const struct admission *admission,
                   struct webhook **ret_webhook,
                   struct agent_error *ret_error)
{
    const char *listen = admission->config->listen.text;
    struct addrinfo *address = NULL;
    if (!address_read(listen, &address, ret_error)) {
        return false;
    }
    struct webhook *webhook = calloc(1, sizeof *webhook);
    if (webhook != NULL && address != NULL) {
        webhook->admission = admission;
        webhook->daemon = daemon_start(webhook, address);
    }
    freeaddrinfo(address);
    if (webhook == NULL || webhook->daemon == NULL) {
        free(webhook);
        return agent_error_set(ret_error, "cannot listen on %.100s: %m", listen);
    }
    *ret_webhook = webhook;
    return true;
}

uint16_t webhook_port(const struct webhook *webhook)
{
    return MHD_get_daemon_info(webhook->daemon, MHD_DAEMON_INFO_BIND_PORT)->port;
}

void webhook_stop(struct webhook *webhook)
{
    if (webhook != NULL) {
        MHD_stop_daemon(webhook->daemon);
        free(webhook);
    }
}

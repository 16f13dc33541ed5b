/*
 * The loop and libmicrohttpd's callbacks. All of them run on the loop's thread; other threads touch only the list
 * of finished requests and the eventfd.
 *
 * A request's way: on_uri -> on_request (headers) -> on_request (body, in pieces) -> on_request (complete) ->
 * handle() -> [suspended .. http_finish .. resumed] -> on_request (answer) -> on_completed.
 *
 * A request that someone else has is suspended, or, when it will be back after a commit, only passed over: libmicrohttpd
 * then calls on_request again at every turn, which costs less than taking its socket out of epoll's set and putting it
 * back. What is passed over may lose its connection meanwhile and is released when it comes back.
 */
#include "server/http.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "ledger/base/cleanup.h"
#include "ledger/base/clock.h"
#include "ledger/base/log.h"
#include "ledger/base/uuid.h"
#include "server/http_internal.h"
#include "server/metrics.h"
#include "server/tls.h"

/* ---- requests */

static struct request *request_take(struct http *http)
{
    struct request *request = http->free_requests;
    if (request == NULL) {
        return calloc(1, sizeof(*request));
    }
    http->free_requests = request->next;
    http->free_count--;
    /* All but the inline texts, which have their lengths beside them. */
    memset(request, 0, offsetof(struct request, identity_error));
    request->principal.role = 0;
    return request;
}

static void request_release(struct http *http, struct request *request)
{
    http->body_bytes -= request->reserved_bytes;
    request_fini(request);
    if (http->free_count >= HTTP_FREE_REQUESTS) {
        free(request);
        return;
    }
    request->next = http->free_requests;
    http->free_requests = request;
    http->free_count++;
}

static void format_id(struct http *http, char ret_id[REQUEST_ID_BYTES])
{
    static const char digits[] = "0123456789abcdef";
    uint64_t number = ++http->ids;
    memcpy(ret_id, http->id_prefix, 8);
    for (int i = 19; i >= 8; i--) {
        ret_id[i] = digits[number & 15];
        number >>= 4;
    }
    ret_id[20] = '\0';
}

/* Keep the target as it was received: libmicrohttpd decodes it in place. False when out of memory. */
static bool keep_target(struct request *request, const char *uri)
{
    const size_t bytes = strlen(uri);
    request->target = bytes < REQUEST_TARGET_BYTES ? request->inline_target : malloc(bytes + 1);
    if (request->target == NULL) {
        return false;
    }
    memcpy(request->target, uri, bytes + 1);
    request->path_bytes = strcspn(uri, "?");
    return true;
}

static struct peer *peer_of(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info->socket_context;
}

/* The request line is there. What is returned comes back as the request's context. */
static void *on_uri(void *context, const char *uri, struct MHD_Connection *connection)
{
    struct http *http = context;
    struct peer *peer = peer_of(connection);
    struct request *request = peer != NULL ? request_take(http) : NULL;
    if (request == NULL) {
        return NULL;
    }
    request->service = http->options.service;
    request->http = http;
    request->connection = connection;
    request->peer = peer;
    request->now_ms = clock_wall_ms();
    request->started_ns = clock_mono_ns();
    request->body = request->inline_body;
    request->body_capacity = REQUEST_BODY_BYTES;
    http->progress++;
    request->is_over_limit = peer->is_over_limit;
    format_id(http, request->id);
    peer->request = request;
    http->open_requests++;
    if (!keep_target(request, uri)) {
        request->target = NULL;
    }
    return request;
}

static void on_completed(void *context,
                         struct MHD_Connection *connection,
                         void **request_context,
                         enum MHD_RequestTerminationCode code)
{
    (void)connection, (void)code;
    struct http *http = context;
    struct request *request = *request_context;
    *request_context = NULL;
    if (request == NULL) {
        return;
    }
    struct peer *peer = request->peer;
    peer->request = NULL;
    peer->since_ms = clock_mono_ms();
    http->progress++;
    http->open_requests--;
    http->working_requests -= request->is_handled;
    if (request->is_pending) {
        /* The client has gone; whoever has the request will bring it back. */
        http->passed_over -= request->is_passed_over;
        request->connection = NULL;
        return;
    }
    request_release(http, request);
}

/* ---- the headers are there */

/* Headers that contradict each other, or too many connections: nothing of the request is believed. */
static bool refuse_early(struct request *request)
{
    struct error err;
    enum error_code code = http_headers_check(request, &err);
    if (code == ERR_OK && request->is_over_limit) {
        code = error_set(&err, ERR_OVERLOADED, "%lld connections are open already",
                         (long long)request->http->options.connections_max);
    }
    if (code != ERR_OK) {
        request_refuse(request, &err);
        request->answer.closes = true;
    }
    return code != ERR_OK;
}

static void begin(struct request *request, const char *method)
{
    struct http *http = request->http;
    request->is_begun = true;
    request->method = method_parse(method);
    http_headers_read(request);
    if (refuse_early(request)) {
        return;
    }
    http->options.begin(request);
    struct error err;
    if (!request->answer.is_ready && http_body_expect(request, &err) != ERR_OK) {
        request_refuse(request, &err);
        request->answer.closes = true;
    }
    if (http->stopping_ms != 0) {
        request->answer.closes = true;
    }
}

static enum MHD_Result on_headers(struct request *request, const char *method)
{
    if (request->target == NULL) {
        return MHD_NO; /* out of memory */
    }
    begin(request, method);
    const struct answer *answer = &request->answer;
    if (!answer->is_ready) {
        return MHD_YES;
    }
    /* A refused request whose body is small is read to its end, and the connection lives. */
    const bool has_body = request->headers.has_length || request->headers.is_chunked;
    if (has_body && (answer->closes || request->headers.content_length > HTTP_DISCARD_BYTES)) {
        struct peer *peer = request->peer;
        peer->lingers = true;
        request->answer.closes = true;
        request->is_handled = true;
        request->http->working_requests++;
        return http_answer_send(request);
    }
    return MHD_YES;
}

/* ---- the request is complete */

static void handle_complete(struct request *request)
{
    struct http *http = request->http;
    request->is_handled = true;
    http->working_requests++;
    request->body[request->body_bytes] = '\0';
    metrics_add(http->options.metrics, METRIC_BODY_BYTES, request->body_bytes);
    if (!request->answer.is_ready) {
        http->options.handle(request);
    }
    if (!request->is_pending) {
        return;
    }
    request->is_passed_over = request->is_short && http->passed_over < HTTP_PASSED_OVER_MAX;
    if (request->is_passed_over) {
        http->passed_over++;
    } else {
        MHD_suspend_connection(request->connection);
    }
}

static enum MHD_Result on_complete(struct request *request)
{
    if (!request->is_handled) {
        request->http->progress++;
        handle_complete(request);
    }
    if (request->is_pending) {
        return MHD_YES;
    }
    request->http->progress++;
    return http_answer_send(request);
}

/* NOLINTNEXTLINE(readability-function-size): the signature is libmicrohttpd's */
static enum MHD_Result on_request(void *context,
                                  struct MHD_Connection *connection,
                                  const char *url,
                                  const char *method,
                                  const char *version,
                                  const char *data,
                                  size_t *data_bytes,
                                  void **request_context)
{
    (void)context, (void)connection, (void)url, (void)version;
    struct request *request = *request_context;
    if (request == NULL) {
        return MHD_NO; /* out of memory */
    }
    if (!request->is_begun) {
        return on_headers(request, method);
    }
    return *data_bytes > 0 ? http_body_take(request, data, data_bytes) : on_complete(request);
}

/* ---- requests that come back */

void http_wake(struct http *http)
{
    const uint64_t one = 1;
    if (write(http->wake_fd, &one, sizeof(one)) < 0 && errno != EAGAIN) {
        log_event(LOG_ERROR, "wake_failed", log_int("errno", errno));
    }
}

void http_finish_later(struct http *http, struct request *request)
{
    request->next = NULL;
    pthread_mutex_lock(&http->lock);
    *http->finished_tail = request;
    http->finished_tail = &request->next;
    pthread_mutex_unlock(&http->lock);
}

void http_finish(struct http *http, struct request *request)
{
    http_finish_later(http, request);
    http_wake(http);
}

void http_resume(struct http *http, struct request *request)
{
    request->is_pending = false;
    if (request->is_passed_over) {
        request->is_passed_over = false;
        http->passed_over--;
    } else {
        MHD_resume_connection(request->connection);
    }
}

static void take_back(struct http *http, struct request *request)
{
    if (request->connection == NULL) {
        request_release(http, request);
    } else if (request->finish == NULL || request->finish(request)) {
        http_resume(http, request);
    }
}

static void finish_requests(struct http *http)
{
    pthread_mutex_lock(&http->lock);
    struct request *request = http->finished;
    http->finished = NULL;
    http->finished_tail = &http->finished;
    pthread_mutex_unlock(&http->lock);
    while (request != NULL) {
        struct request *next = request->next;
        take_back(http, request);
        request = next;
    }
}

/* ---- the loop */

/*
 * libmicrohttpd always wants to be run again for what is passed over. It is, at once, as long as a turn brings something
 * on; else when one of the descriptors has news, or after a millisecond for what it may have left half read.
 */
static int wait_ms_of(const struct http *http)
{
    MHD_UNSIGNED_LONG_LONG wait_ms;
    if (http->passed_over > 0) {
        return http->progress != http->progress_before ? 0 : 1;
    }
    if (MHD_get_timeout(http->daemon, &wait_ms) == MHD_YES && wait_ms < HTTP_TURN_MS) {
        return (int)wait_ms;
    }
    return HTTP_TURN_MS;
}

static void take_signals(struct http *http)
{
    struct signalfd_siginfo info;
    while (read(http->signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
        http->options.signalled(http->options.service, (int)info.ssi_signo);
    }
}

static void turn(struct http *http)
{
    struct pollfd fds[] = {
        {.fd = http->epoll_fd, .events = POLLIN},
        {.fd = http->wake_fd, .events = POLLIN},
        {.fd = http->signal_fd, .events = POLLIN},
    };
    (void)poll(fds, ARRAY_LEN(fds), wait_ms_of(http));
    if (fds[1].revents != 0) {
        uint64_t count;
        (void)!read(http->wake_fd, &count, sizeof(count));
        finish_requests(http);
    }
    if (fds[2].revents != 0) {
        take_signals(http);
    }
    http->progress_before = http->progress;
    (void)MHD_run(http->daemon);
    const int64_t mono_ms = clock_mono_ms();
    http->options.tick(http->options.service, mono_ms);
    http_peers_sweep(http, mono_ms);
    metrics_set(http->options.metrics, METRIC_CONNECTIONS_OPEN, http->peer_count);
    metrics_set(http->options.metrics, METRIC_REQUESTS_OPEN, http->open_requests);
}

/* Stopping: what was handled is waited for, what is still arriving gets a moment. */
static bool is_drained(const struct http *http)
{
    const int64_t since_ms = clock_mono_ms() - http->stopping_ms;
    return http->working_requests == 0 &&
           (http->open_requests == 0 || since_ms >= HTTP_STOP_PARTIAL_MS);
}

bool http_run(struct http *http)
{
    for (;;) {
        turn(http);
        if (http->stopping_ms == 0) {
            continue;
        }
        if (is_drained(http)) {
            return true;
        }
        if (clock_mono_ms() - http->stopping_ms >= http->options.stop_timeout_s * 1000) {
            log_event(LOG_ERROR, "stop_timed_out", log_int("requests", http->working_requests));
            return false;
        }
    }
}

void http_stop(struct http *http)
{
    if (http->stopping_ms == 0) {
        http->stopping_ms = clock_mono_ms();
        (void)MHD_quiesce_daemon(http->daemon);
    }
}

bool http_is_stopping(const struct http *http)
{
    return http->stopping_ms != 0;
}

/* ---- life */

uint16_t http_port(const struct http *http)
{
    return http->port;
}

void http_set_limits(struct http *http, const struct http_options *options)
{
    http->options.request_timeout_s = options->request_timeout_s;
    http->options.proxy_address = options->proxy_address;
    http->options.bodies_max_bytes = options->bodies_max_bytes;
    http->options.stop_timeout_s = options->stop_timeout_s;
}

static void fill_signals(sigset_t *ret_set)
{
    sigemptyset(ret_set);
    sigaddset(ret_set, SIGTERM);
    sigaddset(ret_set, SIGINT);
    sigaddset(ret_set, SIGHUP);
}

void http_block_signals(void)
{
    sigset_t set;
    fill_signals(&set);
    (void)pthread_sigmask(SIG_BLOCK, &set, NULL);
}

static int open_signals(void)
{
    sigset_t set;
    fill_signals(&set);
    return signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
}

static void log_microhttpd(void *context, const char *format, va_list args)
    __attribute__((format(printf, 2, 0)));
static void log_microhttpd(void *context, const char *format, va_list args)
{
    (void)context;
    char text[256];
    (void)vsnprintf(text, sizeof(text), format, args);
    log_event(LOG_DEBUG, "microhttpd", log_text("detail", text));
}

/* The path and the query are decoded by us, after routing. */
static size_t keep_escaped(void *context, struct MHD_Connection *connection, char *text)
{
    (void)context, (void)connection;
    return strlen(text);
}

static struct MHD_Daemon *start_daemon(struct http *http)
{
    const struct http_options *options = &http->options;
    struct MHD_OptionItem tls[] = {
        {MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)(uintptr_t)options->tls_priorities},
        {MHD_OPTION_HTTPS_CERT_CALLBACK, 0, tls_callback(options->tls)},
        {MHD_OPTION_END, 0, NULL},
    };
    const unsigned with_tls = options->tls != NULL ? MHD_USE_TLS : 0;
    if (options->tls == NULL) {
        tls[0].option = MHD_OPTION_END;
    }
    /* Above connections_max a few more are accepted, to be told so with a 503. */
    const unsigned connections = (unsigned)options->connections_max + 64;
    return MHD_start_daemon(
        MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ITC | MHD_USE_ERROR_LOG | with_tls, 0,
        NULL, NULL, on_request, http, MHD_OPTION_EXTERNAL_LOGGER, log_microhttpd, NULL,
        MHD_OPTION_LISTEN_SOCKET, http->listen_fd, MHD_OPTION_NOTIFY_COMPLETED, on_completed, http,
        MHD_OPTION_NOTIFY_CONNECTION, http_peer_notify, http, MHD_OPTION_URI_LOG_CALLBACK, on_uri,
        http, MHD_OPTION_UNESCAPE_CALLBACK, keep_escaped, NULL, MHD_OPTION_CONNECTION_LIMIT,
        connections, MHD_OPTION_PER_IP_CONNECTION_LIMIT,
        (unsigned)options->connections_per_address_max, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        (size_t)HTTP_CONNECTION_BYTES, MHD_OPTION_CONNECTION_TIMEOUT,
        (unsigned)options->idle_timeout_s, MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_ARRAY, tls,
        MHD_OPTION_END);
}

static enum error_code open_all(struct http *http, struct error *err)
{
    uint8_t random[4];
    enum error_code code = uuid_random_bytes(random, sizeof(random), err);
    if (code == ERR_OK) {
        (void)snprintf(http->id_prefix, sizeof(http->id_prefix), "%02x%02x%02x%02x", random[0],
                       random[1], random[2], random[3]);
        code = http_listen(http->options.listen, &http->listen_fd, &http->port, err);
    }
    if (code != ERR_OK) {
        return code;
    }
    http->wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    http->signal_fd = open_signals();
    if (http->wake_fd < 0 || http->signal_fd < 0) {
        return error_set(err, ERR_UNAVAILABLE, "cannot open an eventfd or a signalfd: %m");
    }
    http->daemon = start_daemon(http);
    if (http->daemon == NULL) {
        return error_set(err, ERR_UNAVAILABLE, "the HTTP library does not start");
    }
    http->epoll_fd = MHD_get_daemon_info(http->daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd;
    return ERR_OK;
}

enum error_code http_create(const struct http_options *options,
                            struct http **ret_http,
                            struct error *err)
{
    struct http *http = calloc(1, sizeof(*http));
    if (http == NULL || pthread_mutex_init(&http->lock, NULL) != 0) {
        free(http);
        return error_set(err, ERR_UNAVAILABLE, "no memory for the HTTP loop");
    }
    http->options = *options;
    http->finished_tail = &http->finished;
    http->listen_fd = http->wake_fd = http->signal_fd = -1;
    const enum error_code code = open_all(http, err);
    if (code != ERR_OK) {
        http_destroy(http);
        return code;
    }
    *ret_http = http;
    return ERR_OK;
}

void http_destroy(struct http *http)
{
    if (http == NULL) {
        return;
    }
    const bool was_quiesced = http->stopping_ms != 0;
    if (http->daemon != NULL) {
        MHD_stop_daemon(http->daemon);
    }
    /* libmicrohttpd closes the listening socket that it still has. */
    if (http->listen_fd >= 0 && (was_quiesced || http->daemon == NULL)) {
        (void)close(http->listen_fd);
    }
    http_linger_close_all(http);
    finish_requests(http); /* those whose clients had gone */
    while (http->free_requests != NULL) {
        struct request *next = http->free_requests->next;
        free(http->free_requests);
        http->free_requests = next;
    }
    cleanup_close(&http->wake_fd);
    cleanup_close(&http->signal_fd);
    (void)pthread_mutex_destroy(&http->lock);
    free(http);
}

/*
 * The HTTP loop: libmicrohttpd, run by us.
 *
 * One thread polls libmicrohttpd's epoll descriptor, an eventfd that other threads write when they are done with a
 * request, and a signal descriptor. It bounds what comes in (headers, bodies, time, connections), calls begin()
 * when the headers are there and handle() when the body is, suspends the connection while someone else has the
 * request, and sends the answer. It knows no routes and no ledger.
 *
 * Own loop, because 0.9.75 with internal polling stops answering when a multiple of 128 connections are ready at
 * once. Own checks of headers, because it lacks later fixes: doubled Content-Length, Host, Authorization or
 * Idempotency-Key and Content-Length beside Transfer-Encoding are refused here, and its post processor is not used.
 */
#ifndef SERVER_HTTP_H
#define SERVER_HTTP_H

#include <stdbool.h>
#include <stdint.h>

#include "ledger/base/error.h"
#include "ledger/core/record.h"

struct http;
struct metrics;
struct request;
struct service;
struct sockaddr;
struct tls;

struct http_options {
    const char *listen;    /* HOST:PORT; [ADDRESS]:PORT for IPv6; port 0 takes a free one */
    const struct tls *tls; /* NULL: plain HTTP */
    const char *tls_priorities;
    const char *proxy_address; /* "": none */
    int64_t connections_max;
    int64_t connections_per_address_max; /* 0: no limit of its own */
    int64_t idle_timeout_s;
    int64_t request_timeout_s;
    int64_t bodies_max_bytes;
    int64_t stop_timeout_s;
    struct service *service;
    struct metrics *metrics;
    /* The headers are there: sets route, rights and body_limit. An answer refuses the request. */
    void (*begin)(struct request *request);
    /* The body is there: leaves an answer, or is_pending when someone else has the request. */
    void (*handle)(struct request *request);
    /* Every turn of the loop, at least each 100 ms. */
    void (*tick)(struct service *service, int64_t mono_ms);
    /* SIGTERM, SIGINT, SIGHUP as they come. */
    void (*signalled)(struct service *service, int number);
};

/** Keep SIGTERM, SIGINT and SIGHUP for the loop: to be called before any thread is started. */
void http_block_signals(void);

/** Listen. ERR_UNAVAILABLE with what to do about it: address in use, not parseable, no descriptors. */
enum error_code http_create(const struct http_options *options,
                            struct http **ret_http,
                            struct error *err);

/** The port that it listens on. */
uint16_t http_port(const struct http *http);

/** Serve until stopped. False when accepted requests were left unanswered at the end of stop_timeout_s. */
bool http_run(struct http *http);

/** Stop accepting; http_run() returns when all that was accepted has been answered. HTTP loop only. */
void http_stop(struct http *http);
bool http_is_stopping(const struct http *http);

/** Give a pending request back to the loop, which calls its finish() and answers. Any thread. */
void http_finish(struct http *http, struct request *request);

/** The same without waking the loop: for many at once, followed by one http_wake(). Any thread. */
void http_finish_later(struct http *http, struct request *request);

/** Make the loop turn soon, for tick(). Any thread. */
void http_wake(struct http *http);

/** The same for the loop's own thread, without a list: park lists use it. */
void http_resume(struct http *http, struct request *request);

/** The client's address, borrowed for the life of the request; NULL when it is not known. */
const struct sockaddr *http_address(const struct request *request);

/** The same as text; "" when it is not known. HTTP loop. */
void http_address_text(const struct request *request, char ret_text[RECORD_ADDRESS_BYTES]);

/** Take timeouts that a reloaded configuration changed. */
void http_set_limits(struct http *http, const struct http_options *options);

/** After http_run(). NULL is allowed. */
void http_destroy(struct http *http);

#endif

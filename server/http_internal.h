/* What the files of the HTTP loop share: http.c (loop, callbacks), and the http_*.c beside it. */
#ifndef SERVER_HTTP_INTERNAL_H
#define SERVER_HTTP_INTERNAL_H

#include <pthread.h>

#include <microhttpd.h>

#include "server/http.h"
#include "server/request.h"

enum {
    HTTP_FREE_REQUESTS = 1024, /* kept for reuse */
    HTTP_LINGERING_MAX = 256,
    HTTP_LINGER_MS = 1000,
    HTTP_DISCARD_BYTES = 64 * 1024, /* of the body of a refused request, to keep the connection */
    HTTP_STOP_PARTIAL_MS = 2000,    /* for requests still arriving when the stop begins */
    HTTP_SWEEP_MS = 1000,
    HTTP_TURN_MS = 100,
    HTTP_PASSED_OVER_MAX = 1024, /* requests that are not suspended: each costs a call a turn */
    /* Headers of a request and of its answer. libmicrohttpd clears all of it for every request: no more than needed. */
    HTTP_CONNECTION_BYTES = LIMIT_HEADER_BYTES + 4096,
};

/* One connection. */
struct peer {
    struct peer *next;
    struct peer *prev;
    struct request *request; /* NULL between requests */
    int fd;
    int64_t since_ms; /* monotonic: accepted, or the last answer sent */
    bool is_over_limit;
    bool is_slow; /* shut down by the sweep */
    bool lingers; /* answered before its body was read */
};

/* A socket whose peer still sends what nobody reads: closed when it is done, or soon. */
struct lingering {
    int fd;
    int64_t until_ms;
};

struct http {
    struct http_options options;
    struct MHD_Daemon *daemon;
    int listen_fd;
    int epoll_fd;
    int wake_fd;
    int signal_fd;
    uint16_t port;
    char id_prefix[9]; /* of request ids: one process */
    uint64_t ids;

    struct request *free_requests;
    size_t free_count;
    struct peer *peers;
    int64_t peer_count;
    int64_t open_requests;    /* from the request line to the last byte of the answer */
    int64_t working_requests; /* handled, not yet sent */
    uint64_t body_bytes;      /* of all requests */
    int64_t passed_over;      /* pending and not suspended */
    uint64_t progress;        /* counts what a turn brings on */
    uint64_t progress_before; /* at the beginning of the last turn */
    int64_t next_sweep_ms;
    struct lingering lingering[HTTP_LINGERING_MAX];
    size_t lingering_count;
    int64_t stopping_ms; /* monotonic; 0: not stopping */

    pthread_mutex_t lock;
    struct request *finished; /* under the lock */
    struct request **finished_tail;
};

/* http_headers.c: look at all headers once. */
void http_headers_read(struct request *request);
/* ERR_MALFORMED for doubled or contradicting headers; err->field names the header. */
enum error_code http_headers_check(const struct request *request, struct error *err);

/* The headers are there: ERR_TOO_LARGE for a body beyond the route's limit, ERR_OVERLOADED and ERR_UNAVAILABLE without room. */
enum error_code http_body_expect(struct request *request, struct error *err);

/* One piece of a body. What belongs to a refused request is thrown away, up to a bound: MHD_NO closes the connection. */
enum MHD_Result http_body_take(struct request *request, const char *data, size_t *data_bytes);

/* http_answer.c: queue the request's answer. MHD_NO closes the connection. */
enum MHD_Result http_answer_send(struct request *request);

/* http_peer.c */
void http_peer_notify(void *context,
                      struct MHD_Connection *connection,
                      void **socket_context,
                      enum MHD_ConnectionNotificationCode code);
void http_peers_sweep(struct http *http, int64_t mono_ms);
void http_linger_close_all(struct http *http);
enum error_code http_listen(const char *text, int *ret_fd, uint16_t *ret_port, struct error *err);

#endif

/* Connections: accepted, counted, swept when their requests are too slow, lingered on when they end early. */
#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ledger/base/cleanup.h"
#include "ledger/base/clock.h"
#include "ledger/base/log.h"
#include "server/http_internal.h"
#include "server/metrics.h"

/* ---- listening */

/* "HOST:PORT" or "[HOST]:PORT" cut into two texts. */
static bool cut_address(const char *text, char host[256], char port[6])
{
    const char *colon = strrchr(text, ':');
    if (colon == NULL || strlen(colon + 1) > 5 || colon[1] == '\0') {
        return false;
    }
    const bool bracketed = text[0] == '[' && colon > text + 1 && colon[-1] == ']';
    const char *from = bracketed ? text + 1 : text;
    const size_t bytes = (size_t)(colon - from) - bracketed;
    if (bytes == 0 || bytes > 255) {
        return false;
    }
    memcpy(host, from, bytes);
    host[bytes] = '\0';
    memcpy(port, colon + 1, strlen(colon + 1) + 1);
    return true;
}

/* Digits up to 65535; getaddrinfo() takes more, and wraps. */
static bool is_port(const char *port)
{
    return port[strspn(port, "0123456789")] == '\0' &&
           (strlen(port) < 5 || strcmp(port, "65535") <= 0);
}

static uint16_t port_of(int fd)
{
    struct sockaddr_storage address = {0};
    socklen_t bytes = sizeof(address);
    if (getsockname(fd, (struct sockaddr *)&address, &bytes) != 0) {
        return 0;
    }
    return address.ss_family == AF_INET6
               ? ntohs(((struct sockaddr_in6 *)(void *)&address)->sin6_port)
               : ntohs(((struct sockaddr_in *)(void *)&address)->sin_port);
}

static int open_socket(const struct addrinfo *address)
{
    const int one = 1;
    int fd = socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) != 0 ||
        bind(fd, address->ai_addr, address->ai_addrlen) != 0 || listen(fd, SOMAXCONN) != 0) {
        const int saved = errno;
        if (fd >= 0) {
            (void)close(fd);
        }
        errno = saved;
        return -1;
    }
    return fd;
}

enum error_code http_listen(const char *text, int *ret_fd, uint16_t *ret_port, struct error *err)
{
    char host[256];
    char port[6];
    if (!cut_address(text, host, port) || !is_port(port)) {
        return error_set(err, ERR_INVALID_FIELD, "listen on HOST:PORT, not \"%.100s\"", text);
    }
    const struct addrinfo hints = {
        .ai_family = AF_UNSPEC,
        .ai_socktype = SOCK_STREAM,
        .ai_flags = AI_PASSIVE | AI_NUMERICSERV,
    };
    struct addrinfo *address;
    const int failure = getaddrinfo(host, port, &hints, &address);
    if (failure != 0) {
        return error_set(err, ERR_UNAVAILABLE, "cannot listen on %.100s: %s", text,
                         gai_strerror(failure));
    }
    const int fd = open_socket(address);
    freeaddrinfo(address);
    if (fd < 0) {
        return error_set(err, ERR_UNAVAILABLE, "cannot listen on %.100s: %m", text);
    }
    *ret_fd = fd;
    *ret_port = port_of(fd);
    return ERR_OK;
}

/* ---- lingering */

static void linger_discard(struct http *http, size_t index)
{
    (void)close(http->lingering[index].fd);
    http->lingering[index] = http->lingering[--http->lingering_count];
}

/*
 * The answer went out before the body was read. Closing now would reset the connection and could destroy the
 * answer on its way: a copy of the descriptor keeps the socket until the peer has ended.
 */
static void linger(struct http *http, int fd)
{
    if (http->lingering_count == HTTP_LINGERING_MAX) {
        return;
    }
    const int copy = dup(fd);
    if (copy < 0) {
        return;
    }
    (void)shutdown(copy, SHUT_WR);
    http->lingering[http->lingering_count++] =
        (struct lingering){.fd = copy, .until_ms = clock_mono_ms() + HTTP_LINGER_MS};
}

/* Read away what has come. True when the peer has ended or failed. */
static bool drain(int fd)
{
    char bytes[16384];
    for (int rounds = 0; rounds < 64; rounds++) {
        const ssize_t got = recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT);
        if (got <= 0) {
            return got == 0 || (errno != EAGAIN && errno != EINTR);
        }
    }
    return false;
}

static void linger_turn(struct http *http, int64_t mono_ms)
{
    for (size_t i = http->lingering_count; i > 0; i--) {
        const struct lingering *lingering = &http->lingering[i - 1];
        if (drain(lingering->fd) || mono_ms >= lingering->until_ms) {
            linger_discard(http, i - 1);
        }
    }
}

void http_linger_close_all(struct http *http)
{
    while (http->lingering_count > 0) {
        linger_discard(http, 0);
    }
}

/* ---- connections */

const struct sockaddr *http_address(const struct request *request)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(request->connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    return info != NULL ? info->client_addr : NULL;
}

/* The last address of X-Forwarded-For: the one that the proxy itself has seen. */
static void last_forwarded(const struct request *request, char ret_text[RECORD_ADDRESS_BYTES])
{
    const char *list =
        MHD_lookup_connection_value(request->connection, MHD_HEADER_KIND, "X-Forwarded-For");
    struct in6_addr parsed;
    if (list == NULL) {
        return;
    }
    const char *comma = strrchr(list, ',');
    const char *last = comma != NULL ? comma + 1 : list;
    last += strspn(last, " ");
    const bool is_address =
        inet_pton(AF_INET, last, &parsed) == 1 || inet_pton(AF_INET6, last, &parsed) == 1;
    if (is_address && strlen(last) < RECORD_ADDRESS_BYTES) {
        memcpy(ret_text, last, strlen(last) + 1);
    }
}

void http_address_text(const struct request *request, char ret_text[RECORD_ADDRESS_BYTES])
{
    const struct sockaddr *address = request->connection != NULL ? http_address(request) : NULL;
    const void *bytes = NULL;
    ret_text[0] = '\0';
    if (address != NULL && address->sa_family == AF_INET) {
        bytes = &((const struct sockaddr_in *)(const void *)address)->sin_addr;
    } else if (address != NULL && address->sa_family == AF_INET6) {
        bytes = &((const struct sockaddr_in6 *)(const void *)address)->sin6_addr;
    }
    if (bytes != NULL) {
        (void)inet_ntop(address->sa_family, bytes, ret_text, RECORD_ADDRESS_BYTES);
    }
    const char *proxy = request->http->options.proxy_address;
    if (proxy[0] != '\0' && strcmp(ret_text, proxy) == 0) {
        last_forwarded(request, ret_text);
    }
}

static void peer_begin(struct http *http, struct MHD_Connection *connection, void **socket_context)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    struct peer *peer = calloc(1, sizeof(*peer));
    *socket_context = peer;
    if (peer == NULL) {
        return; /* its requests find no peer and are dropped */
    }
    peer->fd = info->connect_fd;
    peer->since_ms = clock_mono_ms();
    peer->next = http->peers;
    if (peer->next != NULL) {
        peer->next->prev = peer;
    }
    http->peers = peer;
    http->peer_count++;
    peer->is_over_limit = http->peer_count > http->options.connections_max;
    metrics_add(http->options.metrics,
                peer->is_over_limit ? METRIC_CONNECTIONS_REFUSED : METRIC_CONNECTIONS, 1);
}

static void peer_end(struct http *http, struct peer *peer)
{
    if (peer == NULL) {
        return;
    }
    if (peer->lingers) {
        linger(http, peer->fd);
    }
    if (peer->prev != NULL) {
        peer->prev->next = peer->next;
    } else {
        http->peers = peer->next;
    }
    if (peer->next != NULL) {
        peer->next->prev = peer->prev;
    }
    http->peer_count--;
    free(peer);
}

void http_peer_notify(void *context,
                      struct MHD_Connection *connection,
                      void **socket_context,
                      enum MHD_ConnectionNotificationCode code)
{
    struct http *http = context;
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        peer_begin(http, connection, socket_context);
    } else {
        peer_end(http, *socket_context);
        *socket_context = NULL;
    }
}

/*
 * Is a request of this connection too long on its way? With its first line known the time counts from there;
 * before that, from the last answer, and an idle connection is libmicrohttpd's to close.
 */
static bool is_slow(const struct http *http, const struct peer *peer, int64_t mono_ms)
{
    const int64_t request_ms = http->options.request_timeout_s * 1000;
    if (peer->request == NULL) {
        return mono_ms - peer->since_ms > http->options.idle_timeout_s * 1000 + request_ms;
    }
    return !peer->request->is_handled && mono_ms - peer->request->started_ns / 1000000 > request_ms;
}

/* Close connections whose requests take too long to arrive: libmicrohttpd sees the end of the stream. */
void http_peers_sweep(struct http *http, int64_t mono_ms)
{
    linger_turn(http, mono_ms);
    if (mono_ms < http->next_sweep_ms) {
        return;
    }
    http->next_sweep_ms = mono_ms + HTTP_SWEEP_MS;
    for (struct peer *peer = http->peers; peer != NULL; peer = peer->next) {
        if (!peer->is_slow && is_slow(http, peer, mono_ms)) {
            peer->is_slow = true;
            (void)shutdown(peer->fd, SHUT_RDWR);
            metrics_add(http->options.metrics, METRIC_CONNECTIONS_SLOW, 1);
            log_event(LOG_INFO, "slow_request_closed", log_int("fd", peer->fd));
        }
    }
}

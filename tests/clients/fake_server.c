/* An HTTP server for tests of clients: see fake_server.h. */
#include "tests/clients/fake_server.h"

#include <arpa/inet.h>
#include <assert.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define REQUESTS_MAX  64
#define REQUEST_BYTES (1 << 20)

struct fake_server {
    const struct fake_step *steps;
    size_t steps_count;
    int listener;
    int stop[2]; /* a pipe: closing the write end stops the thread */
    char url[64];
    pthread_t thread;
    pthread_mutex_t lock;
    char *requests[REQUESTS_MAX];
    size_t requests_count;
    size_t connections;
};

static bool wait_readable(const struct fake_server *server, int fd)
{
    struct pollfd fds[2] = {{.fd = fd, .events = POLLIN},
                            {.fd = server->stop[0], .events = POLLIN}};
    return poll(fds, 2, -1) > 0 && fds[1].revents == 0;
}

/* Waits for a connection's next request. False when another connection comes instead: this one is idle, and closed. */
static bool wait_request(const struct fake_server *server, int fd)
{
    struct pollfd fds[3] = {{.fd = fd, .events = POLLIN},
                            {.fd = server->listener, .events = POLLIN},
                            {.fd = server->stop[0], .events = POLLIN}};
    return poll(fds, 3, -1) > 0 && fds[2].revents == 0 && fds[0].revents != 0;
}

/* Reads one whole request: head, and as much body as Content-Length says. NULL at the end. */
static char *request_read(const struct fake_server *server, int fd)
{
    if (!wait_request(server, fd))
        return NULL;
    char *text = calloc(1, REQUEST_BYTES);
    assert(text != NULL);
    size_t count = 0;
    for (;;) {
        const char *head_end = strstr(text, "\r\n\r\n");
        const char *length = strstr(text, "Content-Length: ");
        size_t body = length != NULL ? strtoul(length + 16, NULL, 10) : 0;
        if (head_end != NULL && count >= (size_t)(head_end + 4 - text) + body)
            return text;
        ssize_t more =
            wait_readable(server, fd) ? read(fd, text + count, REQUEST_BYTES - 1 - count) : 0;
        if (more <= 0)
            break;
        count += (size_t)more;
    }
    free(text);
    return NULL;
}

static void request_keep(struct fake_server *server, char *text)
{
    pthread_mutex_lock(&server->lock);
    assert(server->requests_count < REQUESTS_MAX);
    server->requests[server->requests_count++] = text;
    pthread_mutex_unlock(&server->lock);
}

static void text_send(int fd, const char *text)
{
    size_t left = strlen(text);
    while (left > 0) {
        ssize_t sent = send(fd, text, left, MSG_NOSIGNAL);
        if (sent <= 0)
            return;
        text += sent;
        left -= (size_t)sent;
    }
}

static void connection_serve(struct fake_server *server, int fd)
{
    char *request;
    while ((request = request_read(server, fd)) != NULL) {
        request_keep(server, request);
        size_t at = server->requests_count - 1;
        struct fake_step none = {FAKE_CLOSE, "HTTP/1.1 500 No step\r\nContent-Length: 0\r\n\r\n"};
        struct fake_step step = at < server->steps_count ? server->steps[at] : none;
        text_send(fd, step.text);
        if (step.act == FAKE_HANG) {
            struct pollfd stop = {.fd = server->stop[0], .events = POLLIN};
            poll(&stop, 1, 2000);
        }
        if (step.act != FAKE_ANSWER)
            return;
    }
}

static void *server_run(void *arg)
{
    struct fake_server *server = arg;
    while (wait_readable(server, server->listener)) {
        int fd = accept4(server->listener, NULL, NULL, SOCK_CLOEXEC);
        if (fd < 0)
            break;
        pthread_mutex_lock(&server->lock);
        server->connections++;
        pthread_mutex_unlock(&server->lock);
        connection_serve(server, fd);
        close(fd);
    }
    return NULL;
}

struct fake_server *fake_server_start(const struct fake_step *steps, size_t steps_count)
{
    struct fake_server *server = calloc(1, sizeof *server);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    assert(server != NULL);
    server->steps = steps;
    server->steps_count = steps_count;
    server->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert(server->listener >= 0 && pipe(server->stop) == 0);
    assert(bind(server->listener, (struct sockaddr *)&address, size) == 0);
    assert(listen(server->listener, 16) == 0);
    assert(getsockname(server->listener, (struct sockaddr *)&address, &size) == 0);
    snprintf(server->url, sizeof server->url, "http://127.0.0.1:%d", ntohs(address.sin_port));
    pthread_mutex_init(&server->lock, NULL);
    assert(pthread_create(&server->thread, NULL, server_run, server) == 0);
    return server;
}

void fake_server_stop(struct fake_server *server)
{
    close(server->stop[1]);
    pthread_join(server->thread, NULL);
    close(server->stop[0]);
    close(server->listener);
    for (size_t i = 0; i < server->requests_count; i++)
        free(server->requests[i]);
    pthread_mutex_destroy(&server->lock);
    free(server);
}

const char *fake_server_url(const struct fake_server *server)
{
    return server->url;
}

const char *fake_server_request(struct fake_server *server, size_t n)
{
    pthread_mutex_lock(&server->lock);
    const char *request = n < server->requests_count ? server->requests[n] : "";
    pthread_mutex_unlock(&server->lock);
    return request;
}

const char *fake_server_body(struct fake_server *server, size_t n)
{
    const char *end = strstr(fake_server_request(server, n), "\r\n\r\n");
    return end == NULL ? "" : end + 4;
}

size_t fake_server_requests(struct fake_server *server)
{
    pthread_mutex_lock(&server->lock);
    size_t count = server->requests_count;
    pthread_mutex_unlock(&server->lock);
    return count;
}

size_t fake_server_connections(struct fake_server *server)
{
    pthread_mutex_lock(&server->lock);
    size_t count = server->connections;
    pthread_mutex_unlock(&server->lock);
    return count;
}

/* Answers live as long as the process, and are reachable, so that a leak checker does not mind. */
#define ANSWERS_MAX 64
static char *answers[ANSWERS_MAX];
static size_t answers_count;

const char *fake_answer(int status, const char *type, const char *extra_headers, const char *body)
{
    assert(answers_count < ANSWERS_MAX);
    char **answer = &answers[answers_count++];
    int length =
        asprintf(answer, "HTTP/1.1 %d X\r\nContent-Type: %s\r\nContent-Length: %zu\r\n%s\r\n%s",
                 status, type, strlen(body), extra_headers, body);
    assert(length > 0);
    return *answer;
}

const char *fake_json(int status, const char *body)
{
    return fake_answer(status, status < 400 ? "application/json" : "application/problem+json", "",
                       body);
}

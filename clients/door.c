/* See door.h. */
#include "clients/door.h"

#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "clients/credential.h"

enum { PATIENCE_S = 5, ANSWER_BYTES = 16384, HOST_BYTES = 256 };

static const char greeting[] = "corehour-door 1 ";

/* Connects within PATIENCE_S, and gives what is sent and received as long. Returns the socket, or -1 with errno. */
static int socket_connect(const struct sockaddr *address, socklen_t bytes)
{
    const struct timeval patience = {.tv_sec = PATIENCE_S};
    const int fd = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        return -1;
    }
    (void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    (void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience); /* connect()'s too */
    if (connect(fd, address, bytes) == 0) {
        return fd;
    }
    const int error = errno == EINPROGRESS ? ETIMEDOUT : errno;
    (void)close(fd);
    errno = error;
    return -1;
}

static int unix_connect(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    (void)snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    return socket_connect((const struct sockaddr *)&address, sizeof address);
}

/* "HOST:PORT" or "[ADDRESS]:PORT". ret_host: HOST_BYTES. Returns the port, within place; NULL when it is neither. */
static const char *place_split(const char *place, char *ret_host)
{
    const char *colon = strrchr(place, ':');
    size_t bytes = colon == NULL ? 0 : (size_t)(colon - place);
    if (bytes > 2 && place[0] == '[' && place[bytes - 1] == ']') {
        place++;
        bytes -= 2;
    }
    if (bytes == 0 || bytes >= HOST_BYTES) {
        return NULL;
    }
    memcpy(ret_host, place, bytes);
    ret_host[bytes] = '\0';
    return colon + 1;
}

/* Tries every address that the host has. Returns the socket, or -1 with one line in ret_detail. */
static int tcp_connect(const char *place, char *ret_detail)
{
    char host[HOST_BYTES];
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    const char *port = place_split(place, host);
    const int failed = port == NULL ? 0 : getaddrinfo(host, port, &hints, &found);
    if (port == NULL || failed != 0) {
        (void)snprintf(ret_detail, DOOR_DETAIL_BYTES, "%.200s: %s", place,
                       port == NULL ? "no path and no HOST:PORT" : gai_strerror(failed));
        return -1;
    }
    int fd = -1;
    for (const struct addrinfo *one = found; fd < 0 && one != NULL; one = one->ai_next) {
        fd = socket_connect(one->ai_addr, one->ai_addrlen);
    }
    const int error = errno;
    freeaddrinfo(found);
    if (fd < 0) {
        (void)snprintf(ret_detail, DOOR_DETAIL_BYTES, "%.200s: %s", place, strerrordesc_np(error));
    }
    return fd;
}

/* A door that has closed is no answer, and no SIGPIPE. */
static bool bytes_send(int fd, const char *bytes, size_t count)
{
    while (count > 0) {
        const ssize_t sent = send(fd, bytes, count, MSG_NOSIGNAL);
        if (sent <= 0) {
            return false;
        }
        bytes += sent;
        count -= (size_t)sent;
    }
    return true;
}

/* Sends the credential and reads one line. ret_line: ANSWER_BYTES. */
static bool exchange_line(int fd, const char *credential, char *ret_line)
{
    char *line = NULL;
    size_t bytes = 0;
    const int line_bytes = asprintf(&line, "%s%s\n", greeting, credential);
    const bool sent = line_bytes > 0 && bytes_send(fd, line, (size_t)line_bytes);
    free(line_bytes > 0 ? line : NULL);
    if (!sent) {
        return false;
    }
    while (bytes < ANSWER_BYTES - 1) {
        const ssize_t got = recv(fd, ret_line + bytes, ANSWER_BYTES - 1 - bytes, 0);
        if (got <= 0) {
            return false;
        }
        bytes += (size_t)got;
        if (ret_line[bytes - 1] == '\n') {
            ret_line[bytes - 1] = '\0';
            return true;
        }
    }
    return false;
}

/* Five lines: url, token, cluster, project, user. */
static bool answer_read(const char *text, struct door_answer *ret_answer)
{
    struct door_answer answer = {.url = ""};
    char *const places[] = {answer.url, answer.token, answer.cluster, answer.project, answer.user};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        const size_t bytes = strcspn(text, "\n");
        if (bytes == 0 || bytes >= DOOR_TEXT_BYTES || text[bytes] == '\0') {
            return false;
        }
        memcpy(places[i], text, bytes);
        places[i][bytes] = '\0';
        text += bytes + 1;
    }
    *ret_answer = answer;
    return true;
}

static bool line_open(const char *line,
                      const char *munge_socket,
                      struct door_answer *ret_answer,
                      char *ret_detail)
{
    char *text = NULL;
    uid_t uid;
    if (strncmp(line, greeting, sizeof greeting - 1) != 0) {
        const char *said = strstr(line, "error ");
        (void)snprintf(ret_detail, DOOR_DETAIL_BYTES, "%.300s",
                       said == NULL ? "the door speaks another language" : said + 6);
        return false;
    }
    if (!credential_open(munge_socket, line + sizeof greeting - 1, &text, &uid, ret_detail)) {
        return false;
    }
    const bool good = answer_read(text, ret_answer);
    explicit_bzero(text, strlen(text));
    free(text);
    if (!good) {
        (void)snprintf(ret_detail, DOOR_DETAIL_BYTES, "the door's answer is not understood");
    }
    return good;
}

bool door_ask(const char *place,
              const char *wanted,
              const char *munge_socket,
              struct door_answer *ret_answer,
              char *ret_detail)
{
    char line[ANSWER_BYTES];
    char *credential = NULL;
    const bool is_path = *place == '/';
    const int fd = is_path ? unix_connect(place) : tcp_connect(place, ret_detail);
    if (fd < 0 && is_path) {
        (void)snprintf(ret_detail, DOOR_DETAIL_BYTES, "%.200s: %s", place, strerrordesc_np(errno));
    }
    if (fd < 0) {
        return false;
    }
    bool good = credential_create(munge_socket, wanted, (uid_t)-1, &credential, ret_detail);
    if (good && !exchange_line(fd, credential, line)) {
        (void)snprintf(ret_detail, DOOR_DETAIL_BYTES, "%.200s does not answer", place);
        good = false;
    }
    free(credential);
    (void)close(fd);
    return good && line_open(line, munge_socket, ret_answer, ret_detail);
}

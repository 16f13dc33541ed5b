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

enum { PATIENCE_S = 5, ANSWER_BYTES = 16384 };

static const char greeting[] = "corehour-door 1 ";

static int unix_connect(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    (void)snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect(fd, (const struct sockaddr *)&address, sizeof address) != 0) {
        const int error = errno;
        (void)close(fd);
        errno = error;
        return -1;
    }
    return fd;
}

static int tcp_connect(const char *place)
{
    char host[256];
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    const char *colon = strrchr(place, ':');
    if (colon == NULL || colon - place >= (long)sizeof host) {
        errno = EINVAL;
        return -1;
    }
    (void)snprintf(host, sizeof host, "%.*s", (int)(colon - place), place);
    if (getaddrinfo(host, colon + 1, &hints, &found) != 0) {
        errno = EADDRNOTAVAIL;
        return -1;
    }
    const struct timeval patience = {.tv_sec = PATIENCE_S};
    int fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    (void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    if (fd >= 0 && connect(fd, found->ai_addr, found->ai_addrlen) != 0) {
        (void)close(fd);
        fd = -1;
    }
    freeaddrinfo(found);
    return fd;
}

/* Sends the credential and reads one line. */
static bool exchange_line(int fd, const char *credential, char *ret_line)
{
    const struct timeval patience = {.tv_sec = PATIENCE_S};
    size_t bytes = 0;
    (void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    (void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    if (dprintf(fd, "%s%s\n", greeting, credential) < 0) {
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
    const int fd = *place == '/' ? unix_connect(place) : tcp_connect(place);
    if (fd < 0) {
        (void)snprintf(ret_detail, DOOR_DETAIL_BYTES, "%.200s: %s", place, strerrordesc_np(errno));
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

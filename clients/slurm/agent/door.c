/* SPDX-License-Identifier: MIT
 *
 * See door.h. One caller at a time, each with little time and few bytes: a door that is slow for a moment is no harm, one
 * that hangs is. A token that was made for somebody is given again while it is young. */
#include "clients/slurm/agent/door.h"

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <pwd.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "clients/clock.h"
#include "clients/credential.h"
#include "clients/slurm/agent/agent.h"
#include "clients/slurm/agent/columns.h"
#include "clients/slurm/agent/link.h"
#include "clients/slurm/agent/logs.h"
#include "clients/slurm/agent/program.h"
#include "clients/slurm/agent/queue.h"
#include "clients/units.h"
#include "clients/url.h"

enum {
    CALLER_MS = 2000, /* to send a line and take one */
    LINE_BYTES = 4096,
    TOKEN_S = 43200,       /* how long a token is good */
    TOKEN_FRESH_S = 21600, /* and how long it is given again */
    KEPT = 256,            /* people whose token is remembered */
};

struct kept {
    uid_t uid;
    int64_t made_s; /* 0: empty */
    char account[QUEUE_NAME_BYTES];
    char asked[QUEUE_NAME_BYTES]; /* the project that was asked for by name, or "" */
    char project[QUEUE_NAME_BYTES];
    char person[QUEUE_NAME_BYTES];
    char token[128];
};

struct door {
    struct slurm_config config;
    pthread_t thread;
    int fd;
    atomic_bool stops;
    struct kept kept[KEPT]; /* the thread's alone */
    size_t next;
};

/* ---- opening ---- */

static int unix_listen(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    (void)snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    (void)unlink(
        path); /* of an agent that was killed: the lock of state_dir says that there is no other */
    if (fd >= 0 && (bind(fd, (const struct sockaddr *)&address, sizeof address) != 0 ||
                    chmod(path, 0666) != 0 || listen(fd, 64) != 0)) {
        const int error = errno;
        (void)close(fd);
        errno = error;
        return -1;
    }
    return fd;
}

static int tcp_listen(const char *place)
{
    char host[256];
    const char *colon = strrchr(place, ':');
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM,
                                   .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
    struct addrinfo *found = NULL;
    const int on = 1;
    (void)snprintf(host, sizeof host, "%.*s", (int)(colon - place), place);
    if (getaddrinfo(host, colon + 1, &hints, &found) != 0) {
        errno = EADDRNOTAVAIL;
        return -1;
    }
    const int fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    const bool good =
        fd >= 0 && bind(fd, found->ai_addr, found->ai_addrlen) == 0 && listen(fd, 64) == 0;
    const int error = errno;
    freeaddrinfo(found);
    if (!good && fd >= 0) {
        (void)close(fd);
    }
    errno = error;
    return good ? fd : -1;
}

/* ---- a token ---- */

/* Who asks for what: the person and the project that their token is for. */
struct visit {
    uid_t uid;
    char user[80];
    char person[QUEUE_NAME_BYTES];
    char account[QUEUE_NAME_BYTES];
    char project[QUEUE_NAME_BYTES];
    char token[sizeof((struct kept *)0)->token];
};

/* One line of a command's output. */
static bool line_run(const struct door *door,
                     const char *const argv[],
                     char *ret_line,
                     size_t size_bytes)
{
    char path[AGENT_PATH_BYTES];
    const char *words[12] = {path};
    struct program_output output;
    agent_command_path(&door->config, argv[0], path);
    for (size_t i = 1; i < sizeof words / sizeof words[0] - 1 && argv[i] != NULL; i++) {
        words[i] = argv[i];
    }
    const bool good = program_run(words, 5000, &output);
    (void)snprintf(ret_line, size_bytes, "%.*s", good ? (int)strcspn(output.text, "\n") : 0,
                   good ? output.text : "");
    program_output_fini(&output);
    return good && *ret_line != '\0';
}

/* The account of a job, whoever's it is; that of the person otherwise. */
static bool account_find(const struct door *door, const char *wanted, struct visit *visit)
{
    const char *job = strncmp(wanted, "job=", 4) == 0 ? wanted + 4 : "";
    if (strncmp(wanted, "project=", 8) == 0) {
        columns_copy(visit->project, sizeof visit->project, wanted + 8);
        return true;
    }
    if (*job != '\0' && job[strspn(job, "0123456789_+")] == '\0') {
        const char *const queue[] = {"squeue", "-h", "-a", "-t", "all",
                                     "-j",     job,  "-o", "%a", NULL};
        const char *const records[] = {"sacct", "-n", "-X", "-P",      "-a",
                                       "-j",    job,  "-o", "Account", NULL};
        if (line_run(door, queue, visit->account, sizeof visit->account) ||
            line_run(door, records, visit->account, sizeof visit->account)) {
            return true;
        }
    }
    const char *const person[] = {
        "sacctmgr", "-nP", "show", "user", visit->user, "format=defaultaccount", NULL};
    return line_run(door, person, visit->account, sizeof visit->account);
}

/* What an account or a user of the cluster is called in the ledger: the same, unless a mapping says otherwise. */
static void mapping_read(const struct door *door,
                         struct corehour_client *client,
                         const char *const names[3], /* "/accounts", the name, "project" */
                         char *ret_name,
                         size_t size_bytes)
{
    char path[COREHOUR_URL_BYTES] = "/v1/clusters";
    char detail[LINK_DETAIL_BYTES];
    int status;
    json_t *mapping = NULL;
    columns_copy(ret_name, size_bytes, names[1]);
    if (corehour_url_segment(path, sizeof path, door->config.cluster.text) == COREHOUR_OK &&
        corehour_url_append(path, sizeof path, names[0]) == COREHOUR_OK &&
        corehour_url_segment(path, sizeof path, names[1]) == COREHOUR_OK) {
        mapping = link_get(client, path, &status, detail);
    }
    const char *mapped = json_string_value(json_object_get(mapping, names[2]));
    if (mapped != NULL) {
        columns_copy(ret_name, size_bytes, mapped);
    }
    json_decref(mapping);
}

static bool token_make(struct door *door,
                       struct corehour_client *client,
                       struct visit *visit,
                       char *ret_detail)
{
    char until[COREHOUR_UNITS_TEXT_BYTES];
    char name[200];
    char place[2 * QUEUE_NAME_BYTES];
    struct corehour_answer answer;
    struct corehour_error error;
    corehour_time_format(client_clock_wall_ms() / 1000 + TOKEN_S, until);
    (void)snprintf(name, sizeof name, "door of %.60s: %.100s", door->config.cluster.text,
                   visit->user);
    (void)snprintf(place, sizeof place, "%s/%s", visit->project, visit->person);
    json_t *body = json_pack("{s:s, s:s, s:s, s:s}", "name", name, "role", "member", "place", place,
                             "expires_at", until);
    const struct corehour_request request = {
        .method = "POST", .path = "/v1/tokens", .body = body, .once = true};
    const bool sent =
        body != NULL && corehour_call(client, &request, &answer, &error) == COREHOUR_OK;
    json_decref(body);
    if (!sent) {
        (void)snprintf(ret_detail, LINK_DETAIL_BYTES, "the daemon does not answer");
        return false;
    }
    const char *token = json_string_value(json_object_get(answer.body, "token"));
    const bool good = answer.status == 201 && token != NULL && strlen(token) < sizeof visit->token;
    (void)snprintf(visit->token, sizeof visit->token, "%s", good ? token : "");
    (void)snprintf(ret_detail, LINK_DETAIL_BYTES, "%.120s is no member of %.120s (%d %s)",
                   visit->person, visit->project, answer.status, corehour_answer_code(&answer));
    corehour_answer_fini(&answer);
    return good;
}

static bool token_ask(struct door *door, struct visit *visit, char *ret_detail)
{
    struct corehour_client *client = NULL;
    const char *const user[] = {"/users", visit->user, "person"};
    const char *const account[] = {"/accounts", visit->account, "project"};
    if (!link_open(&door->config, 3000, &client, ret_detail)) {
        return false;
    }
    mapping_read(door, client, user, visit->person, sizeof visit->person);
    if (visit->project[0] == '\0') {
        mapping_read(door, client, account, visit->project, sizeof visit->project);
    }
    const bool good = token_make(door, client, visit, ret_detail);
    corehour_client_destroy(client);
    return good;
}

static bool user_name(uid_t uid, char *ret_name, size_t size_bytes)
{
    char room[4096];
    struct passwd entry;
    struct passwd *found = NULL;
    if (getpwuid_r(uid, &entry, room, sizeof room, &found) != 0 || found == NULL) {
        return false;
    }
    (void)snprintf(ret_name, size_bytes, "%s", found->pw_name);
    return true;
}

static bool kept_find(const struct door *door, int64_t now_s, struct visit *visit)
{
    for (size_t i = 0; i < KEPT; i++) {
        const struct kept *kept = &door->kept[i];
        if (kept->made_s > now_s - TOKEN_FRESH_S && kept->uid == visit->uid &&
            strcmp(kept->account, visit->account) == 0 &&
            strcmp(kept->asked, visit->project) == 0) {
            columns_copy(visit->token, sizeof visit->token, kept->token);
            columns_copy(visit->project, sizeof visit->project, kept->project);
            columns_copy(visit->person, sizeof visit->person, kept->person);
            return true;
        }
    }
    return false;
}

static bool token_of(struct door *door, const char *wanted, struct visit *visit, char *ret_detail)
{
    const int64_t now_s = client_clock_wall_ms() / 1000;
    if (!user_name(visit->uid, visit->user, sizeof visit->user)) {
        (void)snprintf(ret_detail, LINK_DETAIL_BYTES, "nobody here has the number %u",
                       (unsigned)visit->uid);
        return false;
    }
    if (!account_find(door, wanted, visit)) {
        (void)snprintf(ret_detail, LINK_DETAIL_BYTES, "Slurm knows no account of %.100s",
                       visit->user);
        return false;
    }
    if (kept_find(door, now_s, visit)) {
        return true;
    }
    struct kept kept = {.uid = visit->uid, .made_s = now_s};
    columns_copy(kept.account, sizeof kept.account, visit->account);
    columns_copy(kept.asked, sizeof kept.asked, visit->project);
    if (!token_ask(door, visit, ret_detail)) {
        logs_say(4, "door: no token for %s: %s", visit->user, ret_detail);
        return false;
    }
    columns_copy(kept.token, sizeof kept.token, visit->token);
    columns_copy(kept.project, sizeof kept.project, visit->project);
    columns_copy(kept.person, sizeof kept.person, visit->person);
    door->kept[door->next++ % KEPT] = kept;
    return true;
}

/* ---- a caller ---- */

static bool line_read(int fd, char *line, size_t size_bytes)
{
    size_t bytes = 0;
    const int64_t end_ms = client_clock_mono_ms() + CALLER_MS;
    while (bytes < size_bytes - 1) {
        struct pollfd wait = {fd, POLLIN, 0};
        const int64_t left_ms = end_ms - client_clock_mono_ms();
        if (left_ms <= 0 || poll(&wait, 1, (int)left_ms) <= 0) {
            return false;
        }
        const ssize_t got = recv(fd, line + bytes, size_bytes - 1 - bytes, MSG_DONTWAIT);
        if (got <= 0) {
            return false;
        }
        bytes += (size_t)got;
        if (line[bytes - 1] == '\n') {
            line[bytes - 1] = '\0';
            return true;
        }
    }
    return false;
}

/* What is in the credential that goes back: url, token, cluster, project, person, a line each. */
static char *answer_make(struct door *door, uid_t uid, const char *wanted, char *detail)
{
    char text[2048];
    char *credential = NULL;
    struct visit visit = {.uid = uid};
    const char *url =
        door->config.door_url.text[0] != '\0' ? door->config.door_url.text : door->config.url.text;
    if (!token_of(door, wanted, &visit, detail)) {
        return NULL;
    }
    (void)snprintf(text, sizeof text, "%s\n%s\n%s\n%s\n%s\n", url, visit.token,
                   door->config.cluster.text, visit.project, visit.person);
    const bool good =
        credential_create(door->config.munge_socket.text, text, uid, &credential, detail);
    explicit_bzero(text, sizeof text);
    explicit_bzero(&visit, sizeof visit);
    return good ? credential : NULL;
}

static void caller_serve(struct door *door, int fd)
{
    static const char greeting[] = "corehour-door 1 ";
    char line[LINE_BYTES];
    char detail[LINK_DETAIL_BYTES] = "say: corehour-door 1 CREDENTIAL";
    char *text = NULL;
    char *answer = NULL;
    uid_t uid;
    if (!line_read(fd, line, sizeof line)) {
        return;
    }
    if (strncmp(line, greeting, sizeof greeting - 1) == 0 &&
        credential_open(door->config.munge_socket.text, line + sizeof greeting - 1, &text, &uid,
                        detail)) {
        answer = answer_make(door, uid, text, detail);
    }
    if (answer != NULL) {
        (void)dprintf(fd, "%s%s\n", greeting, answer);
    } else {
        (void)dprintf(fd, "corehour-door error %s\n", detail);
    }
    free(answer);
    free(text);
}

static void *serve(void *context)
{
    struct door *door = context;
    const struct timeval patience = {.tv_sec = CALLER_MS / 1000};
    while (!atomic_load(&door->stops)) {
        struct pollfd wait = {door->fd, POLLIN, 0};
        if (poll(&wait, 1, 500) <= 0) {
            continue;
        }
        const int fd = accept4(door->fd, NULL, NULL, SOCK_CLOEXEC);
        if (fd >= 0) {
            (void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
            caller_serve(door, fd);
            (void)close(fd);
        }
    }
    return NULL;
}

struct door *door_start(const struct slurm_config *config)
{
    const char *place = config->door.text;
    if (*place == '\0') {
        return NULL;
    }
    struct door *door = calloc(1, sizeof *door);
    if (door == NULL) {
        return NULL;
    }
    door->config = *config;
    door->fd = *place == '/'                 ? unix_listen(place)
               : strrchr(place, ':') != NULL ? tcp_listen(place)
                                             : -1;
    atomic_init(&door->stops, false);
    if (door->fd < 0 || pthread_create(&door->thread, NULL, serve, door) != 0) {
        logs_say(4, "no door for users at %s: %s", place, strerrordesc_np(errno));
        if (door->fd >= 0) {
            (void)close(door->fd);
        }
        free(door);
        return NULL;
    }
    return door;
}

void door_stop(struct door *door)
{
    if (door == NULL) {
        return;
    }
    atomic_store(&door->stops, true);
    (void)pthread_join(door->thread, NULL);
    (void)close(door->fd);
    if (door->config.door.text[0] == '/') {
        (void)unlink(door->config.door.text);
    }
    explicit_bzero(door->kept, sizeof door->kept);
    free(door);
}

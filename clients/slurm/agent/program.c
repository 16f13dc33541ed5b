/* SPDX-License-Identifier: MIT
 *
 * fork, exec, two pipes and a deadline: see program.h. */
#include "clients/slurm/agent/program.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clients/clock.h"

static const size_t output_bytes_max = (size_t)256 << 20;

/* A growing text that one pipe fills. */
struct pipe_text {
    int fd;
    char *text;
    size_t bytes;
    size_t room_bytes;
    size_t bytes_max; /* what comes beyond is dropped and `cut` set */
    bool cut;
};

/* Variables that a child gets from here or not at all. */
static const char *const settings[] = {"SLURM_TIME_FORMAT=%s", "SLURM_BITSTR_LEN=0", "TZ=UTC",
                                       "LC_ALL=C"};
static const char *const passed_over[] = {
    "SLURM_TIME_FORMAT=", "SLURM_BITSTR_LEN=", "TZ=", "LC_ALL=", "SQUEUE_", "SACCT_",
    "SLURM_CLUSTERS=",    "COREHOUR_TOKEN="};

static bool is_passed_over(const char *variable)
{
    for (size_t i = 0; i < sizeof passed_over / sizeof passed_over[0]; i++) {
        if (strncmp(variable, passed_over[i], strlen(passed_over[i])) == 0) {
            return true;
        }
    }
    return false;
}

/* The child's environment: an array of borrowed texts, to be freed with free(). */
static char **environment_create(void)
{
    size_t count = 0;
    while (environ[count] != NULL) {
        count++;
    }
    const size_t own = sizeof settings / sizeof settings[0];
    char **variables = calloc(count + own + 1, sizeof(*variables));
    size_t kept = 0;
    for (size_t i = 0; variables != NULL && i < count; i++) {
        if (!is_passed_over(environ[i])) {
            variables[kept++] = environ[i];
        }
    }
    for (size_t i = 0; variables != NULL && i < own; i++) {
        variables[kept++] = (char *)(uintptr_t)settings[i];
    }
    return variables;
}

static bool text_reserve(struct pipe_text *into, size_t more_bytes)
{
    if (into->bytes + more_bytes + 1 <= into->room_bytes) {
        return true;
    }
    const size_t room = (into->room_bytes == 0 ? 65536 : into->room_bytes * 2);
    char *grown = realloc(into->text, room);
    if (grown == NULL) {
        return false;
    }
    into->text = grown;
    into->room_bytes = room;
    return true;
}

/* Takes what is there. Returns false at the end of the pipe. */
static bool text_read(struct pipe_text *into)
{
    char chunk[16384];
    const ssize_t got = read(into->fd, chunk, sizeof chunk);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) {
        return true;
    }
    if (got <= 0) {
        return false;
    }
    if (into->bytes + (size_t)got > into->bytes_max || !text_reserve(into, (size_t)got)) {
        into->cut = true;
        return true;
    }
    memcpy(into->text + into->bytes, chunk, (size_t)got);
    into->bytes += (size_t)got;
    into->text[into->bytes] = '\0';
    return true;
}

/* Both pipes until both end. Returns false when the deadline came first. */
static bool pipes_read(struct pipe_text *texts, int64_t end_ms)
{
    struct pollfd fds[2] = {{texts[0].fd, POLLIN, 0}, {texts[1].fd, POLLIN, 0}};
    while (fds[0].fd >= 0 || fds[1].fd >= 0) {
        const int64_t left_ms = end_ms - client_clock_mono_ms();
        if (left_ms <= 0) {
            return false;
        }
        if (poll(fds, 2, left_ms > 1000 ? 1000 : (int)left_ms) < 0 && errno != EINTR) {
            return false;
        }
        for (int i = 0; i < 2; i++) {
            if (fds[i].fd >= 0 && fds[i].revents != 0 && !text_read(&texts[i])) {
                fds[i].fd = -1;
            }
        }
    }
    return true;
}

static int child_wait(pid_t pid)
{
    int status = 0;
    while (waitpid(pid, &status, 0) < 0) {
        if (errno != EINTR) {
            return -1;
        }
    }
    return status;
}

/* The last line that says something. */
static void detail_set(char *detail, const char *text)
{
    size_t end = text == NULL ? 0 : strlen(text);
    while (end > 0 && (text[end - 1] == '\n' || text[end - 1] == ' ')) {
        end--;
    }
    size_t start = end;
    while (start > 0 && text[start - 1] != '\n') {
        start--;
    }
    if (end > start) {
        (void)snprintf(detail, PROGRAM_DETAIL_BYTES, "%.*s", (int)(end - start), text + start);
    }
}

/* Starts it with its outputs in the pipes. Returns the pid, or -1 with detail set. */
static pid_t child_start(const char *const argv[], const int out[2], const int err[2], char *detail)
{
    pid_t pid = -1;
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none;
    (void)sigemptyset(&none);
    (void)posix_spawn_file_actions_init(&actions);
    (void)posix_spawnattr_init(&attributes);
    (void)posix_spawnattr_setsigmask(&attributes, &none);
    (void)posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    (void)posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    (void)posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
    (void)posix_spawn_file_actions_adddup2(&actions, err[1], STDERR_FILENO);
    char **variables = environment_create();
    const int failed = variables == NULL ? ENOMEM
                                         : posix_spawnp(&pid, argv[0], &actions, &attributes,
                                                        (char *const *)(uintptr_t)argv, variables);
    free(variables);
    (void)posix_spawnattr_destroy(&attributes);
    (void)posix_spawn_file_actions_destroy(&actions);
    if (failed != 0) {
        (void)snprintf(detail, PROGRAM_DETAIL_BYTES, "%.80s cannot be run: %s", argv[0],
                       strerrordesc_np(failed));
        return -1;
    }
    return pid;
}

/* Reads and waits for the child. Returns whether it did well. */
static bool child_follow(pid_t pid,
                         struct pipe_text *texts,
                         int64_t wait_ms,
                         const char *name,
                         struct program_output *output)
{
    const bool in_time = pipes_read(texts, client_clock_mono_ms() + wait_ms);
    if (!in_time) {
        (void)kill(pid, SIGKILL);
    }
    const int status = child_wait(pid);
    if (!in_time) {
        (void)snprintf(output->detail, sizeof output->detail, "%.80s did not answer within %lld ms",
                       name, (long long)wait_ms);
        return false;
    }
    detail_set(output->detail, texts[1].text);
    if (texts[0].cut) {
        (void)snprintf(output->detail, sizeof output->detail, "%.80s prints too much", name);
        return false;
    }
    if (status == 0) {
        return true;
    }
    if (output->detail[0] == '\0') {
        (void)snprintf(output->detail, sizeof output->detail, "%.80s ended with status %d", name,
                       status);
    }
    return false;
}

bool program_run(const char *const argv[], int64_t wait_ms, struct program_output *ret_output)
{
    int out[2] = {-1, -1};
    int err[2] = {-1, -1};
    bool good = false;
    *ret_output = (struct program_output){0};
    if (pipe2(out, O_CLOEXEC) == 0 && pipe2(err, O_CLOEXEC) == 0) {
        const pid_t pid = child_start(argv, out, err, ret_output->detail);
        (void)close(out[1]);
        (void)close(err[1]);
        struct pipe_text texts[2] = {{.fd = out[0], .bytes_max = output_bytes_max},
                                     {.fd = err[0], .bytes_max = 65536}};
        if (pid > 0) {
            good = child_follow(pid, texts, wait_ms, argv[0], ret_output);
        }
        ret_output->text = texts[0].text;
        ret_output->text_bytes = texts[0].bytes;
        free(texts[1].text);
        out[1] = -1;
        err[1] = -1;
    } else {
        (void)snprintf(ret_output->detail, sizeof ret_output->detail, "no pipe: %s",
                       strerrordesc_np(errno));
    }
    for (int i = 0; i < 2; i++) {
        if (out[i] >= 0) {
            (void)close(out[i]);
        }
        if (err[i] >= 0) {
            (void)close(err[i]);
        }
    }
    if (good && ret_output->text == NULL) {
        ret_output->text = strdup("");
        good = ret_output->text != NULL;
    }
    return good;
}

void program_output_fini(struct program_output *output)
{
    free(output->text);
    *output = (struct program_output){0};
}

/* SPDX-License-Identifier: MIT
 *
 * Lines wait in memory too: what is on disk is read once, at the start. See outbox.h. */
#include "clients/slurm/agent/outbox.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "clients/slurm/spool.h"

/* Begun anew when all is answered and the file is longer than this. */
enum { FRESH_BYTES = 1 << 20 };

struct outbox {
    int folder_fd;
    int lock_fd;
    int fd; /* outbox.ndjson, at its end */
    int64_t next;
    json_t *waiting; /* array of lines */
    off_t bytes;     /* of whole lines */
    bool torn;       /* a half line is behind them */
    bool dirty;
};

static bool fail(char *ret_detail, const char *what, const char *name)
{
    (void)snprintf(ret_detail, OUTBOX_DETAIL_BYTES, "%s %s: %s", what, name,
                   strerrordesc_np(errno));
    return false;
}

/* Replaces a file of the folder by a text, whole or not at all. */
static bool file_replace(int folder_fd, const char *name, const char *text)
{
    char fresh[64];
    (void)snprintf(fresh, sizeof fresh, "%s.new", name);
    const int fd = openat(folder_fd, fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0) {
        return false;
    }
    const bool good = spool_bytes_write(fd, text, strlen(text)) && fdatasync(fd) == 0;
    (void)close(fd);
    return good && renameat(folder_fd, fresh, folder_fd, name) == 0 && fsync(folder_fd) == 0;
}

int64_t outbox_number_read(const struct outbox *outbox, const char *name)
{
    char text[32] = "";
    const int fd = openat(outbox->folder_fd, name, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return 0;
    }
    const ssize_t got = read(fd, text, sizeof text - 1);
    (void)close(fd);
    return got <= 0 ? 0 : strtoll(text, NULL, 10);
}

bool outbox_number_write(const struct outbox *outbox, const char *name, int64_t value)
{
    char text[32];
    (void)snprintf(text, sizeof text, "%" PRId64 "\n", value);
    return file_replace(outbox->folder_fd, name, text);
}

/* ---- opening ---- */

static bool folder_open(struct outbox *outbox, const char *state_dir, char *ret_detail)
{
    if (mkdir(state_dir, 0700) != 0 && errno != EEXIST) {
        return fail(ret_detail, "cannot make", state_dir);
    }
    outbox->folder_fd = open(state_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (outbox->folder_fd < 0) {
        return fail(ret_detail, "cannot open", state_dir);
    }
    outbox->lock_fd = openat(outbox->folder_fd, "lock", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (outbox->lock_fd < 0) {
        return fail(ret_detail, "cannot open the lock in", state_dir);
    }
    if (flock(outbox->lock_fd, LOCK_EX | LOCK_NB) != 0) {
        (void)snprintf(ret_detail, OUTBOX_DETAIL_BYTES,
                       "another agent uses %s: one agent a cluster, stop the other first",
                       state_dir);
        return false;
    }
    return true;
}

/* Takes one line of the file; a line that is no JSON ends the reading. */
static bool line_take(struct outbox *outbox, const char *line, int64_t done)
{
    json_t *parsed = json_loads(line, JSON_REJECT_DUPLICATES, NULL);
    const int64_t number = json_integer_value(json_object_get(parsed, "n"));
    if (parsed == NULL || number <= 0) {
        json_decref(parsed);
        return false;
    }
    outbox->next = number + 1;
    if (number > done) {
        return json_array_append_new(outbox->waiting, parsed) == 0;
    }
    json_decref(parsed);
    return true;
}

/* Reads what is left over, and cuts off a half line. */
static bool lines_read(struct outbox *outbox, char *ret_detail)
{
    const int64_t done = outbox_number_read(outbox, "outbox.done");
    const int fd = openat(outbox->folder_fd, "outbox.ndjson", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "r+e");
    char *line = NULL;
    size_t room = 0;
    outbox->next = done + 1;
    if (file == NULL) {
        return fail(ret_detail, "cannot open", "outbox.ndjson");
    }
    off_t good_bytes = 0;
    for (ssize_t got; (got = getline(&line, &room, file)) > 0;) {
        if (line[got - 1] != '\n' || !line_take(outbox, line, done)) {
            break;
        }
        good_bytes += got;
    }
    free(line);
    const bool cut = ftruncate(fd, good_bytes) == 0 && fsync(outbox->folder_fd) == 0;
    (void)fclose(file);
    outbox->bytes = good_bytes;
    outbox->next = outbox->next > done ? outbox->next : done + 1;
    outbox->fd = openat(outbox->folder_fd, "outbox.ndjson", O_WRONLY | O_APPEND | O_CLOEXEC);
    return (cut && outbox->fd >= 0) || fail(ret_detail, "cannot write", "outbox.ndjson");
}

bool outbox_open(const char *state_dir, struct outbox **ret_outbox, char *ret_detail)
{
    struct outbox *outbox = calloc(1, sizeof *outbox);
    if (outbox == NULL) {
        (void)snprintf(ret_detail, OUTBOX_DETAIL_BYTES, "out of memory");
        return false;
    }
    outbox->folder_fd = -1;
    outbox->lock_fd = -1;
    outbox->fd = -1;
    outbox->waiting = json_array();
    if (outbox->waiting == NULL || !folder_open(outbox, state_dir, ret_detail) ||
        !lines_read(outbox, ret_detail)) {
        outbox_close(outbox);
        return false;
    }
    *ret_outbox = outbox;
    return true;
}

void outbox_close(struct outbox *outbox)
{
    if (outbox == NULL) {
        return;
    }
    const int fds[] = {outbox->fd, outbox->lock_fd, outbox->folder_fd};
    for (size_t i = 0; i < sizeof fds / sizeof fds[0]; i++) {
        if (fds[i] >= 0) {
            (void)close(fds[i]);
        }
    }
    json_decref(outbox->waiting);
    free(outbox);
}

/* ---- writing ---- */

/* Takes a half line back: the next reading would end there, before all that follows it. */
static bool half_line_cut(struct outbox *outbox)
{
    outbox->torn = outbox->torn && ftruncate(outbox->fd, outbox->bytes) != 0;
    return !outbox->torn;
}

bool outbox_append(struct outbox *outbox, const json_t *op, const json_t *job)
{
    json_t *line =
        json_pack("{s:I, s:O, s:O?}", "n", (json_int_t)outbox->next, "op", op, "job", job);
    char *text = line == NULL ? NULL : json_dumps(line, JSON_COMPACT);
    char *whole = NULL;
    const int bytes = text == NULL ? -1 : asprintf(&whole, "%s\n", text);
    free(text);
    const bool good =
        bytes > 0 && half_line_cut(outbox) && spool_bytes_write(outbox->fd, whole, (size_t)bytes);
    if (!good && bytes > 0) {
        outbox->torn = true;
        (void)half_line_cut(outbox);
    }
    free(bytes > 0 ? whole : NULL);
    if (good && json_array_append(outbox->waiting, line) == 0) {
        outbox->bytes += bytes;
        outbox->next++;
        outbox->dirty = true;
    }
    json_decref(line);
    return good;
}

bool outbox_sync(struct outbox *outbox)
{
    if (!outbox->dirty) {
        return true;
    }
    outbox->dirty = fdatasync(outbox->fd) != 0;
    return !outbox->dirty;
}

size_t outbox_waiting(const struct outbox *outbox)
{
    return json_array_size(outbox->waiting);
}

json_t *outbox_peek(struct outbox *outbox, size_t count)
{
    json_t *lines = json_array();
    for (size_t i = 0; i < count && i < json_array_size(outbox->waiting); i++) {
        if (json_array_append(lines, json_array_get(outbox->waiting, i)) != 0) {
            json_decref(lines);
            return NULL;
        }
    }
    return lines;
}

static bool begin_anew(struct outbox *outbox)
{
    if (json_array_size(outbox->waiting) > 0 || outbox->bytes < FRESH_BYTES) {
        return true;
    }
    if (ftruncate(outbox->fd, 0) != 0) {
        return false;
    }
    outbox->bytes = 0;
    return true;
}

bool outbox_advance(struct outbox *outbox, size_t count)
{
    if (count == 0) {
        return true;
    }
    const json_t *last = json_array_get(outbox->waiting, count - 1);
    const int64_t number = json_integer_value(json_object_get(last, "n"));
    if (!outbox_number_write(outbox, "outbox.done", number)) {
        return false;
    }
    json_t *rest = json_array();
    for (size_t i = count; i < json_array_size(outbox->waiting); i++) {
        (void)json_array_append(rest, json_array_get(outbox->waiting, i));
    }
    json_decref(outbox->waiting);
    outbox->waiting = rest;
    return begin_anew(outbox);
}

void outbox_reject(struct outbox *outbox, const json_t *line, const json_t *answer)
{
    json_t *both = json_pack("{s:O, s:O?}", "line", line, "answer", answer);
    char *text = both == NULL ? NULL : json_dumps(both, JSON_COMPACT);
    const int fd = openat(outbox->folder_fd, "rejected.ndjson",
                          O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (fd >= 0 && text != NULL) {
        (void)(spool_bytes_write(fd, text, strlen(text)) && spool_bytes_write(fd, "\n", 1) &&
               fdatasync(fd) == 0);
    }
    if (fd >= 0) {
        (void)close(fd);
    }
    free(text);
    json_decref(both);
}

bool outbox_mentions(const struct outbox *outbox, const char *hold)
{
    size_t i;
    json_t *line;
    json_array_foreach(outbox->waiting, i, line)
    {
        const json_t *op = json_object_get(line, "op");
        const char *name = json_string_value(json_object_get(op, "hold"));
        name = name == NULL ? json_string_value(json_object_get(op, "id")) : name;
        if (name != NULL && strcmp(name, hold) == 0) {
            return true;
        }
    }
    return false;
}

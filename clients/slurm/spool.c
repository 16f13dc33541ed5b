/* SPDX-License-Identifier: MIT
 *
 * Facts on disk: see spool.h. */
#include "clients/slurm/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clients/units.h"

bool spool_bytes_write(int fd, const char *text, size_t bytes)
{
    while (bytes > 0) {
        const ssize_t written = write(fd, text, bytes);
        if (written < 0 && errno == EINTR) {
            continue;
        }
        if (written <= 0) {
            return false;
        }
        text += written;
        bytes -= (size_t)written;
    }
    return true;
}

/* Writes the file under a name of its own. Returns false with errno set. */
static bool file_write(const char *path, const char *text)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0) {
        return false;
    }
    bool ok = spool_bytes_write(fd, text, strlen(text)) && spool_bytes_write(fd, "\n", 1);
    const int error = errno;
    ok = close(fd) == 0 && ok;
    errno = ok ? errno : error;
    return ok;
}

static char *text_create(const json_t *body, int64_t now_s)
{
    char at[COREHOUR_UNITS_TEXT_BYTES];
    json_t *copy = json_copy((json_t *)(uintptr_t)body);
    corehour_time_format(now_s, at);
    char *text = NULL;
    if (copy != NULL && json_object_set_new(copy, "at", json_string(at)) == 0) {
        text = json_dumps(copy, JSON_COMPACT);
    }
    json_decref(copy);
    return text;
}

bool spool_write(const char *folder,
                 const json_t *body,
                 int64_t now_s,
                 char *ret_why,
                 size_t why_bytes)
{
    char path[PATH_MAX];
    char part[PATH_MAX];
    const char *id = json_string_value(json_object_get(body, "id"));
    if (id == NULL || strchr(id, '/') != NULL ||
        (size_t)snprintf(path, sizeof path, "%s/%s.json", folder, id) >= sizeof path - 8) {
        snprintf(ret_why, why_bytes, "the spool has no name for it");
        return false;
    }
    snprintf(part, sizeof part, "%.*s.part", (int)(sizeof part - 8), path);
    char *text = text_create(body, now_s);
    const bool ok = text != NULL && file_write(part, text) && rename(part, path) == 0;
    if (!ok) {
        snprintf(ret_why, why_bytes, "%.200s: %s", part,
                 text == NULL ? "out of memory" : strerrordesc_np(errno));
        unlink(part);
    }
    free(text);
    return ok;
}

/* Cuts a stream of bytes into lines: see lines.h. */
#include "clients/cli/lines.h"

#include <stdlib.h>
#include <string.h>

void lines_init(struct lines *lines, lines_fn take, void *arg)
{
    *lines = (struct lines){.take = take, .arg = arg};
}

void lines_fini(struct lines *lines)
{
    free(lines->text);
    *lines = (struct lines){0};
}

static bool text_append(struct lines *lines, const char *bytes, size_t bytes_count)
{
    size_t need = lines->text_bytes + bytes_count + 1;
    if (need > LINES_BYTES_MAX) {
        return false;
    }
    if (need > lines->room_bytes) {
        size_t room = need * 2;
        char *grown = realloc(lines->text, room);
        if (grown == NULL) {
            return false;
        }
        lines->text = grown;
        lines->room_bytes = room;
    }
    memcpy(lines->text + lines->text_bytes, bytes, bytes_count);
    lines->text_bytes += bytes_count;
    lines->text[lines->text_bytes] = '\0';
    return true;
}

static bool line_give(struct lines *lines)
{
    bool ok = lines->take(lines->arg, lines->text, lines->text_bytes);
    lines->text_bytes = 0;
    return ok;
}

bool lines_feed(void *arg, const char *bytes, size_t bytes_count)
{
    struct lines *lines = arg;
    while (bytes_count > 0) {
        const char *newline = memchr(bytes, '\n', bytes_count);
        size_t part = newline == NULL ? bytes_count : (size_t)(newline - bytes);
        if (!text_append(lines, bytes, part)) {
            return false;
        }
        if (newline == NULL) {
            return true;
        }
        if (!line_give(lines)) {
            return false;
        }
        bytes += part + 1;
        bytes_count -= part + 1;
    }
    return true;
}

bool lines_end(struct lines *lines)
{
    return lines->text_bytes == 0 || line_give(lines);
}

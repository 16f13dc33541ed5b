/*
 * Log lines. The line is built in a fixed buffer on the stack and written at once, so that lines of
 * several threads do not mix. A failing write is ignored: there is nowhere left to report it.
 */
#include "ledger/base/log.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ledger/base/clock.h"
#include "ledger/base/text.h"

static atomic_int threshold = LOG_INFO;
static atomic_int output_fd = STDERR_FILENO;

static const char *const level_names[] = {
    [LOG_ERROR] = "error",
    [LOG_WARNING] = "warning",
    [LOG_INFO] = "info",
    [LOG_DEBUG] = "debug",
};

/* A line in the making; room for the final newline is always kept. */
struct line {
    char bytes[LOG_LINE_BYTES];
    size_t length;
};

struct log_field log_text(const char *key, const char *text)
{
    return (struct log_field){.key = key, .text = text == NULL ? "-" : text};
}

struct log_field log_int(const char *key, int64_t number)
{
    return (struct log_field){.key = key, .number = number};
}

void log_set_level(enum log_level level)
{
    atomic_store(&threshold, (int)level);
}

void log_set_fd(int fd)
{
    atomic_store(&output_fd, fd);
}

bool log_level_parse(const char *name, enum log_level *ret_level)
{
    for (size_t i = 0; i < ARRAY_LEN(level_names); i++) {
        if (strcmp(name, level_names[i]) == 0) {
            *ret_level = (enum log_level)i;
            return true;
        }
    }
    return false;
}

bool log_enabled(enum log_level level)
{
    return (int)level <= atomic_load(&threshold);
}

static void put(struct line *line, const char *bytes, size_t length)
{
    size_t room = sizeof line->bytes - 1 - line->length;
    length = length < room ? length : room;
    memcpy(line->bytes + line->length, bytes, length);
    line->length += length;
}

static void put_text(struct line *line, const char *text)
{
    put(line, text, strlen(text));
}

static bool is_plain(const char *text)
{
    for (const char *at = text; *at != '\0'; at++) {
        if (*at <= ' ' || *at > '~' || *at == '"' || *at == '\\' || *at == '=') {
            return false;
        }
    }
    return text[0] != '\0';
}

/* Quotes and backslashes get a backslash, control bytes become \xNN; well-formed UTF-8 passes. */
static void put_quoted(struct line *line, const char *text)
{
    bool utf8 = text_is_printable(text, strlen(text));
    put(line, "\"", 1);
    for (const char *at = text; *at != '\0'; at++) {
        unsigned char byte = (unsigned char)*at;
        char escaped[5];
        if (byte == '"' || byte == '\\') {
            put(line, "\\", 1);
            put(line, at, 1);
        } else if (byte < ' ' || byte == 0x7F || (byte >= 0x80 && !utf8)) {
            (void)snprintf(escaped, sizeof escaped, "\\x%02x", byte);
            put(line, escaped, 4);
        } else {
            put(line, at, 1);
        }
    }
    put(line, "\"", 1);
}

static void put_value(struct line *line, const char *text)
{
    if (is_plain(text)) {
        put_text(line, text);
    } else {
        put_quoted(line, text);
    }
}

static void put_field(struct line *line, const struct log_field *field)
{
    put(line, " ", 1);
    put_text(line, field->key);
    put(line, "=", 1);
    if (field->text != NULL) {
        put_value(line, field->text);
    } else {
        char number[24];
        (void)snprintf(number, sizeof number, "%" PRId64, field->number);
        put_text(line, number);
    }
}

static void put_time(struct line *line, int64_t now_ms)
{
    char second[TEXT_TIME_BYTES];
    char millis[8];
    (void)text_format_time(now_ms / 1000, second);
    (void)snprintf(millis, sizeof millis, ".%03dZ", (int)(now_ms % 1000));
    put_text(line, "ts=");
    put(line, second, sizeof "2026-11-30T18:51:00" - 1);
    put_text(line, millis);
}

void log_write(enum log_level level,
               const char *event,
               const struct log_field *fields,
               size_t count)
{
    struct line line;
    if (!log_enabled(level)) {
        return;
    }
    line.length = 0;
    put_time(&line, clock_wall_ms());
    put_field(&line, &(struct log_field){.key = "level", .text = level_names[level]});
    put_field(&line, &(struct log_field){.key = "event", .text = event});
    for (size_t i = 0; i < count; i++) {
        put_field(&line, &fields[i]);
    }
    line.bytes[line.length++] = '\n';
    ssize_t written = write(atomic_load(&output_fd), line.bytes, line.length);
    (void)written;
}

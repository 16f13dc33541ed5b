/* Lines of log: see agent_log.h. */
#include "clients/kubernetes/agent_log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "clients/clock.h"
#include "clients/units.h"

enum { LINE_BYTES = 2048 };

struct line {
    char text[LINE_BYTES];
    size_t bytes;
};

static void put(struct line *line, char byte)
{
    if (line->bytes < LINE_BYTES - 3) {
        line->text[line->bytes++] = byte;
    }
}

static void put_text(struct line *line, const char *text)
{
    for (; *text != '\0'; text++) {
        put(line, *text);
    }
}

static void put_value(struct line *line, const char *value)
{
    if (value[0] != '\0' && strpbrk(value, " \"=\n\r\t\\") == NULL) {
        put_text(line, value);
        return;
    }
    put(line, '"');
    for (; *value != '\0'; value++) {
        if (*value == '"' || *value == '\\') {
            put(line, '\\');
        }
        if ((unsigned char)*value < 0x20) {
            put(line, ' ');
        } else {
            put(line, *value);
        }
    }
    put(line, '"');
}

void agent_log(const char *level, const char *event, ...)
{
    struct line line = {.bytes = 0};
    char now[COREHOUR_UNITS_TEXT_BYTES];
    corehour_time_format(client_clock_wall_ms() / 1000, now);
    put_text(&line, "time=");
    put_text(&line, now);
    put_text(&line, " level=");
    put_text(&line, level);
    put_text(&line, " event=");
    put_text(&line, event);
    va_list pairs;
    va_start(pairs, event);
    const char *key;
    while ((key = va_arg(pairs, const char *)) != NULL) {
        const char *value = va_arg(pairs, const char *);
        if (value != NULL) {
            put(&line, ' ');
            put_text(&line, key);
            put(&line, '=');
            put_value(&line, value);
        }
    }
    va_end(pairs);
    line.text[line.bytes++] = '\n';
    ssize_t written = write(STDERR_FILENO, line.text, line.bytes);
    (void)written;
}

/* Cuts a stream of bytes into lines, for answers in NDJSON that come in parts. */
#ifndef COREHOUR_CLIENTS_CLI_LINES_H
#define COREHOUR_CLIENTS_CLI_LINES_H

#include <stdbool.h>
#include <stddef.h>

/* Takes one line without its newline, NUL-terminated; it lives for the call. False ends everything. */
typedef bool (*lines_fn)(void *arg, const char *line, size_t line_bytes);

struct lines {
    lines_fn take;
    void *arg;
    char *text; /* the line so far */
    size_t text_bytes;
    size_t room_bytes;
};

/* A line longer than this ends the stream: nothing of ours is. */
#define LINES_BYTES_MAX ((size_t)4 << 20)

void lines_init(struct lines *lines, lines_fn take, void *arg);
void lines_fini(struct lines *lines);

/* Takes the next part. A corehour_sink_fn, with the struct lines as its argument. */
bool lines_feed(void *lines, const char *bytes, size_t bytes_count);

/* Hands over a last line without a newline. */
bool lines_end(struct lines *lines);

#endif

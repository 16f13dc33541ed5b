/*
 * The log: one line an event, key=value, to standard error. Used by server/ and clients/ only;
 * ledger/ never logs.
 *
 *     log_event(LOG_INFO, "refused", log_text("request", id), log_int("status", 409));
 *     ts=2026-11-30T18:51:00.123Z level=info event=refused request=0193c5e2 status=409
 *
 * Values from outside are quoted and escaped, so that no one can forge a line. A line is one write
 * and at most LOG_LINE_BYTES long; what does not fit is cut. Any thread.
 */
#ifndef LEDGER_BASE_LOG_H
#define LEDGER_BASE_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ledger/base/check.h"

#define LOG_LINE_BYTES 4096

/* The names are those of the configuration: error, warning, info, debug. */
enum log_level {
    LOG_ERROR,
    LOG_WARNING,
    LOG_INFO,
    LOG_DEBUG,
};

/** One key and its value; made by log_text() and log_int() for the length of one call. */
struct log_field {
    const char *key;  /* a literal, [a-z0-9_]+ */
    const char *text; /* NULL for a number */
    int64_t number;
};

/** A text, escaped as needed; NULL is written as "-". */
struct log_field log_text(const char *key, const char *text);

/** A number. */
struct log_field log_int(const char *key, int64_t number);

/** Write events of this level and graver ones; LOG_INFO at start. */
void log_set_level(enum log_level level);

/** Where lines go: a file descriptor that stays open; 2 at start. */
void log_set_fd(int fd);

/** "info" to LOG_INFO and so on; false for another name. */
MUST_USE bool log_level_parse(const char *name, enum log_level *ret_level);

/** Would an event of this level be written? For fields that cost something to make. */
bool log_enabled(enum log_level level);

/** Write one event; @count fields, at most what fits the line. */
void log_write(enum log_level level,
               const char *event,
               const struct log_field *fields,
               size_t count);

/** log_write() with the fields as arguments, at least one. */
#define log_event(level, event, ...)                                     \
    log_write((level), (event), (const struct log_field[]){__VA_ARGS__}, \
              ARRAY_LEN(((const struct log_field[]){__VA_ARGS__})))

#endif

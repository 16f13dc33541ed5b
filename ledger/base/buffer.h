/*
 * A growing byte buffer with a maximum fixed at init.
 *
 * The first failure sticks: later appends do nothing and return the same code, so that a writer may
 * append many pieces and look once at the end. The content is always followed by a NUL that does
 * not count. One thread at a time.
 */
#ifndef LEDGER_BASE_BUFFER_H
#define LEDGER_BASE_BUFFER_H

#include <stdarg.h>
#include <stddef.h>

#include "ledger/base/check.h"
#include "ledger/base/error.h"

/** Embedded by its owner; read bytes and length_bytes freely, write through the functions. */
struct buffer {
    char *bytes;           /* owned; NULL until the first append */
    size_t length_bytes;   /* without the NUL */
    size_t capacity_bytes; /* allocated, with the NUL */
    size_t max_bytes;      /* length_bytes never exceeds it */
    enum error_code failure;
};

/** Start empty, without allocating. @max_bytes is at least 1. */
void buffer_init(struct buffer *buffer, size_t max_bytes);

/** Free the content. NULL or a zeroed buffer are allowed; the buffer must be initialised again
 * before use. */
void buffer_fini(struct buffer *buffer);

/** Empty the buffer and forget a failure; memory and maximum are kept. */
void buffer_reset(struct buffer *buffer);

/**
 * Append @bytes_length bytes. All or nothing.
 *
 * Returns ERR_OK, ERR_TOO_LARGE when the maximum would be exceeded, ERR_UNAVAILABLE when out of
 * memory, or the failure that happened before.
 */
enum error_code buffer_append(struct buffer *buffer, const void *bytes, size_t bytes_length);

/** Append a NUL-terminated text. Errors of buffer_append(). */
enum error_code buffer_append_text(struct buffer *buffer, const char *text);

/** Append one byte. Errors of buffer_append(). */
enum error_code buffer_append_byte(struct buffer *buffer, char byte);

/** Append a text as a field of CSV: quoted where it must be (RFC 4180, 2.5 to 2.7). Errors of buffer_append(). */
enum error_code buffer_append_csv(struct buffer *buffer, const char *text);

/** Append formatted text, all or nothing. Errors of buffer_append(). */
enum error_code buffer_printf(struct buffer *buffer, const char *format, ...) PRINTF_LIKE(2, 3);
enum error_code buffer_vprintf(struct buffer *buffer, const char *format, va_list args)
    PRINTF_LIKE(2, 0);

/** Make room for @more_bytes further bytes. Errors of buffer_append(). */
enum error_code buffer_reserve(struct buffer *buffer, size_t more_bytes);

/**
 * Room for @more_bytes at the end, to be written by hand and then counted with buffer_advance(). NULL when the buffer has
 * failed or fails now.
 */
static inline char *buffer_window(struct buffer *buffer, size_t more_bytes)
{
    if (buffer->failure == ERR_OK && buffer->length_bytes + more_bytes < buffer->capacity_bytes) {
        return buffer->bytes + buffer->length_bytes;
    }
    return buffer_reserve(buffer, more_bytes) == ERR_OK ? buffer->bytes + buffer->length_bytes
                                                        : NULL;
}

/** Count what was written into the window, up to @end. */
static inline void buffer_advance(struct buffer *buffer, char *end)
{
    buffer->length_bytes = (size_t)(end - buffer->bytes);
    *end = '\0';
}

/** The first failure since init or reset, or ERR_OK. */
enum error_code buffer_failure(const struct buffer *buffer);

/** The content as a NUL-terminated text, "" when empty; borrowed until the next change. */
const char *buffer_text(const struct buffer *buffer);

/**
 * Give the content away: the caller frees it with free(). The buffer is empty afterwards.
 *
 * @ret_length_bytes  without the NUL; may be NULL
 *
 * Returns the memory (NUL-terminated), or NULL when nothing was ever appended or the buffer has
 * failed.
 */
char *buffer_take(struct buffer *buffer, size_t *ret_length_bytes);

#endif

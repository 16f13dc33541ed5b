/*
 * A growing byte buffer with a maximum. Invariants: length_bytes <= max_bytes; length_bytes <
 * capacity_bytes and a NUL follows the content whenever bytes is not NULL.
 */
#include "ledger/base/buffer.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    BUFFER_FIRST_BYTES = 256,
};

void buffer_init(struct buffer *buffer, size_t max_bytes)
{
    assert(max_bytes > 0 && max_bytes < SIZE_MAX / 4);
    *buffer = (struct buffer){.max_bytes = max_bytes};
}

void buffer_fini(struct buffer *buffer)
{
    if (buffer != NULL) {
        free(buffer->bytes);
        *buffer = (struct buffer){0};
    }
}

void buffer_reset(struct buffer *buffer)
{
    buffer->failure = ERR_OK;
    buffer->length_bytes = 0;
    if (buffer->bytes != NULL) {
        buffer->bytes[0] = '\0';
    }
}

/* Grow to at least @needed_bytes (with the NUL), doubling so that appending stays linear. */
static enum error_code grow(struct buffer *buffer, size_t needed_bytes)
{
    size_t capacity_bytes =
        buffer->capacity_bytes == 0 ? BUFFER_FIRST_BYTES : buffer->capacity_bytes;
    while (capacity_bytes < needed_bytes) {
        capacity_bytes *= 2;
    }
    if (capacity_bytes > buffer->max_bytes + 1) {
        capacity_bytes = buffer->max_bytes + 1;
    }
    char *bytes = realloc(buffer->bytes, capacity_bytes);
    if (bytes == NULL) {
        return ERR_UNAVAILABLE;
    }
    bytes[buffer->length_bytes] = '\0';
    buffer->bytes = bytes;
    buffer->capacity_bytes = capacity_bytes;
    return ERR_OK;
}

enum error_code buffer_reserve(struct buffer *buffer, size_t more_bytes)
{
    assert(buffer->max_bytes > 0);
    if (buffer->failure != ERR_OK) {
        return buffer->failure;
    }
    if (more_bytes > buffer->max_bytes - buffer->length_bytes) {
        buffer->failure = ERR_TOO_LARGE;
    } else if (buffer->length_bytes + more_bytes + 1 > buffer->capacity_bytes) {
        buffer->failure = grow(buffer, buffer->length_bytes + more_bytes + 1);
    }
    return buffer->failure;
}

enum error_code buffer_append(struct buffer *buffer, const void *bytes, size_t bytes_length)
{
    enum error_code code = buffer_reserve(buffer, bytes_length);
    if (code != ERR_OK) {
        return code;
    }
    if (bytes_length > 0) {
        memcpy(buffer->bytes + buffer->length_bytes, bytes, bytes_length);
        buffer->length_bytes += bytes_length;
        buffer->bytes[buffer->length_bytes] = '\0';
    }
    return ERR_OK;
}

enum error_code buffer_append_text(struct buffer *buffer, const char *text)
{
    return buffer_append(buffer, text, strlen(text));
}

enum error_code buffer_append_byte(struct buffer *buffer, char byte)
{
    return buffer_append(buffer, &byte, 1);
}

enum error_code buffer_append_csv(struct buffer *buffer, const char *text)
{
    if (strpbrk(text, ",\"\r\n") == NULL) {
        return buffer_append_text(buffer, text);
    }
    (void)buffer_append_byte(buffer, '"');
    for (const char *at = text; *at != '\0'; at++) {
        if (*at == '"') {
            (void)buffer_append_byte(buffer, '"');
        }
        (void)buffer_append_byte(buffer, *at);
    }
    return buffer_append_byte(buffer, '"');
}

enum error_code buffer_vprintf(struct buffer *buffer, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    /* A negative length is an encoding error of the C library: a bug in the format, not the world.
     */
    assert(length >= 0);
    enum error_code code = buffer_reserve(buffer, (size_t)length);
    if (code != ERR_OK) {
        return code;
    }
    (void)vsnprintf(buffer->bytes + buffer->length_bytes, (size_t)length + 1, format, args);
    buffer->length_bytes += (size_t)length;
    return ERR_OK;
}

enum error_code buffer_printf(struct buffer *buffer, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    enum error_code code = buffer_vprintf(buffer, format, args);
    va_end(args);
    return code;
}

enum error_code buffer_failure(const struct buffer *buffer)
{
    return buffer->failure;
}

const char *buffer_text(const struct buffer *buffer)
{
    return buffer->bytes == NULL ? "" : buffer->bytes;
}

char *buffer_take(struct buffer *buffer, size_t *ret_length_bytes)
{
    if (buffer->failure != ERR_OK || buffer->bytes == NULL) {
        return NULL;
    }
    char *bytes = buffer->bytes;
    if (ret_length_bytes != NULL) {
        *ret_length_bytes = buffer->length_bytes;
    }
    buffer_init(buffer, buffer->max_bytes);
    return bytes;
}

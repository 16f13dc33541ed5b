/*
 * A small JSON writer onto a buffer: answers are written straight, without a tree.
 *
 * Keys are literals of this program; texts are escaped. A NULL key writes an element of an array. Commas are
 * set by the writer. Failures stick in the buffer (ledger/base/buffer.h): write everything, look once at the
 * end. One thread at a time.
 */
#ifndef SERVER_JSON_OUT_H
#define SERVER_JSON_OUT_H

#include <stdbool.h>
#include <stdint.h>

#include "ledger/base/buffer.h"

/** Embedded by its owner; needs no fini. */
struct json_out {
    struct buffer *buffer; /* borrowed */
    bool amounts_as_text;  /* ?amounts=string: exact amounts as strings (SPEC 1.3) */
    bool needs_comma;
};

void json_out_init(struct json_out *out, struct buffer *buffer, bool amounts_as_text);

void json_out_object_open(struct json_out *out, const char *key);
void json_out_object_close(struct json_out *out);

/** The same with a key that comes from outside and is escaped. */
void json_out_named_object_open(struct json_out *out, const char *name);
void json_out_array_open(struct json_out *out, const char *key);
void json_out_array_close(struct json_out *out);

/** A text; NULL and "" as given: see json_out_text_or_null() for what is absent when empty. */
void json_out_text(struct json_out *out, const char *key, const char *text);

/** A text, or null when it is empty. */
void json_out_text_or_null(struct json_out *out, const char *key, const char *text);

/** A value that is JSON already, written by another json_out; null when its buffer has failed. */
void json_out_raw(struct json_out *out, const char *key, const struct buffer *json);

/** A text made of printf pieces, at most 511 bytes. */
void json_out_printf(struct json_out *out, const char *key, const char *format, ...)
    PRINTF_LIKE(3, 4);

/** "text/number", as a rate card is named. */
void json_out_numbered(struct json_out *out, const char *key, const char *text, int64_t number);

/** A value that is JSON already; null when it is empty. */
void json_out_json(struct json_out *out, const char *key, const char *json);

void json_out_integer(struct json_out *out, const char *key, int64_t value);

/** null where value is `absent`. */
void json_out_integer_or_null(struct json_out *out, const char *key, int64_t value, int64_t absent);
void json_out_bool(struct json_out *out, const char *key, bool value);
void json_out_null(struct json_out *out, const char *key);

/** RFC 3339 in Z from seconds since 1970; null for 0 and for INT64_MAX (unknown, endless). */
void json_out_time(struct json_out *out, const char *key, int64_t time_s);

/** The same with milliseconds. */
void json_out_time_ms(struct json_out *out, const char *key, int64_t time_ms);

/** An exact figure in some unit: an integer, or a text with ?amounts=string. */
void json_out_exact(struct json_out *out, const char *key, int64_t value);

/** NAME_mcs (exact) and NAME_core_hours (5 decimals): every amount is shown as both (SPEC 1.3). */
void json_out_amount(struct json_out *out, const char *name, int64_t mcs);

/** The same two members as null: unlimited (SPEC 1.5). */
void json_out_amount_null(struct json_out *out, const char *name);

#endif

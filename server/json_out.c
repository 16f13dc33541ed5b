/* Writes JSON into a buffer, byte by byte. Invariant: at any moment the buffer holds the beginning of one valid document. */
#include "server/json_out.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ledger/base/amount.h"
#include "ledger/base/text.h"

/* What is put together here are pieces of a buffer, not strings. NOLINTBEGIN(bugprone-not-null-terminated-result) */

void json_out_init(struct json_out *out, struct buffer *buffer, bool amounts_as_text)
{
    *out = (struct json_out){.buffer = buffer, .amounts_as_text = amounts_as_text};
}

/*
 * Comma where one is due, then the key: what stands before every value. Returns where the value goes, with room for
 * @value_bytes, or NULL; end_value() counts all of it.
 */
static char *begin_value(struct json_out *out,
                         const char *key,
                         const char *suffix,
                         size_t value_bytes)
{
    const size_t key_bytes = key != NULL ? strlen(key) : 0;
    const size_t suffix_bytes = strlen(suffix);
    char *at = buffer_window(out->buffer, key_bytes + suffix_bytes + value_bytes + 4);
    if (at == NULL) {
        return NULL;
    }
    if (out->needs_comma) {
        *at++ = ',';
    }
    out->needs_comma = true;
    if (key == NULL) {
        return at;
    }
    *at++ = '"';
    memcpy(at, key, key_bytes);
    at += key_bytes;
    memcpy(at, suffix, suffix_bytes);
    at += suffix_bytes;
    *at++ = '"';
    *at++ = ':';
    return at;
}

static void end_value(struct json_out *out, char *end)
{
    buffer_advance(out->buffer, end);
}

/* A value that is short and known: true, null, a bracket. */
static void put_literal(struct json_out *out,
                        const char *key,
                        const char *suffix,
                        const char *literal)
{
    const size_t bytes = strlen(literal);
    char *at = begin_value(out, key, suffix, bytes);
    if (at != NULL) {
        memcpy(at, literal, bytes);
        end_value(out, at + bytes);
    }
}

void json_out_json(struct json_out *out, const char *key, const char *json)
{
    put_literal(out, key, "", json[0] == '\0' ? "null" : json);
    out->needs_comma = true;
}

static void open_nested(struct json_out *out, const char *key, const char *bracket)
{
    put_literal(out, key, "", bracket);
    out->needs_comma = false;
}

static void close_nested(struct json_out *out, char bracket)
{
    (void)buffer_append_byte(out->buffer, bracket);
    out->needs_comma = true;
}

void json_out_object_open(struct json_out *out, const char *key)
{
    open_nested(out, key, "{");
}

void json_out_object_close(struct json_out *out)
{
    close_nested(out, '}');
}

void json_out_array_open(struct json_out *out, const char *key)
{
    open_nested(out, key, "[");
}

void json_out_array_close(struct json_out *out)
{
    close_nested(out, ']');
}

static bool needs_escape(unsigned char byte)
{
    return byte < 0x20 || byte == '"' || byte == '\\' || byte == 0x7f;
}

enum { ESCAPED_BYTES = 6 }; /* \u001f, the longest form of one byte */

static char *put_escaped(char *at, const char *text)
{
    static const char digits[] = "0123456789abcdef";
    for (; *text != '\0'; text++) {
        const unsigned char byte = (unsigned char)*text;
        if (!needs_escape(byte)) {
            *at++ = (char)byte;
        } else if (byte == '"' || byte == '\\') {
            *at++ = '\\';
            *at++ = (char)byte;
        } else {
            memcpy(at, "\\u00", 4);
            at[4] = digits[byte >> 4];
            at[5] = digits[byte & 15];
            at += ESCAPED_BYTES;
        }
    }
    return at;
}

void json_out_named_object_open(struct json_out *out, const char *name)
{
    json_out_text(out, NULL, name);
    (void)buffer_append(out->buffer, ":{", 2);
    out->needs_comma = false;
}

void json_out_text(struct json_out *out, const char *key, const char *text)
{
    char *at = begin_value(out, key, "", ESCAPED_BYTES * strlen(text) + 2);
    if (at == NULL) {
        return;
    }
    *at++ = '"';
    at = put_escaped(at, text);
    *at++ = '"';
    end_value(out, at);
}

void json_out_text_or_null(struct json_out *out, const char *key, const char *text)
{
    if (text[0] == '\0') {
        json_out_null(out, key);
    } else {
        json_out_text(out, key, text);
    }
}

void json_out_raw(struct json_out *out, const char *key, const struct buffer *json)
{
    put_literal(out, key, "", buffer_failure(json) == ERR_OK ? buffer_text(json) : "null");
}

void json_out_printf(struct json_out *out, const char *key, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    json_out_text(out, key, text);
}

/* Digits from the back; room for the sign and 19 digits. */
static size_t format_integer(int64_t value, char ret_text[20])
{
    char digits[20];
    size_t count = 0;
    uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    do {
        digits[count++] = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest > 0);
    size_t length = 0;
    if (value < 0) {
        ret_text[length++] = '-';
    }
    while (count > 0) {
        ret_text[length++] = digits[--count];
    }
    return length;
}

enum { INTEGER_BYTES = 22 }; /* with a sign, 19 digits and quotes */

static void put_integer(struct json_out *out,
                        const char *key,
                        const char *suffix,
                        int64_t value,
                        bool is_text)
{
    char *at = begin_value(out, key, suffix, INTEGER_BYTES);
    if (at == NULL) {
        return;
    }
    if (is_text) {
        *at++ = '"';
    }
    at += format_integer(value, at);
    if (is_text) {
        *at++ = '"';
    }
    end_value(out, at);
}

void json_out_integer(struct json_out *out, const char *key, int64_t value)
{
    put_integer(out, key, "", value, false);
}

void json_out_integer_or_null(struct json_out *out, const char *key, int64_t value, int64_t absent)
{
    if (value == absent) {
        json_out_null(out, key);
    } else {
        json_out_integer(out, key, value);
    }
}

void json_out_bool(struct json_out *out, const char *key, bool value)
{
    put_literal(out, key, "", value ? "true" : "false");
}

void json_out_null(struct json_out *out, const char *key)
{
    put_literal(out, key, "", "null");
}

void json_out_time(struct json_out *out, const char *key, int64_t time_s)
{
    if (time_s <= 0 || time_s > LIMIT_TIME_S) {
        json_out_null(out, key);
        return;
    }
    char text[TEXT_TIME_BYTES];
    json_out_text(out, key, text_format_time(time_s, text));
}

void json_out_time_ms(struct json_out *out, const char *key, int64_t time_ms)
{
    const int64_t time_s = time_ms / 1000;
    if (time_ms <= 0 || time_s > LIMIT_TIME_S) {
        json_out_null(out, key);
        return;
    }
    char text[TEXT_TIME_BYTES];
    (void)text_format_time(time_s, text);
    json_out_printf(out, key, "%.19s.%03dZ", text, (int)(time_ms % 1000));
}

void json_out_exact(struct json_out *out, const char *key, int64_t value)
{
    put_integer(out, key, "", value, out->amounts_as_text);
}

void json_out_amount(struct json_out *out, const char *name, int64_t mcs)
{
    put_integer(out, name, "_mcs", mcs, out->amounts_as_text);
    char *at = begin_value(out, name, "_core_hours", AMOUNT_TEXT_BYTES + 2);
    if (at == NULL) {
        return;
    }
    *at++ = '"';
    (void)amount_format_core_hours(amount_from_mcs(mcs), 5, at);
    at += strlen(at);
    *at++ = '"';
    end_value(out, at);
}

void json_out_amount_null(struct json_out *out, const char *name)
{
    put_literal(out, name, "_mcs", "null");
    put_literal(out, name, "_core_hours", "null");
}

void json_out_numbered(struct json_out *out, const char *key, const char *text, int64_t number)
{
    char *at = begin_value(out, key, "", ESCAPED_BYTES * strlen(text) + INTEGER_BYTES + 3);
    if (at == NULL) {
        return;
    }
    *at++ = '"';
    at = put_escaped(at, text);
    *at++ = '/';
    at += format_integer(number, at);
    *at++ = '"';
    end_value(out, at);
}

/* NOLINTEND(bugprone-not-null-terminated-result) */

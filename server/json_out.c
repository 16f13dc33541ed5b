/* Writes JSON into a buffer, byte by byte. Invariant: at any moment the buffer holds the beginning of one valid document. */
#include "server/json_out.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ledger/base/amount.h"
#include "ledger/base/text.h"

void json_out_init(struct json_out *out, struct buffer *buffer, bool amounts_as_text)
{
    *out = (struct json_out){.buffer = buffer, .amounts_as_text = amounts_as_text};
}

/* Comma where one is due, then the key: what stands before every value. The value follows. */
static void begin_value(struct json_out *out, const char *key, const char *suffix)
{
    if (out->needs_comma) {
        (void)buffer_append_byte(out->buffer, ',');
    }
    out->needs_comma = true;
    if (key == NULL) {
        return;
    }
    const size_t key_bytes = strlen(key);
    const size_t suffix_bytes = strlen(suffix);
    if (buffer_reserve(out->buffer, key_bytes + suffix_bytes + 3) != ERR_OK) {
        return;
    }
    (void)buffer_append_byte(out->buffer, '"');
    (void)buffer_append(out->buffer, key, key_bytes);
    (void)buffer_append(out->buffer, suffix, suffix_bytes);
    (void)buffer_append(out->buffer, "\":", 2);
}

static void open_nested(struct json_out *out, const char *key, char bracket)
{
    begin_value(out, key, "");
    (void)buffer_append_byte(out->buffer, bracket);
    out->needs_comma = false;
}

static void close_nested(struct json_out *out, char bracket)
{
    (void)buffer_append_byte(out->buffer, bracket);
    out->needs_comma = true;
}

void json_out_object_open(struct json_out *out, const char *key)
{
    open_nested(out, key, '{');
}

void json_out_object_close(struct json_out *out)
{
    close_nested(out, '}');
}

void json_out_array_open(struct json_out *out, const char *key)
{
    open_nested(out, key, '[');
}

void json_out_array_close(struct json_out *out)
{
    close_nested(out, ']');
}

static bool needs_escape(unsigned char byte)
{
    return byte < 0x20 || byte == '"' || byte == '\\' || byte == 0x7f;
}

static void append_escaped(struct buffer *buffer, const char *text)
{
    const char *run = text;
    const char *at = text;
    for (; *at != '\0'; at++) {
        const unsigned char byte = (unsigned char)*at;
        if (!needs_escape(byte)) {
            continue;
        }
        (void)buffer_append(buffer, run, (size_t)(at - run));
        if (byte == '"' || byte == '\\') {
            (void)buffer_append_byte(buffer, '\\');
            (void)buffer_append_byte(buffer, (char)byte);
        } else {
            (void)buffer_printf(buffer, "\\u%04x", byte);
        }
        run = at + 1;
    }
    (void)buffer_append(buffer, run, (size_t)(at - run));
}

void json_out_named_object_open(struct json_out *out, const char *name)
{
    json_out_text(out, NULL, name);
    (void)buffer_append(out->buffer, ":{", 2);
    out->needs_comma = false;
}

void json_out_text(struct json_out *out, const char *key, const char *text)
{
    begin_value(out, key, "");
    (void)buffer_append_byte(out->buffer, '"');
    append_escaped(out->buffer, text);
    (void)buffer_append_byte(out->buffer, '"');
}

void json_out_text_or_null(struct json_out *out, const char *key, const char *text)
{
    if (text[0] == '\0') {
        json_out_null(out, key);
    } else {
        json_out_text(out, key, text);
    }
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

static void append_integer(struct json_out *out, int64_t value, bool quoted)
{
    char text[22] = {'"'};
    size_t length = format_integer(value, text + 1) + 1;
    text[length++] = '"';
    (void)buffer_append(out->buffer, quoted ? text : text + 1, quoted ? length : length - 2);
}

void json_out_integer(struct json_out *out, const char *key, int64_t value)
{
    begin_value(out, key, "");
    append_integer(out, value, false);
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
    begin_value(out, key, "");
    (void)buffer_append_text(out->buffer, value ? "true" : "false");
}

void json_out_null(struct json_out *out, const char *key)
{
    begin_value(out, key, "");
    (void)buffer_append(out->buffer, "null", 4);
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
    begin_value(out, key, "");
    append_integer(out, value, out->amounts_as_text);
}

void json_out_amount(struct json_out *out, const char *name, int64_t mcs)
{
    char text[AMOUNT_TEXT_BYTES];
    begin_value(out, name, "_mcs");
    append_integer(out, mcs, out->amounts_as_text);
    begin_value(out, name, "_core_hours");
    (void)buffer_append_byte(out->buffer, '"');
    (void)buffer_append_text(out->buffer, amount_format_core_hours(amount_from_mcs(mcs), 5, text));
    (void)buffer_append_byte(out->buffer, '"');
}

void json_out_amount_null(struct json_out *out, const char *name)
{
    begin_value(out, name, "_mcs");
    (void)buffer_append(out->buffer, "null", 4);
    begin_value(out, name, "_core_hours");
    (void)buffer_append(out->buffer, "null", 4);
}

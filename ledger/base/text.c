/*
 * Checks of texts from outside, and RFC 3339 times. Everything is decided byte by byte: no locale,
 * no libc classes.
 */
#include "ledger/base/text.h"

#include <string.h>

#include "ledger/base/civil.h"

enum {
    HOUR_S = 3600,
    MINUTE_S = 60,
};

/* Length and value of the UTF-8 sequence of two or more bytes at @at; 0 when ill-formed. */
static size_t read_multibyte(const unsigned char *at, size_t left, uint32_t *ret_value)
{
    size_t length = at[0] >= 0xF0 ? 4 : at[0] >= 0xE0 ? 3 : 2;
    static const uint32_t smallest[5] = {0, 0, 0x80, 0x800, 0x10000};
    if (at[0] < 0xC0 || at[0] > 0xF4 || left < length) {
        return 0;
    }
    uint32_t value = at[0] & (0xFFU >> (length + 1));
    for (size_t i = 1; i < length; i++) {
        if ((at[i] & 0xC0U) != 0x80U) {
            return 0;
        }
        value = value << 6 | (at[i] & 0x3FU);
    }
    if (value < smallest[length] || value > 0x10FFFF || (value >= 0xD800 && value <= 0xDFFF)) {
        return 0;
    }
    *ret_value = value;
    return length;
}

static bool is_control(uint32_t value)
{
    return value < 0x20 || (value >= 0x7F && value <= 0x9F);
}

/* Length of the printable character at @at, or 0 when there is none. */
static size_t printable_length(const unsigned char *at, size_t left)
{
    uint32_t value = at[0];
    size_t length = value < 0x80 ? 1 : read_multibyte(at, left, &value);
    return is_control(value) ? 0 : length;
}

bool text_is_printable(const char *bytes, size_t length_bytes)
{
    const unsigned char *at = (const unsigned char *)bytes;
    size_t done = 0;
    while (done < length_bytes) {
        size_t length = printable_length(at + done, length_bytes - done);
        if (length == 0) {
            return false;
        }
        done += length;
    }
    return true;
}

void text_make_printable(char *text)
{
    size_t left = strlen(text);
    while (left > 0) {
        size_t length = printable_length((const unsigned char *)text, left);
        if (length == 0) {
            *text = '?';
            length = 1;
        }
        text += length;
        left -= length;
    }
}

bool text_is_name(const char *text)
{
    size_t length = strnlen(text, LIMIT_NAME_BYTES + 1);
    return length >= 1 && length <= LIMIT_NAME_BYTES && text_is_printable(text, length);
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_lower(char c)
{
    return c >= 'a' && c <= 'z';
}

static bool is_upper(char c)
{
    return c >= 'A' && c <= 'Z';
}

bool text_is_id(const char *text)
{
    size_t length = 0;
    for (; text[length] != '\0'; length++) {
        char c = text[length];
        bool alnum = is_digit(c) || is_lower(c) || is_upper(c);
        bool inner = length > 0 && (c == '.' || c == '_' || c == ':' || c == '-');
        if (length == LIMIT_ID_BYTES || (!alnum && !inner)) {
            return false;
        }
    }
    return length > 0;
}

bool text_is_node_name(const char *text)
{
    size_t length = 0;
    for (; text[length] != '\0'; length++) {
        char c = text[length];
        bool inner = length > 0 && (c == '.' || c == '_' || c == '-');
        if (length == LIMIT_NODE_NAME_BYTES || (!is_digit(c) && !is_lower(c) && !inner)) {
            return false;
        }
    }
    return length > 0;
}

/* Read exactly @digits digits and move on; false when there are fewer. */
static bool take_number(const char **at, int digits, int32_t *ret_value)
{
    int32_t value = 0;
    for (int i = 0; i < digits; i++) {
        char c = (*at)[i];
        if (!is_digit(c)) {
            return false;
        }
        value = value * 10 + (c - '0');
    }
    *at += digits;
    *ret_value = value;
    return true;
}

/* Read one of the two characters and move on. */
static bool take_char(const char **at, char c, char other)
{
    if (**at != c && **at != other) {
        return false;
    }
    (*at)++;
    return true;
}

/* "2026-11-30" as seconds. */
static bool take_date(const char **at, int64_t *ret_s)
{
    int32_t year;
    int32_t month;
    int32_t day;
    if (!take_number(at, 4, &year) || !take_char(at, '-', '-') || !take_number(at, 2, &month) ||
        !take_char(at, '-', '-') || !take_number(at, 2, &day)) {
        return false;
    }
    struct civil_date date = {.year = year, .month = (uint8_t)month, .day = (uint8_t)day};
    if (!civil_date_is_valid(date)) {
        return false;
    }
    *ret_s = civil_days_from_date(date) * CIVIL_DAY_S;
    return true;
}

/* "23:59" as seconds; also the form of an offset. */
static bool take_hour_minute(const char **at, int64_t *ret_s)
{
    int32_t hour;
    int32_t minute;
    if (!take_number(at, 2, &hour) || !take_char(at, ':', ':') || !take_number(at, 2, &minute) ||
        hour > 23 || minute > 59) {
        return false;
    }
    *ret_s = (int64_t)hour * HOUR_S + (int64_t)minute * MINUTE_S;
    return true;
}

/* ":59" and an optional fraction, which is read and dropped. */
static bool take_second(const char **at, int64_t *ret_s)
{
    int32_t second;
    if (!take_char(at, ':', ':') || !take_number(at, 2, &second) || second > 59) {
        return false;
    }
    if (**at == '.') {
        int32_t digit;
        (*at)++;
        if (!take_number(at, 1, &digit)) {
            return false;
        }
        while (is_digit(**at)) {
            (*at)++;
        }
    }
    *ret_s = second;
    return true;
}

/* "Z" or "+01:00" as seconds east of UTC. */
static bool take_offset(const char **at, int64_t *ret_s)
{
    if (take_char(at, 'Z', 'z')) {
        *ret_s = 0;
        return true;
    }
    bool west = **at == '-';
    if (!take_char(at, '+', '-') || !take_hour_minute(at, ret_s)) {
        return false;
    }
    *ret_s = west ? -*ret_s : *ret_s;
    return true;
}

static bool parse_time(const char *text, int64_t *ret_s)
{
    int64_t date_s;
    int64_t clock_s;
    int64_t second_s;
    int64_t offset_s;
    const char *at = text;
    if (!take_date(&at, &date_s) || !take_char(&at, 'T', 't') || !take_hour_minute(&at, &clock_s) ||
        !take_second(&at, &second_s) || !take_offset(&at, &offset_s) || *at != '\0') {
        return false;
    }
    *ret_s = date_s + clock_s + second_s - offset_s;
    return true;
}

enum error_code text_parse_time(const char *text, int64_t *ret_s, struct error *err)
{
    int64_t time_s;
    if (!parse_time(text, &time_s)) {
        return error_set(
            err, ERR_INVALID_FIELD,
            "a time is written as 2026-11-30T18:51:00Z or with an offset, not \"%.40s\"", text);
    }
    if (time_s < 0 || time_s > LIMIT_TIME_S) {
        return error_set(err, ERR_INVALID_FIELD,
                         "times lie in the years 1970 to 9999, unlike \"%.40s\"", text);
    }
    *ret_s = time_s;
    return ERR_OK;
}

/* Two digits of a number below 100. */
static void put_two(char *text, unsigned number)
{
    text[0] = (char)('0' + number / 10);
    text[1] = (char)('0' + number % 10);
}

const char *text_format_time(int64_t time_s, char ret_text[TEXT_TIME_BYTES])
{
    assert(time_s >= 0 && time_s <= LIMIT_TIME_S);
    const struct civil_date date = civil_date_from_days((int32_t)(time_s / CIVIL_DAY_S));
    const unsigned second = (unsigned)(time_s % CIVIL_DAY_S);
    memcpy(ret_text, "YYYY-MM-DDTHH:MM:SSZ", TEXT_TIME_BYTES);
    put_two(ret_text, (unsigned)date.year / 100);
    put_two(ret_text + 2, (unsigned)date.year % 100);
    put_two(ret_text + 5, date.month);
    put_two(ret_text + 8, date.day);
    put_two(ret_text + 11, second / HOUR_S);
    put_two(ret_text + 14, second / MINUTE_S % 60);
    put_two(ret_text + 17, second % 60);
    return ret_text;
}

/* Amounts, durations, sizes and times as people write them: see units.h. Pure, no floats. */
#include "clients/units.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const int64_t seconds_max = INT64_C(100000000000);
static const int64_t time_max_s = INT64_C(253402300799); /* 9999-12-31T23:59:59Z */
static const unsigned amount_digits_max = 15;
static const unsigned amount_fraction_max = 5;

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Reads digits from *cursor and moves it behind them. False without a digit or beyond `max`. */
static bool number_read(const char **cursor, int64_t max, int64_t *ret_value)
{
    if (!is_digit(**cursor)) {
        return false;
    }
    int64_t value = 0;
    for (; is_digit(**cursor); (*cursor)++) {
        value = value * 10 + (**cursor - '0');
        if (value > max) {
            return false;
        }
    }
    *ret_value = value;
    return true;
}

enum corehour_result corehour_amount_check(const char *text)
{
    size_t whole = strspn(text, "0123456789");
    if (whole == 0) {
        return COREHOUR_INVALID;
    }
    size_t fraction = 0;
    const char *rest = text + whole;
    if (*rest == '.') {
        fraction = strspn(rest + 1, "0123456789");
        if (fraction == 0 || fraction > amount_fraction_max) {
            return COREHOUR_INVALID;
        }
        rest += 1 + fraction;
    }
    if (*rest != '\0' || whole + fraction > amount_digits_max) {
        return COREHOUR_INVALID;
    }
    return COREHOUR_OK;
}

/* Writes value / divisor with `decimals` decimals, half up away from zero. */
static void fixed_format(int64_t value, uint64_t divisor, unsigned decimals, char *ret_text)
{
    uint64_t size = value < 0 ? UINT64_C(0) - (uint64_t)value : (uint64_t)value;
    uint64_t scale = decimals == 2 ? 100 : 1000;
    uint64_t whole = size / divisor;
    uint64_t part = ((size % divisor) * scale + divisor / 2) / divisor;
    if (part == scale) {
        whole++;
        part = 0;
    }
    const char *sign = value < 0 && (whole > 0 || part > 0) ? "-" : "";
    snprintf(ret_text, COREHOUR_UNITS_TEXT_BYTES, "%s%" PRIu64 ".%0*" PRIu64, sign, whole,
             (int)decimals, part);
}

void corehour_amount_format(int64_t mcs, char *ret_text)
{
    fixed_format(mcs, (uint64_t)COREHOUR_MCS_PER_CORE_HOUR, 2, ret_text);
}

void corehour_thousandths_format(int64_t thousandths, char *ret_text)
{
    fixed_format(thousandths, 1000, 3, ret_text);
}

void corehour_minutes_format(int64_t seconds, char *ret_text)
{
    fixed_format(seconds, 60, 2, ret_text);
}

static const struct duration_unit {
    char letter;
    int64_t seconds;
} duration_units[] = {{'w', 604800}, {'d', 86400}, {'h', 3600}, {'m', 60}, {'s', 1}};
#define DURATION_UNITS (sizeof duration_units / sizeof duration_units[0])

void corehour_duration_format(int64_t seconds, char *ret_text)
{
    uint64_t rest = seconds < 0 ? UINT64_C(0) - (uint64_t)seconds : (uint64_t)seconds;
    int used = seconds < 0 ? snprintf(ret_text, COREHOUR_UNITS_TEXT_BYTES, "-") : 0;
    for (size_t i = 1; i < DURATION_UNITS; i++) { /* days are the largest that people read well */
        uint64_t count = rest / (uint64_t)duration_units[i].seconds;
        rest %= (uint64_t)duration_units[i].seconds;
        if (count == 0) {
            continue;
        }
        used += snprintf(ret_text + used, (size_t)(COREHOUR_UNITS_TEXT_BYTES - used),
                         "%" PRIu64 "%c", count, duration_units[i].letter);
    }
    if (seconds == 0) {
        snprintf(ret_text, COREHOUR_UNITS_TEXT_BYTES, "0s");
    }
}

/* "1h30m": each unit at most once, from large to small. */
static enum corehour_result duration_units_parse(const char *text, int64_t *ret_seconds)
{
    int64_t total = 0;
    size_t unit = 0;
    while (*text != '\0') {
        int64_t count;
        if (!number_read(&text, seconds_max, &count)) {
            return is_digit(*text) ? COREHOUR_RANGE : COREHOUR_INVALID;
        }
        while (unit < DURATION_UNITS && duration_units[unit].letter != *text) {
            unit++;
        }
        if (unit == DURATION_UNITS) {
            return COREHOUR_INVALID;
        }
        if (count > (seconds_max - total) / duration_units[unit].seconds) {
            return COREHOUR_RANGE;
        }
        total += count * duration_units[unit].seconds;
        unit++;
        text++;
    }
    *ret_seconds = total;
    return COREHOUR_OK;
}

/* Reads "a:b:c", one to three numbers. ret_parts is filled from the front. 0 when it is not that.
 */
static unsigned colons_read(const char *text, int64_t ret_parts[3])
{
    for (unsigned i = 0; i < 3; i++) {
        if (!number_read(&text, seconds_max, &ret_parts[i])) {
            return 0;
        }
        if (*text == '\0') {
            return i + 1;
        }
        if (*text != ':') {
            return 0;
        }
        text++;
    }
    return 0;
}

/* "2-12", "2-12:30", "2-12:30:00": hours first behind a day. */
static enum corehour_result duration_days_parse(const char *text, int64_t *ret_seconds)
{
    int64_t days;
    int64_t parts[3] = {0, 0, 0};
    if (!number_read(&text, seconds_max / 86400 - 1, &days)) {
        return is_digit(*text) ? COREHOUR_RANGE : COREHOUR_INVALID;
    }
    if (*text != '-' || colons_read(text + 1, parts) == 0) {
        return COREHOUR_INVALID;
    }
    if (parts[0] >= 24 || parts[1] >= 60 || parts[2] >= 60) {
        return COREHOUR_RANGE;
    }
    *ret_seconds = days * 86400 + parts[0] * 3600 + parts[1] * 60 + parts[2];
    return COREHOUR_OK;
}

/* "5:00" is minutes and seconds, "1:30:00" hours, minutes and seconds; the first may be large. */
static enum corehour_result duration_colons_parse(const char *text, int64_t *ret_seconds)
{
    int64_t parts[3] = {0, 0, 0};
    unsigned count = colons_read(text, parts);
    if (count < 2) {
        return COREHOUR_INVALID;
    }
    int64_t unit = count == 3 ? 3600 : 60;
    int64_t rest = count == 3 ? parts[1] * 60 + parts[2] : parts[1];
    if (parts[1] >= 60 || parts[2] >= 60 || parts[0] >= seconds_max / unit) {
        return COREHOUR_RANGE;
    }
    *ret_seconds = parts[0] * unit + rest;
    return COREHOUR_OK;
}

enum corehour_result corehour_duration_parse(const char *text, int64_t *ret_seconds)
{
    if (*text == '\0') {
        return COREHOUR_INVALID;
    }
    if (text[strspn(text, "0123456789")] == '\0') {
        const char *cursor = text;
        return number_read(&cursor, seconds_max, ret_seconds) ? COREHOUR_OK : COREHOUR_RANGE;
    }
    if (strchr(text, '-') != NULL) {
        return duration_days_parse(text, ret_seconds);
    }
    if (strchr(text, ':') != NULL) {
        return duration_colons_parse(text, ret_seconds);
    }
    return duration_units_parse(text, ret_seconds);
}

enum corehour_result corehour_memory_parse(const char *text, int64_t *ret_mib)
{
    static const int64_t mib_max = INT64_C(1) << 43;
    int64_t count;
    if (!number_read(&text, mib_max, &count)) {
        return is_digit(*text) ? COREHOUR_RANGE : COREHOUR_INVALID;
    }
    if (*text == '\0') {
        *ret_mib = count;
        return COREHOUR_OK;
    }
    static const char letters[] = "KMGT";
    const char *letter = strchr(letters, *text);
    const char *rest = text + 1;
    if (letter == NULL || (strcmp(rest, "") != 0 && strcmp(rest, "i") != 0 &&
                           strcmp(rest, "iB") != 0 && strcmp(rest, "B") != 0)) {
        return COREHOUR_INVALID;
    }
    if (*letter == 'K') {
        if (count % 1024 != 0) {
            return COREHOUR_INVALID;
        }
        *ret_mib = count / 1024;
        return COREHOUR_OK;
    }
    int shift = (int)(letter - letters - 1) * 10;
    if (count > (mib_max >> shift)) {
        return COREHOUR_RANGE;
    }
    *ret_mib = count << shift;
    return COREHOUR_OK;
}

/* Days since 1970-01-01 of a date of the Gregorian calendar (the era method: 400 years a turn). */
static int64_t days_from_date(int64_t year, int64_t month, int64_t day)
{
    int64_t shifted = month <= 2 ? year - 1 : year; /* years begin in March */
    int64_t era = shifted / 400;
    int64_t year_of_era = shifted - era * 400;
    int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    return era * 146097 + day_of_era - 719468;
}

static int64_t month_days(int64_t year, int64_t month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    return month == 2 && leap ? 29 : days[month - 1];
}

/* Reads exactly `count` digits and, when `then` is not NUL, that character behind them. */
static bool digits_read(const char **cursor, unsigned count, char then, int64_t *ret_value)
{
    int64_t value = 0;
    for (unsigned i = 0; i < count; i++, (*cursor)++) {
        if (!is_digit(**cursor)) {
            return false;
        }
        value = value * 10 + (**cursor - '0');
    }
    if (then != '\0' && *(*cursor)++ != then) {
        return false;
    }
    *ret_value = value;
    return true;
}

/* Reads "Z" or "+08:00" to its end. */
static enum corehour_result offset_read(const char *text, int64_t *ret_offset_s)
{
    if ((*text == 'Z' || *text == 'z') && text[1] == '\0') {
        *ret_offset_s = 0;
        return COREHOUR_OK;
    }
    if (*text != '+' && *text != '-') {
        return COREHOUR_INVALID;
    }
    int64_t sign = *text++ == '+' ? 1 : -1;
    int64_t hours, minutes;
    if (!digits_read(&text, 2, ':', &hours) || !digits_read(&text, 2, '\0', &minutes) ||
        *text != '\0') {
        return COREHOUR_INVALID;
    }
    if (hours > 23 || minutes > 59) {
        return COREHOUR_RANGE;
    }
    *ret_offset_s = sign * (hours * 3600 + minutes * 60);
    return COREHOUR_OK;
}

/* Reads "T10:00:00.123+08:00" behind a date. ret_s: seconds to add to the date's midnight UTC. */
static enum corehour_result clock_read(const char *text, int64_t *ret_s)
{
    int64_t hour, minute, second, offset_s;
    if (*text != 'T' && *text != 't' && *text != ' ') {
        return COREHOUR_INVALID;
    }
    text++;
    if (!digits_read(&text, 2, ':', &hour) || !digits_read(&text, 2, ':', &minute) ||
        !digits_read(&text, 2, '\0', &second)) {
        return COREHOUR_INVALID;
    }
    if (hour > 23 || minute > 59 || second > 59) {
        return COREHOUR_RANGE;
    }
    if (*text == '.') {
        size_t fraction = strspn(text + 1, "0123456789");
        if (fraction == 0) {
            return COREHOUR_INVALID;
        }
        text += 1 + fraction;
    }
    enum corehour_result result = offset_read(text, &offset_s);
    if (result == COREHOUR_OK) {
        *ret_s = hour * 3600 + minute * 60 + second - offset_s;
    }
    return result;
}

static enum corehour_result date_parse(const char *text, int64_t *ret_s)
{
    int64_t year, month, day;
    if (!digits_read(&text, 4, '-', &year) || !digits_read(&text, 2, '-', &month) ||
        !digits_read(&text, 2, '\0', &day)) {
        return COREHOUR_INVALID;
    }
    if (year < 1970 || month < 1 || month > 12 || day < 1 || day > month_days(year, month)) {
        return COREHOUR_RANGE;
    }
    int64_t clock_s = 0;
    if (*text != '\0') {
        enum corehour_result result = clock_read(text, &clock_s);
        if (result != COREHOUR_OK) {
            return result;
        }
    }
    int64_t time_s = days_from_date(year, month, day) * 86400 + clock_s;
    if (time_s < 0 || time_s > time_max_s) {
        return COREHOUR_RANGE;
    }
    *ret_s = time_s;
    return COREHOUR_OK;
}

static enum corehour_result relative_parse(const char *text, int64_t now_s, int64_t *ret_s)
{
    int64_t seconds;
    enum corehour_result result = corehour_duration_parse(text + 1, &seconds);
    if (result != COREHOUR_OK) {
        return result;
    }
    int64_t time_s = *text == '-' ? now_s - seconds : now_s + seconds;
    if (time_s < 0 || time_s > time_max_s) {
        return COREHOUR_RANGE;
    }
    *ret_s = time_s;
    return COREHOUR_OK;
}

enum corehour_result corehour_time_parse(const char *text, int64_t now_s, int64_t *ret_s)
{
    if (strcmp(text, "now") == 0) {
        *ret_s = now_s;
        return COREHOUR_OK;
    }
    if (*text == '-' || *text == '+') {
        return relative_parse(text, now_s, ret_s);
    }
    if (*text != '@') {
        return date_parse(text, ret_s);
    }
    const char *cursor = text + 1;
    int64_t time_s;
    if (!number_read(&cursor, time_max_s, &time_s)) {
        return is_digit(*cursor) ? COREHOUR_RANGE : COREHOUR_INVALID;
    }
    if (*cursor != '\0') {
        return COREHOUR_INVALID;
    }
    *ret_s = time_s;
    return COREHOUR_OK;
}

void corehour_time_format(int64_t time_s, char *ret_text)
{
    if (time_s < 0 || time_s > time_max_s) {
        snprintf(ret_text, COREHOUR_UNITS_TEXT_BYTES, "-");
        return;
    }
    int64_t days = time_s / 86400;
    int64_t clock_s = time_s % 86400;
    int64_t year = 1970 + days / 366; /* never too late; at most 21 steps short before 9999 */
    while (days_from_date(year + 1, 1, 1) <= days) {
        year++;
    }
    days -= days_from_date(year, 1, 1);
    int64_t month = 1;
    while (days >= month_days(year, month)) {
        days -= month_days(year, month++);
    }
    snprintf(ret_text, COREHOUR_UNITS_TEXT_BYTES, "%04d-%02d-%02dT%02d:%02d:%02dZ", (int)year,
             (int)month, (int)days + 1, (int)(clock_s / 3600), (int)(clock_s / 60 % 60),
             (int)(clock_s % 60));
}

/*
 * Local days and longer periods from a table of offsets. Pure.
 *
 * The local date, as a function of time, can step back when an offset shrinks at midnight. A day is
 * therefore the largest local date seen so far: that never steps back, and start() below is its
 * exact inverse.
 */
#include "ledger/base/calendar.h"

#include <stdio.h>

#include "ledger/base/civil.h"

enum {
    MONTHS_PER_YEAR = 12,
    MONTHS_PER_QUARTER = 3,
    FIRST_YEAR = 1970,
};

/* Further apart than this, two steps cannot disturb each other's dates. */
#define REACH_S (2 * CIVIL_DAY_S)

void calendar_init_utc(struct calendar *ret_calendar)
{
    *ret_calendar = (struct calendar){
        .count = 1,
        .fiscal_year_start = 1,
        .steps = {{.at_s = INT64_MIN, .offset_s = 0}},
    };
}

/* Index of the step in force at an instant: the last with at_s <= time_s. */
static int32_t step_at(const struct calendar *calendar, int64_t time_s)
{
    int32_t low = 0;
    int32_t high = calendar->count;
    assert(high >= 1 && high <= CALENDAR_STEPS && calendar->steps[0].at_s == INT64_MIN);
    while (high - low > 1) {
        int32_t middle = low + (high - low) / 2;
        if (calendar->steps[middle].at_s <= time_s) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

int32_t calendar_offset_s(const struct calendar *calendar, int64_t time_s)
{
    return calendar->steps[step_at(calendar, time_s)].offset_s;
}

static int32_t date_with_offset(int64_t time_s, int32_t offset_s)
{
    return (int32_t)civil_floor_div(time_s + offset_s, CIVIL_DAY_S);
}

int32_t calendar_day(const struct calendar *calendar, int64_t time_s)
{
    int32_t step = step_at(calendar, time_s);
    int32_t day = date_with_offset(time_s, calendar->steps[step].offset_s);
    /* The last instant before each recent step may have had a later date. */
    for (; step > 0 && calendar->steps[step].at_s > time_s - REACH_S; step--) {
        int32_t before =
            date_with_offset(calendar->steps[step].at_s - 1, calendar->steps[step - 1].offset_s);
        day = before > day ? before : day;
    }
    return day;
}

int64_t calendar_day_start(const struct calendar *calendar, int32_t day)
{
    int64_t midnight_s = day * CIVIL_DAY_S;
    int32_t step = step_at(calendar, midnight_s - REACH_S);
    for (;; step++) {
        const struct calendar_step *now = &calendar->steps[step];
        /* The step's first instant with this date or a later one, if the step lasts that long. */
        int64_t start_s = midnight_s - now->offset_s;
        start_s = start_s < now->at_s ? now->at_s : start_s;
        if (step + 1 == calendar->count || start_s < calendar->steps[step + 1].at_s) {
            return start_s;
        }
    }
}

static int32_t month_of(int32_t year, int32_t month)
{
    return year * MONTHS_PER_YEAR + month - 1;
}

int32_t calendar_day_month(int32_t day)
{
    struct civil_date date = civil_date_from_days(day);
    return month_of(date.year, date.month);
}

static struct civil_date first_date(int32_t month)
{
    return (struct civil_date){
        .year = (int32_t)civil_floor_div(month, MONTHS_PER_YEAR),
        .month = (uint8_t)(civil_floor_mod(month, MONTHS_PER_YEAR) + 1),
        .day = 1,
    };
}

int32_t calendar_month_first_day(int32_t month)
{
    return civil_days_from_date(first_date(month));
}

int32_t calendar_month(const struct calendar *calendar, int64_t time_s)
{
    return calendar_day_month(calendar_day(calendar, time_s));
}

int64_t calendar_month_start(const struct calendar *calendar, int32_t month)
{
    return calendar_day_start(calendar, calendar_month_first_day(month));
}

/* Months since the fiscal year began, 0 to 11. */
static int32_t month_of_fiscal_year(const struct calendar *calendar, int32_t month)
{
    assert(calendar->fiscal_year_start >= 1 && calendar->fiscal_year_start <= MONTHS_PER_YEAR);
    return (int32_t)civil_floor_mod(month - (calendar->fiscal_year_start - 1), MONTHS_PER_YEAR);
}

int32_t calendar_quarter_first_month(const struct calendar *calendar, int32_t month)
{
    return month - month_of_fiscal_year(calendar, month) % MONTHS_PER_QUARTER;
}

int32_t calendar_year_first_month(const struct calendar *calendar, int32_t month)
{
    return month - month_of_fiscal_year(calendar, month);
}

/* The date as unsigned numbers of at most 4, 2 and 2 digits, which is what the buffers hold. */
static void check_writable(struct civil_date date)
{
    assert(date.year >= 0 && date.year <= 9999);
}

const char *calendar_format_month(int32_t month, char ret_text[CALENDAR_MONTH_TEXT_BYTES])
{
    struct civil_date date = first_date(month);
    check_writable(date);
    (void)snprintf(ret_text, CALENDAR_MONTH_TEXT_BYTES, "%04u-%02u", (unsigned)date.year % 10000,
                   date.month % 100U);
    return ret_text;
}

const char *calendar_format_day(int32_t day, char ret_text[CALENDAR_DAY_TEXT_BYTES])
{
    struct civil_date date = civil_date_from_days(day);
    check_writable(date);
    (void)snprintf(ret_text, CALENDAR_DAY_TEXT_BYTES, "%04u-%02u-%02u", (unsigned)date.year % 10000,
                   date.month % 100U, date.day % 100U);
    return ret_text;
}

/* Read digits at fixed places; -1 when one is not a digit. */
static int32_t number_at(const char *text, int from, int digits)
{
    int32_t value = 0;
    for (int i = from; i < from + digits; i++) {
        if (text[i] < '0' || text[i] > '9') {
            return -1;
        }
        value = value * 10 + (text[i] - '0');
    }
    return value;
}

/* "2026-11" at the start of the text; what follows is the caller's. */
static bool read_month(const char *text, struct civil_date *ret_date)
{
    int32_t year = number_at(text, 0, 4);
    if (year < FIRST_YEAR || text[4] != '-') {
        return false;
    }
    int32_t month = number_at(text, 5, 2);
    if (month < 1 || month > MONTHS_PER_YEAR) {
        return false;
    }
    *ret_date = (struct civil_date){.year = year, .month = (uint8_t)month, .day = 1};
    return true;
}

enum error_code calendar_parse_month(const char *text, int32_t *ret_month, struct error *err)
{
    struct civil_date date;
    if (!read_month(text, &date) || text[7] != '\0') {
        return error_set(err, ERR_INVALID_FIELD, "a month is written as 2026-11, not \"%.20s\"",
                         text);
    }
    *ret_month = month_of(date.year, date.month);
    return ERR_OK;
}

enum error_code calendar_parse_day(const char *text, int32_t *ret_day, struct error *err)
{
    struct civil_date date;
    bool valid = read_month(text, &date) && text[7] == '-';
    int32_t day = valid ? number_at(text, 8, 2) : -1;
    if (day < 1 || day > civil_days_of_month(date.year, date.month) || text[10] != '\0') {
        return error_set(err, ERR_INVALID_FIELD, "a day is written as 2026-11-30, not \"%.20s\"",
                         text);
    }
    date.day = (uint8_t)day;
    *ret_day = civil_days_from_date(date);
    return ERR_OK;
}

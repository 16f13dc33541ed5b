/*
 * Where periods are cut: local days, months, quarters and years of one time zone
 * (SPEC 1.4, 4.1, 8.1).
 *
 * Pure: a calendar is plain data that zone_load() filled; these functions only count. Times are
 * whole seconds since 1970 UTC within years 1 to 9999; periods are half open.
 *
 * Days cut the time line in order and without gaps: day d is [start(d), start(d + 1)), where
 * start(d) is the first instant whose local date is d or later. A day may therefore have 23, 24.5
 * or 25 hours; it has none when a zone skipped that date (Samoa, 30 December 2011); and when clocks
 * go back over midnight, the hour that repeats stays with the later date, since that day has begun.
 * Months and longer periods begin with their first day.
 */
#ifndef LEDGER_BASE_CALENDAR_H
#define LEDGER_BASE_CALENDAR_H

#include <stdbool.h>
#include <stdint.h>

#include "ledger/base/check.h"
#include "ledger/base/error.h"

#define CALENDAR_STEPS 512

/** Room for a month ("2026-11") and a day ("2026-11-30") as text, NUL included. */
#define CALENDAR_MONTH_TEXT_BYTES 8
#define CALENDAR_DAY_TEXT_BYTES   11

/** From at_s on, local time is UTC + offset_s, until the next step. */
struct calendar_step {
    int64_t at_s;
    int32_t offset_s;
};

/**
 * The offsets of one zone, ascending by at_s, and the month (1 to 12) in which fiscal years begin.
 * steps[0].at_s is INT64_MIN; offsets are less than a day either way.
 */
struct calendar {
    int32_t count; /* steps in use, 1 to CALENDAR_STEPS */
    uint8_t fiscal_year_start;
    struct calendar_step steps[CALENDAR_STEPS];
};

/*
 * A month is counted as year x 12 + month - 1 (November 2026 is 24322), a day as days since
 * 1970-01-01, both local.
 */

/** UTC with fiscal years that begin in January. */
void calendar_init_utc(struct calendar *ret_calendar);

/** Seconds that local time is ahead of UTC at this instant. */
int32_t calendar_offset_s(const struct calendar *calendar, int64_t time_s);

/** The local day to which an instant belongs. */
int32_t calendar_day(const struct calendar *calendar, int64_t time_s);

/** The first instant of a day, seconds since 1970 UTC. */
int64_t calendar_day_start(const struct calendar *calendar, int32_t day);

/** The month in which a day lies. */
int32_t calendar_day_month(int32_t day);

/** The first day of a month. */
int32_t calendar_month_first_day(int32_t month);

/** The month to which an instant belongs. */
int32_t calendar_month(const struct calendar *calendar, int64_t time_s);

/** The first instant of a month, seconds since 1970 UTC. Its end is the start of month + 1. */
int64_t calendar_month_start(const struct calendar *calendar, int32_t month);

/** The first of the three months of the fiscal quarter in which a month lies. */
int32_t calendar_quarter_first_month(const struct calendar *calendar, int32_t month);

/** The first of the twelve months of the fiscal year in which a month lies. */
int32_t calendar_year_first_month(const struct calendar *calendar, int32_t month);

/** Write a month of the years 0 to 9999 as "2026-11". Returns @ret_text. */
const char *calendar_format_month(int32_t month, char ret_text[CALENDAR_MONTH_TEXT_BYTES]);

/** Write a day of the years 0 to 9999 as "2026-11-30". Returns @ret_text. */
const char *calendar_format_day(int32_t day, char ret_text[CALENDAR_DAY_TEXT_BYTES]);

/**
 * Read "2026-11". ERR_OK, or ERR_INVALID_FIELD (without a field name) for any other form or a year
 * outside 1970 to 9999, and then @ret_month is untouched.
 */
MUST_USE enum error_code calendar_parse_month(const char *text,
                                              int32_t *ret_month,
                                              struct error *err);

/** Read "2026-11-30"; the same, also for a date that does not exist. */
MUST_USE enum error_code calendar_parse_day(const char *text, int32_t *ret_day, struct error *err);

#endif

/*
 * Arithmetic of the proleptic Gregorian calendar: days since 1970-01-01 and dates. No time zones.
 *
 * Pure: no state, no libc calls, any thread. Valid for years -9999 to 20000, far more than the
 * ledger uses.
 */
#ifndef LEDGER_BASE_CIVIL_H
#define LEDGER_BASE_CIVIL_H

#include <stdbool.h>
#include <stdint.h>

#define CIVIL_DAY_S INT64_C(86400)

struct civil_date {
    int32_t year;
    uint8_t month; /* 1 to 12 */
    uint8_t day;   /* 1 to 31 */
};

/** Days from 1970-01-01 to a valid date; negative before. */
int32_t civil_days_from_date(struct civil_date date);

/** The date that is @days after 1970-01-01. */
struct civil_date civil_date_from_days(int32_t days);

/** Days of a month (1 to 12) of a year. */
uint8_t civil_days_of_month(int32_t year, uint8_t month);

/** Is it a date of the calendar: month 1 to 12, day 1 to the month's last. */
bool civil_date_is_valid(struct civil_date date);

/** Quotient rounded towards minus infinity; @divisor above 0. */
int64_t civil_floor_div(int64_t dividend, int64_t divisor);

/** The rest that belongs to it: 0 to divisor - 1. */
int64_t civil_floor_mod(int64_t dividend, int64_t divisor);

#endif

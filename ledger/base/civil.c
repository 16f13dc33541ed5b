/*
 * Dates and day numbers. The year is taken to begin on 1 March, so that the leap day is its last
 * day and the lengths of the months before it follow one linear formula; an era is the 400 years
 * after which the calendar repeats.
 */
#include "ledger/base/civil.h"

#include "ledger/base/check.h"

enum {
    YEARS_PER_ERA = 400,
    DAYS_PER_ERA = 146097,
    DAYS_TO_1970 = 719468, /* from 0000-03-01 */
    YEAR_MIN = -9999,
    YEAR_MAX = 20000,
};

int64_t civil_floor_div(int64_t dividend, int64_t divisor)
{
    assert(divisor > 0);
    return dividend / divisor - (dividend % divisor < 0 ? 1 : 0);
}

int64_t civil_floor_mod(int64_t dividend, int64_t divisor)
{
    assert(divisor > 0);
    int64_t rest = dividend % divisor;
    return rest < 0 ? rest + divisor : rest;
}

static bool is_leap(int32_t year)
{
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

uint8_t civil_days_of_month(int32_t year, uint8_t month)
{
    static const uint8_t days[12] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    assert(month >= 1 && month <= 12);
    return (uint8_t)(days[month - 1] + (month == 2 && is_leap(year) ? 1 : 0));
}

bool civil_date_is_valid(struct civil_date date)
{
    return date.month >= 1 && date.month <= 12 && date.day >= 1 &&
           date.day <= civil_days_of_month(date.year, date.month);
}

int32_t civil_days_from_date(struct civil_date date)
{
    assert(civil_date_is_valid(date) && date.year >= YEAR_MIN && date.year <= YEAR_MAX);
    int32_t march_year = date.year - (date.month <= 2 ? 1 : 0);
    int32_t march_month = (date.month + 9) % 12; /* March is 0 */
    int32_t era = (int32_t)civil_floor_div(march_year, YEARS_PER_ERA);
    int32_t year_of_era = march_year - era * YEARS_PER_ERA;
    int32_t day_of_year = (153 * march_month + 2) / 5 + date.day - 1;
    int32_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    return era * DAYS_PER_ERA + day_of_era - DAYS_TO_1970;
}

struct civil_date civil_date_from_days(int32_t days)
{
    assert(days >= -4371587 && days <= 6585687); /* YEAR_MIN to YEAR_MAX */
    int32_t shifted = days + DAYS_TO_1970;
    int32_t era = (int32_t)civil_floor_div(shifted, DAYS_PER_ERA);
    int32_t day_of_era = shifted - era * DAYS_PER_ERA;
    int32_t year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    int32_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    int32_t march_month = (5 * day_of_year + 2) / 153;
    int32_t month = march_month < 10 ? march_month + 3 : march_month - 9;
    return (struct civil_date){
        .year = era * YEARS_PER_ERA + year_of_era + (month <= 2 ? 1 : 0),
        .month = (uint8_t)month,
        .day = (uint8_t)(day_of_year - (153 * march_month + 2) / 5 + 1),
    };
}

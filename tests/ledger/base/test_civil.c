/* Day numbers and dates of the Gregorian calendar. */
#include <criterion/criterion.h>

#include "ledger/base/check.h"
#include "ledger/base/civil.h"

struct date_case {
    int32_t days;
    struct civil_date date;
};

Test(civil, known_dates_have_their_day_numbers)
{
    static const struct date_case cases[] = {
        {0, {1970, 1, 1}},      {-1, {1969, 12, 31}},    {59, {1970, 3, 1}},
        {11016, {2000, 2, 29}}, {20787, {2026, 11, 30}}, {2932896, {9999, 12, 31}},
        {-719162, {1, 1, 1}},   {-719528, {0, 1, 1}},    {-141427, {1582, 10, 15}},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct civil_date date = civil_date_from_days(cases[i].days);
        cr_expect_eq(civil_days_from_date(cases[i].date), cases[i].days, "row %zu", i);
        cr_expect_eq(date.year, cases[i].date.year, "row %zu", i);
        cr_expect_eq(date.month, cases[i].date.month, "row %zu", i);
        cr_expect_eq(date.day, cases[i].date.day, "row %zu", i);
    }
}

/* The date after, by the rules of the calendar alone. */
static struct civil_date next_date(struct civil_date date)
{
    date.day++;
    if (date.day > civil_days_of_month(date.year, date.month)) {
        date.day = 1;
        date.month++;
    }
    if (date.month > 12) {
        date.month = 1;
        date.year++;
    }
    return date;
}

Test(civil, every_day_from_the_first_to_the_last_year_follows_the_one_before)
{
    struct civil_date date = {-9999, 1, 1};
    int32_t days = civil_days_from_date(date);
    for (; date.year <= 20000; days++, date = next_date(date)) {
        struct civil_date found = civil_date_from_days(days);
        cr_assert(found.year == date.year && found.month == date.month && found.day == date.day,
                  "day %d", days);
        cr_assert_eq(civil_days_from_date(date), days);
    }
}

Test(civil, february_has_29_days_in_leap_years_only)
{
    cr_expect_eq(civil_days_of_month(2024, 2), 29);
    cr_expect_eq(civil_days_of_month(2026, 2), 28);
    cr_expect_eq(civil_days_of_month(2100, 2), 28);
    cr_expect_eq(civil_days_of_month(2000, 2), 29);
}

Test(civil, dates_that_do_not_exist_are_not_valid)
{
    cr_expect(civil_date_is_valid((struct civil_date){2026, 11, 30}));
    cr_expect(!civil_date_is_valid((struct civil_date){2026, 11, 31}));
    cr_expect(!civil_date_is_valid((struct civil_date){2026, 11, 0}));
    cr_expect(!civil_date_is_valid((struct civil_date){2026, 0, 1}));
    cr_expect(!civil_date_is_valid((struct civil_date){2026, 13, 1}));
}

Test(civil, division_rounds_down_for_both_signs)
{
    cr_expect_eq(civil_floor_div(7, 3), 2);
    cr_expect_eq(civil_floor_div(-7, 3), -3);
    cr_expect_eq(civil_floor_div(-6, 3), -2);
    cr_expect_eq(civil_floor_mod(7, 3), 1);
    cr_expect_eq(civil_floor_mod(-7, 3), 2);
    cr_expect_eq(civil_floor_mod(-6, 3), 0);
}

/* Periods from a table of offsets: a partition of time without gaps (SPEC 1.4, 4.1, 8.1). */
#include <inttypes.h>

#include <criterion/criterion.h>

#include "ledger/base/calendar.h"
#include "ledger/base/civil.h"
#include "tests/lib/random.h"

#define HOUR_S 3600

/* Midnight UTC of a date. */
static int64_t utc_s(int32_t year, int month, int day)
{
    return civil_days_from_date((struct civil_date){year, (uint8_t)month, (uint8_t)day}) *
           CIVIL_DAY_S;
}

static int32_t day_of(int32_t year, int month, int day)
{
    return civil_days_from_date((struct civil_date){year, (uint8_t)month, (uint8_t)day});
}

/* One change of the offset. */
static struct calendar two_steps(int32_t before_s, int64_t at_s, int32_t after_s)
{
    return (struct calendar){
        .count = 2,
        .fiscal_year_start = 1,
        .steps = {{INT64_MIN, before_s}, {at_s, after_s}},
    };
}

Test(calendar, in_utc_days_and_months_begin_at_midnight)
{
    struct calendar utc;
    calendar_init_utc(&utc);
    cr_expect_eq(calendar_day(&utc, 0), 0);
    cr_expect_eq(calendar_day(&utc, -1), -1);
    cr_expect_eq(calendar_day(&utc, 86399), 0);
    cr_expect_eq(calendar_day(&utc, 86400), 1);
    cr_expect_eq(calendar_month(&utc, utc_s(2026, 11, 30)), 2026 * 12 + 10);
    cr_expect_eq(calendar_month_start(&utc, 2026 * 12 + 11), utc_s(2026, 12, 1));
    cr_expect_eq(calendar_month_start(&utc, 2027 * 12), utc_s(2027, 1, 1));
    cr_expect_eq(calendar_month(&utc, utc_s(2026, 12, 1) - 1), 2026 * 12 + 10);
}

Test(calendar, a_fixed_offset_moves_every_boundary)
{
    struct calendar shanghai = two_steps(8 * HOUR_S, 0, 8 * HOUR_S);
    cr_expect_eq(calendar_month_start(&shanghai, 2026 * 12 + 11), utc_s(2026, 12, 1) - 8 * HOUR_S);
    cr_expect_eq(calendar_month(&shanghai, utc_s(2026, 12, 1) - 8 * HOUR_S), 2026 * 12 + 11);
    cr_expect_eq(calendar_month(&shanghai, utc_s(2026, 12, 1) - 8 * HOUR_S - 1), 2026 * 12 + 10);
    cr_expect_eq(calendar_offset_s(&shanghai, 12345), 8 * HOUR_S);
}

static int64_t day_length_s(const struct calendar *calendar, int32_t day)
{
    return calendar_day_start(calendar, day + 1) - calendar_day_start(calendar, day);
}

Test(calendar, days_have_23_and_25_hours_when_clocks_change)
{
    /* Berlin 2026: 29 March 01:00 UTC to +2, 25 October 01:00 UTC back to +1. */
    struct calendar berlin = {
        .count = 3,
        .fiscal_year_start = 1,
        .steps = {{INT64_MIN, HOUR_S},
                  {utc_s(2026, 3, 29) + HOUR_S, 2 * HOUR_S},
                  {utc_s(2026, 10, 25) + HOUR_S, HOUR_S}},
    };
    cr_expect_eq(day_length_s(&berlin, day_of(2026, 3, 28)), 24 * HOUR_S);
    cr_expect_eq(day_length_s(&berlin, day_of(2026, 3, 29)), 23 * HOUR_S);
    cr_expect_eq(day_length_s(&berlin, day_of(2026, 10, 25)), 25 * HOUR_S);
    cr_expect_eq(day_length_s(&berlin, day_of(2026, 10, 26)), 24 * HOUR_S);
}

Test(calendar, a_midnight_that_does_not_exist_is_replaced_by_the_first_instant_after)
{
    /* At local midnight the clock jumps from 00:00 to 01:00, as in Beirut or Asuncion. */
    int64_t jump_s = utc_s(2026, 3, 29) - 2 * HOUR_S;
    struct calendar beirut = two_steps(2 * HOUR_S, jump_s, 3 * HOUR_S);
    cr_expect_eq(calendar_day_start(&beirut, day_of(2026, 3, 29)), jump_s);
    cr_expect_eq(day_length_s(&beirut, day_of(2026, 3, 29)), 23 * HOUR_S);
    cr_expect_eq(day_length_s(&beirut, day_of(2026, 3, 28)), 24 * HOUR_S);
}

Test(calendar, a_clock_set_back_at_midnight_makes_the_old_day_longer)
{
    /* At 24:00 local the clock goes back to 23:00: the new date has not begun yet. */
    int64_t back_s = utc_s(2026, 10, 25) - 3 * HOUR_S;
    struct calendar calendar = two_steps(3 * HOUR_S, back_s, 2 * HOUR_S);
    cr_expect_eq(calendar_day_start(&calendar, day_of(2026, 10, 25)), back_s + HOUR_S);
    cr_expect_eq(day_length_s(&calendar, day_of(2026, 10, 24)), 25 * HOUR_S);
    cr_expect_eq(calendar_day(&calendar, back_s), day_of(2026, 10, 24));
}

Test(calendar, a_clock_set_back_over_midnight_does_not_end_the_day_that_has_begun)
{
    /* At 00:01 the clock goes back to 23:01 of the day before, as in St. John's until 2011. */
    int64_t midnight_s = utc_s(2010, 11, 7) + 9000;
    struct calendar calendar = two_steps(-9000, midnight_s + 60, -12600);
    int32_t day = day_of(2010, 11, 7);
    cr_expect_eq(calendar_day_start(&calendar, day), midnight_s);
    cr_expect_eq(calendar_day(&calendar, midnight_s - 1), day - 1);
    cr_expect_eq(calendar_day(&calendar, midnight_s), day);
    cr_expect_eq(calendar_day(&calendar, midnight_s + 60), day);
    cr_expect_eq(calendar_day(&calendar, midnight_s + HOUR_S), day);
    cr_expect_eq(day_length_s(&calendar, day), 25 * HOUR_S);
}

Test(calendar, a_date_that_a_zone_skipped_has_no_time)
{
    /* Samoa went from 29 to 31 December 2011. */
    int64_t jump_s = utc_s(2011, 12, 30) + 10 * HOUR_S;
    struct calendar apia = two_steps(-10 * HOUR_S, jump_s, 14 * HOUR_S);
    cr_expect_eq(day_length_s(&apia, day_of(2011, 12, 30)), 0);
    cr_expect_eq(day_length_s(&apia, day_of(2011, 12, 29)), 24 * HOUR_S);
    cr_expect_eq(calendar_day(&apia, jump_s - 1), day_of(2011, 12, 29));
    cr_expect_eq(calendar_day(&apia, jump_s), day_of(2011, 12, 31));
}

struct period_case {
    int fiscal_year_start;
    int month;             /* of 2026 */
    int32_t quarter_month; /* year x 12 + month - 1 */
    int32_t year_month;
};

Test(calendar, quarters_and_years_follow_the_fiscal_year)
{
    static const struct period_case cases[] = {
        {1, 1, 2026 * 12, 2026 * 12},
        {1, 3, 2026 * 12, 2026 * 12},
        {1, 4, 2026 * 12 + 3, 2026 * 12},
        {1, 12, 2026 * 12 + 9, 2026 * 12},
        {4, 3, 2026 * 12, 2025 * 12 + 3},
        {4, 4, 2026 * 12 + 3, 2026 * 12 + 3},
        {4, 11, 2026 * 12 + 9, 2026 * 12 + 3},
        {10, 9, 2026 * 12 + 6, 2025 * 12 + 9},
        {10, 10, 2026 * 12 + 9, 2026 * 12 + 9},
        {12, 1, 2025 * 12 + 11, 2025 * 12 + 11},
        {12, 11, 2026 * 12 + 8, 2025 * 12 + 11},
        {2, 1, 2025 * 12 + 10, 2025 * 12 + 1},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct calendar calendar;
        calendar_init_utc(&calendar);
        calendar.fiscal_year_start = (uint8_t)cases[i].fiscal_year_start;
        int32_t month = 2026 * 12 + cases[i].month - 1;
        cr_expect_eq(calendar_quarter_first_month(&calendar, month), cases[i].quarter_month,
                     "row %zu", i);
        cr_expect_eq(calendar_year_first_month(&calendar, month), cases[i].year_month, "row %zu",
                     i);
    }
}

Test(calendar, months_and_days_are_written_and_read)
{
    char month_text[CALENDAR_MONTH_TEXT_BYTES];
    char day_text[CALENDAR_DAY_TEXT_BYTES];
    int32_t month = -1;
    int32_t day = -1;
    cr_expect_str_eq(calendar_format_month(2026 * 12 + 10, month_text), "2026-11");
    cr_expect_str_eq(calendar_format_day(20787, day_text), "2026-11-30");
    cr_expect_eq(calendar_parse_month("2026-11", &month, NULL), ERR_OK);
    cr_expect_eq(month, 2026 * 12 + 10);
    cr_expect_eq(calendar_parse_day("2026-11-30", &day, NULL), ERR_OK);
    cr_expect_eq(day, 20787);
    cr_expect_eq(calendar_parse_day("2024-02-29", &day, NULL), ERR_OK);
}

Test(calendar, other_forms_of_months_and_days_are_refused)
{
    static const char *const months[] = {"",        "2026",     "2026-",      "2026-1",  "2026-00",
                                         "2026-13", "2026-11-", "2026-11-30", "1969-12", "26-11",
                                         "2026/11", "2026-1x",  "x026-11",    " 2026-11"};
    static const char *const days[] = {
        "",           "2026-11",     "2026-11-",    "2026-11-3",  "2026-11-31", "2026-02-29",
        "2026-11-00", "2026-11-300", "2026-11-30T", "1969-12-31", "2026-13-01", "2026-11/30"};
    for (size_t i = 0; i < ARRAY_LEN(months); i++) {
        int32_t month = -7;
        cr_expect_eq(calendar_parse_month(months[i], &month, NULL), ERR_INVALID_FIELD, "%s",
                     months[i]);
        cr_expect_eq(month, -7);
    }
    for (size_t i = 0; i < ARRAY_LEN(days); i++) {
        int32_t day = -7;
        cr_expect_eq(calendar_parse_day(days[i], &day, NULL), ERR_INVALID_FIELD, "%s", days[i]);
        cr_expect_eq(day, -7);
    }
}

/* A zone with wild changes, some of them around midnight and close together. */
static struct calendar random_calendar(struct test_random *random)
{
    struct calendar calendar = {.fiscal_year_start = (uint8_t)test_random_range(random, 1, 12)};
    int64_t at_s = INT64_MIN;
    calendar.count = (int32_t)test_random_range(random, 1, 20);
    for (int32_t i = 0; i < calendar.count; i++) {
        int32_t offset_s = (int32_t)test_random_range(random, -14 * 4, 14 * 4) * 900;
        calendar.steps[i] = (struct calendar_step){at_s, offset_s};
        int64_t from_s = i == 0 ? utc_s(2026, 1, 1) : at_s;
        at_s = from_s +
               test_random_range(random, 1, 20) * (test_random_chance(random, 1, 2) ? 900 : 43200);
    }
    return calendar;
}

Test(calendar, days_partition_time_for_any_table_of_offsets)
{
    struct test_random random;
    test_random_init(&random, "day partition");
    for (int64_t round = test_rounds(2000); round > 0; round--) {
        struct calendar calendar = random_calendar(&random);
        int32_t last_day = day_of(2025, 12, 29);
        for (int64_t time_s = utc_s(2025, 12, 30); time_s < utc_s(2026, 1, 20); time_s += 450) {
            int32_t day = calendar_day(&calendar, time_s);
            int64_t start_s = calendar_day_start(&calendar, day);
            int64_t end_s = calendar_day_start(&calendar, day + 1);
            cr_assert(start_s <= time_s && time_s < end_s, "%" PRId64 " is outside its day %d",
                      time_s, day);
            cr_assert(day >= last_day, "day %d after %d", day, last_day);
            last_day = day;
        }
    }
}

Test(calendar, every_day_starts_at_the_first_instant_of_its_date_or_later)
{
    struct test_random random;
    test_random_init(&random, "day starts");
    for (int64_t round = test_rounds(2000); round > 0; round--) {
        struct calendar calendar = random_calendar(&random);
        for (int32_t day = day_of(2026, 1, 1); day < day_of(2026, 1, 15); day++) {
            int64_t start_s = calendar_day_start(&calendar, day);
            int64_t local_s = start_s + calendar_offset_s(&calendar, start_s);
            cr_assert(civil_floor_div(local_s, CIVIL_DAY_S) >= day);
            for (int64_t time_s = start_s - 1; time_s > start_s - 3 * CIVIL_DAY_S; time_s -= 900) {
                int64_t before_s = time_s + calendar_offset_s(&calendar, time_s);
                cr_assert(civil_floor_div(before_s, CIVIL_DAY_S) < day);
            }
        }
    }
}

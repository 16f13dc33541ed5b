/* Time zones from ICU: known offsets and day lengths, refused names, no influence of TZ (SPEC 1.4). */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>
#include <unicode/ucal.h>
#include <unicode/uenum.h>

#include "ledger/base/civil.h"
#include "ledger/base/text.h"
#include "ledger/base/zone.h"

static struct calendar calendar;

static void load(const char *name)
{
    struct error err = {0};
    cr_assert_eq(zone_load(name, 1, &calendar, &err), ERR_OK, "%s: %s", name, err.detail);
}

static int64_t time_of(const char *text)
{
    int64_t time_s = -1;
    cr_assert_eq(text_parse_time(text, &time_s, NULL), ERR_OK, "%s", text);
    return time_s;
}

Test(zone, utc_is_one_step)
{
    load("UTC");
    cr_expect_eq(calendar.count, 1);
    cr_expect_eq(calendar.steps[0].at_s, INT64_MIN);
    cr_expect_eq(calendar.steps[0].offset_s, 0);
}

struct offset_case {
    const char *zone;
    const char *time;
    int32_t offset_s;
};

Test(zone, offsets_are_those_of_the_zone_at_the_time)
{
    static const struct offset_case cases[] = {
        {"Asia/Shanghai", "2026-11-30T00:00:00Z", 28800},
        {"Europe/Berlin", "2026-03-29T00:59:59Z", 3600},
        {"Europe/Berlin", "2026-03-29T01:00:00Z", 7200},
        {"Europe/Berlin", "2026-10-25T00:59:59Z", 7200},
        {"Europe/Berlin", "2026-10-25T01:00:00Z", 3600},
        {"America/New_York", "2026-07-01T00:00:00Z", -14400},
        {"Asia/Kolkata", "2026-07-01T00:00:00Z", 19800},
        {"Asia/Kathmandu", "2026-07-01T00:00:00Z", 20700},
        {"Australia/Lord_Howe", "2026-01-01T00:00:00Z", 39600},
        {"Australia/Lord_Howe", "2026-07-01T00:00:00Z", 37800},
        {"Etc/GMT+3", "2026-07-01T00:00:00Z", -10800},
        {"Europe/Berlin", "2099-07-01T00:00:00Z", 7200},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        load(cases[i].zone);
        int32_t offset_s = calendar_offset_s(&calendar, time_of(cases[i].time));
        cr_expect_eq(offset_s, cases[i].offset_s, "%s at %s: %" PRId32, cases[i].zone,
                     cases[i].time, offset_s);
    }
}

struct length_case {
    const char *zone;
    const char *day;
    int64_t length_s;
};

Test(zone, days_have_the_length_that_their_clocks_gave_them)
{
    static const struct length_case cases[] = {
        {"Europe/Berlin", "2026-03-29", 82800},
        {"Europe/Berlin", "2026-10-25", 90000},
        {"Asia/Shanghai", "2026-10-25", 86400},
        {"Australia/Lord_Howe", "2026-10-04", 84600}, /* 23.5 h */
        {"Australia/Lord_Howe", "2026-04-05", 88200}, /* 24.5 h */
        {"Pacific/Apia", "2011-12-30", 0},            /* skipped */
        {"America/St_Johns", "2010-11-07", 90000},    /* set back at 00:01 */
        {"America/Sao_Paulo", "2018-11-04", 82800},   /* no midnight */
        {"America/Havana", "2026-11-01", 90000},      /* set back at 01:00 to 00:00 */
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        int32_t day = 0;
        load(cases[i].zone);
        cr_assert_eq(calendar_parse_day(cases[i].day, &day, NULL), ERR_OK);
        int64_t length_s =
            calendar_day_start(&calendar, day + 1) - calendar_day_start(&calendar, day);
        cr_expect_eq(length_s, cases[i].length_s, "%s %s: %" PRId64, cases[i].zone, cases[i].day,
                     length_s);
    }
}

Test(zone, names_that_are_not_utc_or_iana_are_refused)
{
    static const char *const refused[] = {
        "",
        "utc",
        "GMT",
        "IST",
        "CET",
        "PRC",
        "GMT+3",
        "+08:00",
        "asia/shanghai",
        "Asia/Shangai",
        "Etc/Unknown",
        "Asia/",
        "/Asia",
        "../etc/passwd",
        "Asia/Shanghai ",
        "Asia/Shang\xc3\xa9",
        "Asia\n/Shanghai",
        "Aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/Shanghai",
    };
    calendar.count = -7;
    for (size_t i = 0; i < ARRAY_LEN(refused); i++) {
        struct error err = {0};
        cr_expect_eq(zone_load(refused[i], 1, &calendar, &err), ERR_INVALID_FIELD, "\"%s\"",
                     refused[i]);
        cr_expect_str_eq(err.field, "timezone");
        cr_expect_eq(calendar.count, -7);
    }
}

Test(zone, the_environment_plays_no_part)
{
    cr_assert_eq(setenv("TZ", "America/New_York", 1), 0);
    load("Asia/Shanghai");
    cr_expect_eq(calendar_offset_s(&calendar, time_of("2026-11-30T00:00:00Z")), 28800);
    cr_expect_str_eq(getenv("TZ"), "America/New_York");
}

Test(zone, steps_ascend_and_every_month_of_130_years_partitions_time)
{
    static const char *const zones[] = {"Asia/Shanghai", "Europe/Berlin",     "America/St_Johns",
                                        "Pacific/Apia",  "Africa/Casablanca", "America/Sao_Paulo",
                                        "Asia/Tehran",   "Antarctica/Troll"};
    for (size_t i = 0; i < ARRAY_LEN(zones); i++) {
        load(zones[i]);
        for (int32_t step = 1; step < calendar.count; step++) {
            cr_assert(calendar.steps[step - 1].at_s < calendar.steps[step].at_s);
            cr_assert(calendar.steps[step - 1].offset_s != calendar.steps[step].offset_s);
        }
        for (int32_t month = 1970 * 12 + 1; month < 2100 * 12; month++) {
            int64_t start_s = calendar_month_start(&calendar, month);
            cr_assert_eq(calendar_month(&calendar, start_s), month, "%s month %d", zones[i], month);
            cr_assert_eq(calendar_month(&calendar, start_s - 1), month - 1, "%s month %d", zones[i],
                         month);
        }
    }
}

Test(zone, the_fiscal_year_is_kept)
{
    cr_assert_eq(zone_load("UTC", 4, &calendar, NULL), ERR_OK);
    cr_expect_eq(calendar.fiscal_year_start, 4);
    cr_assert_eq(zone_load("Asia/Shanghai", 10, &calendar, NULL), ERR_OK);
    cr_expect_eq(calendar.fiscal_year_start, 10);
}

Test(zone, the_table_has_room_for_every_zone_that_icu_knows)
{
    UErrorCode status = U_ZERO_ERROR;
    UEnumeration *names = ucal_openTimeZoneIDEnumeration(UCAL_ZONE_TYPE_ANY, NULL, NULL, &status);
    int32_t loaded = 0;
    for (const char *name = uenum_next(names, NULL, &status); name != NULL;
         name = uenum_next(names, NULL, &status)) {
        bool is_iana = strchr(name, '/') != NULL && strcmp(name, "Etc/Unknown") != 0;
        struct error err = {0};
        enum error_code code = zone_load(name, 1, &calendar, &err);
        bool accepted = is_iana || strcmp(name, "UTC") == 0;
        cr_expect_eq(code, accepted ? ERR_OK : ERR_INVALID_FIELD, "%s: %s", name, err.detail);
        loaded += code == ERR_OK ? 1 : 0;
    }
    uenum_close(names);
    cr_expect_geq(loaded, 400);
}

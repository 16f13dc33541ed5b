/* Amounts, durations, sizes and times as people write them. */
#include <inttypes.h>

#include <criterion/criterion.h>

#include "clients/units.h"

TestSuite(units);

struct amount_case {
    int64_t mcs;
    const char *text;
};

Test(units, an_amount_is_shown_with_two_decimals_half_up)
{
    static const struct amount_case cases[] = {
        {0, "0.00"},
        {4800000, "1.33"},
        {960000, "0.27"},
        {17999, "0.00"},
        {18000, "0.01"},
        {3582000, "1.00"},
        {3581999, "0.99"},
        {-4800000, "-1.33"},
        {-17999, "0.00"},
        {-18000, "-0.01"},
        {INT64_C(1800000000), "500.00"},
        {INT64_MAX, "2562047788015.22"},
        {INT64_MIN, "-2562047788015.22"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[COREHOUR_UNITS_TEXT_BYTES];
        corehour_amount_format(cases[i].mcs, text);
        cr_expect_str_eq(text, cases[i].text, "%" PRId64 " gave %s", cases[i].mcs, text);
    }
}

Test(units, an_amount_that_the_service_would_not_take_is_not_sent)
{
    static const char *const good[] = {"0", "500", "0.10", "1.33333", "999999999999999"};
    static const char *const bad[] = {"",
                                      "-1",
                                      "+1",
                                      "1.",
                                      ".5",
                                      "1.333333",
                                      "1e3",
                                      "1,5",
                                      " 1",
                                      "1 ",
                                      "0x10",
                                      "9999999999999999",
                                      "12345678901.12345",
                                      "1.2.3",
                                      "inf",
                                      "nan"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        cr_expect_eq(corehour_amount_check(good[i]), COREHOUR_OK, "%s", good[i]);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        cr_expect_eq(corehour_amount_check(bad[i]), COREHOUR_INVALID, "%s", bad[i]);
}

Test(units, milli_cores_and_minutes_are_shown_as_in_the_formula)
{
    char text[COREHOUR_UNITS_TEXT_BYTES];
    corehour_thousandths_format(16000, text);
    cr_expect_str_eq(text, "16.000");
    corehour_thousandths_format(4805, text);
    cr_expect_str_eq(text, "4.805");
    corehour_minutes_format(300, text);
    cr_expect_str_eq(text, "5.00");
    corehour_minutes_format(100, text);
    cr_expect_str_eq(text, "1.67");
}

struct parse_case {
    const char *text;
    enum corehour_result result;
    int64_t value;
};

Test(units, a_duration_is_read_in_seconds_units_or_as_slurm_writes_it)
{
    static const struct parse_case cases[] = {
        {"300", COREHOUR_OK, 300},
        {"0", COREHOUR_OK, 0},
        {"5m", COREHOUR_OK, 300},
        {"1h30m", COREHOUR_OK, 5400},
        {"2d", COREHOUR_OK, 172800},
        {"1w2d3h4m5s", COREHOUR_OK, 788645},
        {"5:00", COREHOUR_OK, 300},
        {"90:00", COREHOUR_OK, 5400},
        {"1:30:00", COREHOUR_OK, 5400},
        {"100:00:01", COREHOUR_OK, 360001},
        {"2-12", COREHOUR_OK, 216000},
        {"2-12:30", COREHOUR_OK, 217800},
        {"2-12:30:15", COREHOUR_OK, 217815},
        {"100000000000", COREHOUR_OK, INT64_C(100000000000)},
        {"100000000001", COREHOUR_RANGE, 0},
        {"99999999999999999999999", COREHOUR_RANGE, 0},
        {"165344w", COREHOUR_RANGE, 0},
        {"1-24:00:00", COREHOUR_RANGE, 0},
        {"1:60:00", COREHOUR_RANGE, 0},
        {"1:00:60", COREHOUR_RANGE, 0},
        {"5:60", COREHOUR_RANGE, 0},
        {"9999999-00:00:00", COREHOUR_RANGE, 0},
        {"", COREHOUR_INVALID, 0},
        {"m", COREHOUR_INVALID, 0},
        {"5m5m", COREHOUR_INVALID, 0},
        {"5s1m", COREHOUR_INVALID, 0},
        {"5 m", COREHOUR_INVALID, 0},
        {"1.5h", COREHOUR_INVALID, 0},
        {"-5", COREHOUR_INVALID, 0},
        {"1-", COREHOUR_INVALID, 0},
        {"1:2:3:4", COREHOUR_INVALID, 0},
        {":5", COREHOUR_INVALID, 0},
        {"5:", COREHOUR_INVALID, 0},
        {"1h30", COREHOUR_INVALID, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int64_t seconds = -1;
        enum corehour_result result = corehour_duration_parse(cases[i].text, &seconds);
        cr_expect_eq(result, cases[i].result, "\"%s\" gave result %d", cases[i].text, result);
        int64_t expected = cases[i].result == COREHOUR_OK ? cases[i].value : -1;
        cr_expect_eq(seconds, expected, "\"%s\" gave %" PRId64, cases[i].text, seconds);
    }
}

Test(units, a_duration_is_shown_in_the_units_that_it_was_written_in)
{
    static const char *const texts[] = {"0s", "59s", "5m", "1h30m", "1d", "2d12h30m15s"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        char text[COREHOUR_UNITS_TEXT_BYTES];
        int64_t seconds;
        cr_assert_eq(corehour_duration_parse(texts[i], &seconds), COREHOUR_OK);
        corehour_duration_format(seconds, text);
        cr_expect_str_eq(text, texts[i]);
    }
    char text[COREHOUR_UNITS_TEXT_BYTES];
    corehour_duration_format(INT64_MIN, text);
    cr_expect_str_eq(text, "-106751991167300d15h30m8s");
}

Test(units, memory_is_read_in_mib_or_with_a_letter)
{
    static const struct parse_case cases[] = {
        {"65536", COREHOUR_OK, 65536},
        {"64G", COREHOUR_OK, 65536},
        {"64GiB", COREHOUR_OK, 65536},
        {"1T", COREHOUR_OK, 1048576},
        {"512M", COREHOUR_OK, 512},
        {"2048K", COREHOUR_OK, 2},
        {"2000K", COREHOUR_INVALID, 0},
        {"64g", COREHOUR_INVALID, 0},
        {"G", COREHOUR_INVALID, 0},
        {"1.5G", COREHOUR_INVALID, 0},
        {"64GG", COREHOUR_INVALID, 0},
        {"", COREHOUR_INVALID, 0},
        {"8388608T", COREHOUR_OK, INT64_C(1) << 43},
        {"8388609T", COREHOUR_RANGE, 0},
        {"99999999999999999999", COREHOUR_RANGE, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int64_t mib = -1;
        enum corehour_result result = corehour_memory_parse(cases[i].text, &mib);
        cr_expect_eq(result, cases[i].result, "\"%s\" gave result %d", cases[i].text, result);
        if (result == COREHOUR_OK)
            cr_expect_eq(mib, cases[i].value, "\"%s\" gave %" PRId64, cases[i].text, mib);
    }
}

Test(units, a_time_is_read_with_any_offset_or_relative_to_now)
{
    static const int64_t now_s = 1796058251;
    static const struct parse_case cases[] = {
        {"now", COREHOUR_OK, 1796058251},
        {"-5m", COREHOUR_OK, 1796057951},
        {"+1h30m", COREHOUR_OK, 1796063651},
        {"@1796058251", COREHOUR_OK, 1796058251},
        {"@0", COREHOUR_OK, 0},
        {"1970-01-01", COREHOUR_OK, 0},
        {"2000-02-29T00:00:00Z", COREHOUR_OK, 951782400},
        {"2026-12-01", COREHOUR_OK, 1796083200},
        {"2026-12-01T00:00:00Z", COREHOUR_OK, 1796083200},
        {"2026-12-01t00:00:00z", COREHOUR_OK, 1796083200},
        {"2026-12-01T00:00:00.999Z", COREHOUR_OK, 1796083200},
        {"2026-12-01T08:00:00+08:00", COREHOUR_OK, 1796083200},
        {"2026-11-30T18:30:00-05:30", COREHOUR_OK, 1796083200},
        {"9999-12-31T23:59:59Z", COREHOUR_OK, INT64_C(253402300799)},
        {"2026-02-29", COREHOUR_RANGE, 0},
        {"2100-02-29", COREHOUR_RANGE, 0},
        {"2026-13-01", COREHOUR_RANGE, 0},
        {"2026-00-01", COREHOUR_RANGE, 0},
        {"2026-04-31", COREHOUR_RANGE, 0},
        {"2026-12-01T24:00:00Z", COREHOUR_RANGE, 0},
        {"2026-12-01T00:00:60Z", COREHOUR_RANGE, 0},
        {"1969-12-31", COREHOUR_RANGE, 0},
        {"1970-01-01T00:00:00+01:00", COREHOUR_RANGE, 0},
        {"9999-12-31T23:59:59-01:00", COREHOUR_RANGE, 0},
        {"-9999999w", COREHOUR_RANGE, 0},
        {"@253402300800", COREHOUR_RANGE, 0},
        {"2026-12-01T00:00:00", COREHOUR_INVALID, 0},
        {"2026-12-01T00:00Z", COREHOUR_INVALID, 0},
        {"2026-12-1", COREHOUR_INVALID, 0},
        {"2026-12-01T00:00:00+0800", COREHOUR_INVALID, 0},
        {"2026-12-01T00:00:00.Z", COREHOUR_INVALID, 0},
        {"@12x", COREHOUR_INVALID, 0},
        {"yesterday", COREHOUR_INVALID, 0},
        {"", COREHOUR_INVALID, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int64_t time_s = -1;
        enum corehour_result result = corehour_time_parse(cases[i].text, now_s, &time_s);
        cr_expect_eq(result, cases[i].result, "\"%s\" gave result %d", cases[i].text, result);
        if (result == COREHOUR_OK)
            cr_expect_eq(time_s, cases[i].value, "\"%s\" gave %" PRId64, cases[i].text, time_s);
    }
}

Test(units, every_day_of_400_years_is_written_and_read_back)
{
    for (int64_t day = 0; day < 146097; day++) {
        char text[COREHOUR_UNITS_TEXT_BYTES];
        int64_t time_s = -1;
        corehour_time_format(day * 86400 + 86399, text);
        cr_assert_eq(corehour_time_parse(text, 0, &time_s), COREHOUR_OK, "%s", text);
        cr_assert_eq(time_s, day * 86400 + 86399, "%s", text);
    }
}

Test(units, a_time_out_of_range_is_written_as_a_dash)
{
    char text[COREHOUR_UNITS_TEXT_BYTES];
    corehour_time_format(-1, text);
    cr_expect_str_eq(text, "-");
    corehour_time_format(INT64_MAX, text);
    cr_expect_str_eq(text, "-");
}

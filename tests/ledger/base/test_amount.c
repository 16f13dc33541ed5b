/* Amounts: exact text in, rounded text out, no silent overflow (SPEC 1.1 to 1.3). */
#include <inttypes.h>
#include <stdio.h>

#include <criterion/criterion.h>

#include "ledger/base/amount.h"
#include "tests/lib/random.h"

struct parse_case {
    const char *text;
    int64_t mcs; /* -1: refused */
};

Test(amount, core_hours_are_read_exactly_or_refused)
{
    static const struct parse_case cases[] = {
        {"0", 0},
        {"1", 3600000},
        {"500", 1800000000},
        {"0.1", 360000},
        {"1.33", 4788000},
        {"1.33333", 4799988},
        {"0.00001", 36},
        {"0.00000", 0},
        {"2562047788015.21550", INT64_C(9223372036854775800)},
        {"2562047788015.21551", -1},
        {"2562047788016", -1},
        {"99999999999999999999999999", -1},
        {"", -1},
        {".5", -1},
        {"1.", -1},
        {"1.123456", -1},
        {"-1", -1},
        {"+1", -1},
        {" 1", -1},
        {"1 ", -1},
        {"01", -1},
        {"00", -1},
        {"1e3", -1},
        {"1,5", -1},
        {"0x10", -1},
        {"1.2.3", -1},
        {"NaN", -1},
        {"\xd9\xa3", -1},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct amount amount = {.mcs = -7};
        struct error err = {0};
        enum error_code code = amount_from_core_hours_text(cases[i].text, &amount, &err);
        bool refused = cases[i].mcs < 0;
        cr_expect_eq(code, refused ? ERR_INVALID_FIELD : ERR_OK, "\"%s\"", cases[i].text);
        cr_expect_eq(amount.mcs, refused ? -7 : cases[i].mcs, "\"%s\" gave %" PRId64, cases[i].text,
                     amount.mcs);
        cr_expect_eq(err.code, code);
    }
}

struct format_case {
    int64_t mcs;
    const char *five;
    const char *two;
};

Test(amount, core_hours_are_written_rounded_half_away_from_zero)
{
    static const struct format_case cases[] = {
        {0, "0.00000", "0.00"},
        {17, "0.00000", "0.00"},
        {18, "0.00001", "0.00"},
        {-17, "0.00000", "0.00"},
        {-18, "-0.00001", "0.00"},
        {17999, "0.00500", "0.00"},
        {18000, "0.00500", "0.01"},
        {-18000, "-0.00500", "-0.01"},
        {960000, "0.26667", "0.27"},
        {4800000, "1.33333", "1.33"},
        {3599999, "1.00000", "1.00"},
        {3600000, "1.00000", "1.00"},
        {-3600000, "-1.00000", "-1.00"},
        {INT64_MAX, "2562047788015.21550", "2562047788015.22"},
        {INT64_MIN, "-2562047788015.21550", "-2562047788015.22"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char text[AMOUNT_TEXT_BYTES];
        cr_expect_str_eq(amount_format_core_hours(amount_from_mcs(cases[i].mcs), 5, text),
                         cases[i].five);
        cr_expect_str_eq(amount_format_core_hours(amount_from_mcs(cases[i].mcs), 2, text),
                         cases[i].two);
    }
}

Test(amount, text_of_five_decimals_survives_the_way_in_and_out)
{
    struct test_random random;
    test_random_init(&random, "amount round trip");
    for (int64_t round = test_rounds(100000); round > 0; round--) {
        struct amount amount = {.mcs = test_random_range(&random, 0, INT64_MAX / 72) * 36};
        struct amount again = {.mcs = -1};
        char text[AMOUNT_TEXT_BYTES];
        (void)amount_format_core_hours(amount, 5, text);
        enum error_code code = amount_from_core_hours_text(text, &again, NULL);
        cr_assert_eq(code, ERR_OK, "%s", text);
        cr_assert_eq(again.mcs, amount.mcs, "%s", text);
    }
}

struct sum_case {
    int64_t a;
    int64_t b;
    bool add;
    bool sub;
    bool mul;
};

Test(amount, overflow_is_reported_and_leaves_the_result_untouched)
{
    static const struct sum_case cases[] = {
        {0, 0, true, true, true},
        {INT64_MAX, 0, true, true, true},
        {INT64_MAX, 1, false, true, true},
        {INT64_MIN, 1, true, false, true},
        {INT64_MIN, -1, false, true, false},
        {INT64_MIN, 0, true, true, true},
        {INT64_MAX, 2, false, true, false},
        {INT64_C(1) << 32, INT64_C(1) << 31, true, true, false},
        {INT64_C(1) << 32, (INT64_C(1) << 31) - 1, true, true, true},
        {0, INT64_MIN, true, false, true},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct sum_case *c = &cases[i];
        struct amount sum = {.mcs = 5};
        struct amount difference = {.mcs = 5};
        struct amount product = {.mcs = 5};
        cr_expect_eq(amount_add(amount_from_mcs(c->a), amount_from_mcs(c->b), &sum), c->add);
        cr_expect_eq(amount_sub(amount_from_mcs(c->a), amount_from_mcs(c->b), &difference), c->sub);
        cr_expect_eq(amount_mul(amount_from_mcs(c->a), c->b, &product), c->mul);
        cr_expect_eq(sum.mcs, c->add ? c->a + c->b : 5, "row %zu", i);
        cr_expect_eq(difference.mcs, c->sub ? c->a - c->b : 5, "row %zu", i);
        cr_expect_eq(product.mcs, c->mul ? c->a * c->b : 5, "row %zu", i);
    }
}

Test(amount, comparison_orders_all_signs)
{
    struct amount low = {.mcs = INT64_MIN};
    struct amount high = {.mcs = INT64_MAX};
    cr_expect_eq(amount_compare(low, high), -1);
    cr_expect_eq(amount_compare(high, low), 1);
    cr_expect_eq(amount_compare(AMOUNT_ZERO, AMOUNT_ZERO), 0);
    cr_expect_eq(amount_min(low, high).mcs, INT64_MIN);
    cr_expect_eq(amount_max(low, high).mcs, INT64_MAX);
}

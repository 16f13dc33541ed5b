/* Quantities: each way of writing one, rounding, bounds; then random ones against arithmetic on 128 bits. */
#include <stdio.h>

#include <criterion/criterion.h>

#include "clients/kubernetes/quantity.h"
#include "tests/lib/random.h"

enum { ROUNDS = 100000 };

struct reading {
    const char *text;
    int64_t multiplier;
    int64_t divisor;
    int64_t value;
};

Test(quantity, is_read_in_every_way_of_writing_it)
{
    static const struct reading cases[] = {
        {"2", 1, 1, 2},
        {"+2", 1, 1, 2},
        {"0", 1, 1, 0},
        {"-0", 1, 1, 0},
        {"0.000", 1, 1, 0},
        {"0e99", 1, 1, 0},
        {"1e0", 1, 1, 1},
        {"1E0", 1, 1, 1},
        {"2e3", 1, 1, 2000},
        {"2E+3", 1, 1, 2000},
        {"2500e-3", 1000, 1, 2500},
        {"1k", 1, 1, 1000},
        {"3k", 1, 1, 3000},
        {"1M", 1, 1, 1000000},
        {"1G", 1, 1, 1000000000},
        {"1T", 1, 1, 1000000000000},
        {"1P", 1, 1, 1000000000000000},
        {"1E", 1, 1, 1000000000000000000},
        {"1Ki", 1, 1, 1024},
        {"1Mi", 1, 1, 1048576},
        {"64Gi", 1, 1048576, 65536},
        {"1Ti", 1, 1048576, 1048576},
        {"1Pi", 1, 1048576, 1073741824},
        {"7Ei", 1, 1, 8070450532247928832},
        {"0.5Ki", 1, 1, 512},
        {".5", 1000, 1, 500},
        {"1.", 1, 1, 1},
        {"100m", 1000, 1, 100},
        {"1500m", 1000, 1, 1500},
        {"5u", 1000000, 1, 5},
        {"5n", 1000000000, 1, 5},
        {"0.000000000000000001Ei", 1, 1, 2},
        {"0000000000000000000000000000000000000000000000000000000000000001", 1, 1, 1},
        {"9223372036854775807", 1, 1, INT64_MAX},
        {"9223372036854775807000m", 1, 1, INT64_MAX},
        {"9223372036854775.807k", 1, 1, INT64_MAX},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct reading *c = &cases[i];
        int64_t value = -1;
        cr_assert_eq(quantity_read(c->text, c->multiplier, c->divisor, INT64_MAX, &value),
                     QUANTITY_OK, "%s", c->text);
        cr_assert_eq(value, c->value, "%s: %lld", c->text, (long long)value);
    }
}

Test(quantity, is_rounded_up_once)
{
    static const struct reading cases[] = {
        {"1m", 1, 1, 1},
        {"1n", 1, 1, 1},
        {"1e-99", 1, 1, 1},
        {"1e-99999", 1, 1, 1},
        {"1001m", 1, 1, 2},
        {"0.0001", 1000, 1, 1},
        {"1.0001", 1000, 1, 1001},
        {"1", 1, 1048576, 1},
        {"1048577", 1, 1048576, 2},
        {"3", 100, 16, 19},
        {"8", 100, 16, 50},
        {"1", 100, 6, 17},
        {"2", 100, 6, 34},
        {"9223372036854775806.000000001", 1, 1, INT64_MAX},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct reading *c = &cases[i];
        int64_t value = -1;
        cr_assert_eq(quantity_read(c->text, c->multiplier, c->divisor, INT64_MAX, &value),
                     QUANTITY_OK, "%s", c->text);
        cr_assert_eq(value, c->value, "%s: %lld", c->text, (long long)value);
    }
}

Test(quantity, is_refused_when_it_is_none_or_negative)
{
    static const struct {
        const char *text;
        enum quantity_result result;
    } cases[] = {
        {"", QUANTITY_INVALID},
        {"+", QUANTITY_INVALID},
        {".", QUANTITY_INVALID},
        {" 1", QUANTITY_INVALID},
        {"1 ", QUANTITY_INVALID},
        {"1 k", QUANTITY_INVALID},
        {"1K", QUANTITY_INVALID},
        {"1ki", QUANTITY_INVALID},
        {"1kk", QUANTITY_INVALID},
        {"1Kib", QUANTITY_INVALID},
        {"1mi", QUANTITY_INVALID},
        {"1e", QUANTITY_INVALID},
        {"1e+", QUANTITY_INVALID},
        {"1e1k", QUANTITY_INVALID},
        {"1e1.5", QUANTITY_INVALID},
        {"1e123456", QUANTITY_INVALID},
        {"1.2.3", QUANTITY_INVALID},
        {"1,5", QUANTITY_INVALID},
        {"0x10", QUANTITY_INVALID},
        {"++1", QUANTITY_INVALID},
        {"one", QUANTITY_INVALID},
        {"10000000000000000000000000000000000000000000000000000000000000000", QUANTITY_INVALID},
        {"-1", QUANTITY_NEGATIVE},
        {"-1m", QUANTITY_NEGATIVE},
        {"9223372036854775808", QUANTITY_TOO_LARGE},
        {"9223372036854775807.1", QUANTITY_TOO_LARGE},
        {"18446744073709551616", QUANTITY_TOO_LARGE},
        {"340282366920938463463374607431768211456", QUANTITY_TOO_LARGE},
        {"8Ei", QUANTITY_TOO_LARGE},
        {"1e19", QUANTITY_TOO_LARGE},
        {"1e99999", QUANTITY_TOO_LARGE},
        {"9999999999999999999999999999999999999999999999999999999999999Ei", QUANTITY_TOO_LARGE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int64_t value = -7;
        cr_assert_eq(quantity_read(cases[i].text, 1, 1, INT64_MAX, &value), cases[i].result, "%s",
                     cases[i].text);
        cr_assert_eq(value, -7, "%s was written", cases[i].text);
    }
}

Test(quantity, stops_at_the_callers_bound)
{
    int64_t value = 0;
    cr_assert_eq(quantity_read("1k", 1, 1, 1000, &value), QUANTITY_OK);
    cr_assert_eq(quantity_read("1001", 1, 1, 1000, &value), QUANTITY_TOO_LARGE);
    cr_assert_eq(quantity_read("1000.1", 1, 1, 1000, &value), QUANTITY_TOO_LARGE);
    cr_assert_eq(quantity_read("1m", 1, 1, 0, &value), QUANTITY_TOO_LARGE);
    cr_assert_eq(quantity_read("9999999999999999999999999999999999999999999999999999999999999Ei",
                               QUANTITY_FACTOR_MAX, QUANTITY_FACTOR_MAX, INT64_MAX, &value),
                 QUANTITY_TOO_LARGE);
}

__extension__ typedef unsigned __int128 wide;

/* digits x 10^-point x 1024^power x multiplier / divisor, with all of it below 2^128. */
static void check_random(struct test_random *random)
{
    static const char *const suffixes[] = {"", "Ki", "Mi", "Gi"};
    const uint64_t digits =
        (uint64_t)test_random_range(random, 0, INT64_C(1) << test_random_range(random, 0, 50));
    const unsigned point = (unsigned)test_random_range(random, 0, 6);
    const unsigned power = (unsigned)test_random_range(random, 0, 3);
    const int64_t multiplier = test_random_range(random, 1, 1000);
    const int64_t divisor = test_random_range(random, 1, 1048576);
    uint64_t below = 1;
    for (unsigned i = 0; i < point; i++) {
        below *= 10;
    }
    char text[64];
    if (point == 0) {
        snprintf(text, sizeof text, "%llu%s", (unsigned long long)digits, suffixes[power]);
    } else {
        snprintf(text, sizeof text, "%llu.%0*llu%s", (unsigned long long)(digits / below),
                 (int)point, (unsigned long long)(digits % below), suffixes[power]);
    }
    const wide above = ((wide)digits << (10 * power)) * (wide)multiplier;
    const wide under = (wide)below * (wide)divisor;
    const wide expected = (above + under - 1) / under;
    int64_t value = -1;
    const enum quantity_result result = quantity_read(text, multiplier, divisor, INT64_MAX, &value);
    if (expected > (wide)INT64_MAX) {
        cr_assert_eq(result, QUANTITY_TOO_LARGE, "%s x %lld / %lld", text, (long long)multiplier,
                     (long long)divisor);
        return;
    }
    cr_assert(result == QUANTITY_OK && (wide)value == expected, "%s x %lld / %lld: %lld", text,
              (long long)multiplier, (long long)divisor, (long long)value);
}

Test(quantity, agrees_with_wide_arithmetic_on_random_ones, .timeout = 600)
{
    struct test_random random;
    test_random_init(&random, "quantity");
    const int64_t rounds = test_rounds(ROUNDS);
    for (int64_t i = 0; i < rounds; i++) {
        check_random(&random);
    }
}

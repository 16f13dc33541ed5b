/*
 * Checked arithmetic on amounts, and their text in core-hours. Pure: no state, no allocation, no
 * floating point.
 */
#include "ledger/base/amount.h"

#include <string.h>

enum {
    FRACTION_DIGITS = 5,
    MCS_PER_FRACTION_STEP = 36, /* 3 600 000 / 10^5 */
};

int amount_compare(struct amount a, struct amount b)
{
    return (a.mcs > b.mcs) - (a.mcs < b.mcs);
}

struct amount amount_min(struct amount a, struct amount b)
{
    return a.mcs < b.mcs ? a : b;
}

struct amount amount_max(struct amount a, struct amount b)
{
    return a.mcs > b.mcs ? a : b;
}

bool i64_add(int64_t a, int64_t b, int64_t *ret_sum)
{
    int64_t sum;
    if (__builtin_add_overflow(a, b, &sum)) {
        return false;
    }
    *ret_sum = sum;
    return true;
}

bool i64_sub(int64_t a, int64_t b, int64_t *ret_difference)
{
    int64_t difference;
    if (__builtin_sub_overflow(a, b, &difference)) {
        return false;
    }
    *ret_difference = difference;
    return true;
}

bool i64_mul(int64_t a, int64_t b, int64_t *ret_product)
{
    int64_t product;
    if (__builtin_mul_overflow(a, b, &product)) {
        return false;
    }
    *ret_product = product;
    return true;
}

bool amount_add(struct amount a, struct amount b, struct amount *ret_sum)
{
    return i64_add(a.mcs, b.mcs, &ret_sum->mcs);
}

bool amount_sub(struct amount a, struct amount b, struct amount *ret_difference)
{
    return i64_sub(a.mcs, b.mcs, &ret_difference->mcs);
}

bool amount_mul(struct amount a, int64_t factor, struct amount *ret_product)
{
    return i64_mul(a.mcs, factor, &ret_product->mcs);
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Read digits; @ret_rest is the first other character. False on overflow or without any digit. */
static bool read_digits(const char *text, int64_t *ret_value, const char **ret_rest)
{
    int64_t value = 0;
    const char *at = text;
    for (; is_digit(*at); at++) {
        if (!i64_mul(value, 10, &value) || !i64_add(value, *at - '0', &value)) {
            return false;
        }
    }
    *ret_value = value;
    *ret_rest = at;
    return at != text;
}

/* Read 1 to 5 digits after the point as steps of 0.00001; the text must end there. */
static bool read_fraction(const char *text, int64_t *ret_steps)
{
    int64_t steps = 0;
    int digits = 0;
    for (; is_digit(text[digits]); digits++) {
        if (digits == FRACTION_DIGITS) {
            return false;
        }
        steps = steps * 10 + (text[digits] - '0');
    }
    if (digits == 0 || text[digits] != '\0') {
        return false;
    }
    for (; digits < FRACTION_DIGITS; digits++) {
        steps *= 10;
    }
    *ret_steps = steps;
    return true;
}

static bool parse_core_hours(const char *text, int64_t *ret_mcs)
{
    int64_t whole;
    int64_t steps = 0;
    const char *rest;
    if (text[0] == '0' && is_digit(text[1])) {
        return false;
    }
    if (!read_digits(text, &whole, &rest)) {
        return false;
    }
    if (*rest == '.' ? !read_fraction(rest + 1, &steps) : *rest != '\0') {
        return false;
    }
    return i64_mul(whole, AMOUNT_MCS_PER_CORE_HOUR, &whole) &&
           i64_add(whole, steps * MCS_PER_FRACTION_STEP, ret_mcs);
}

enum error_code amount_from_core_hours_text(const char *text,
                                            struct amount *ret_amount,
                                            struct error *err)
{
    int64_t mcs;
    if (!parse_core_hours(text, &mcs)) {
        return error_set(
            err, ERR_INVALID_FIELD,
            "core-hours are written as digits with at most 5 after the point, not \"%.40s\"", text);
    }
    ret_amount->mcs = mcs;
    return ERR_OK;
}

/* At least @width digits of a number to the end of a text; returns where they begin. */
static char *prepend_digits(char *end, uint64_t number, unsigned width)
{
    unsigned digits = 0;
    for (; number > 0 || digits < width; digits++) {
        *--end = (char)('0' + number % 10);
        number /= 10;
    }
    return end;
}

const char *amount_format_core_hours(struct amount amount,
                                     unsigned decimals,
                                     char ret_text[AMOUNT_TEXT_BYTES])
{
    assert(decimals == 2 || decimals == 5);
    const uint64_t scale = decimals == 5 ? 100000 : 100;
    const uint64_t step_mcs = (uint64_t)AMOUNT_MCS_PER_CORE_HOUR / scale;
    /* Unsigned negation is exact for INT64_MIN too. */
    const uint64_t magnitude = amount.mcs < 0 ? 0 - (uint64_t)amount.mcs : (uint64_t)amount.mcs;
    const uint64_t steps = magnitude / step_mcs + (magnitude % step_mcs >= step_mcs / 2 ? 1 : 0);
    /* By hand: two amounts stand in every answer, and printf would be the most of their cost. */
    char text[AMOUNT_TEXT_BYTES];
    char *const end = text + sizeof(text);
    char *begin = prepend_digits(end, steps % scale, decimals);
    *--begin = '.';
    begin = prepend_digits(begin, steps / scale, 1);
    if (amount.mcs < 0 && steps > 0) {
        *--begin = '-';
    }
    memcpy(ret_text, begin, (size_t)(end - begin));
    ret_text[end - begin] = '\0';
    return ret_text;
}

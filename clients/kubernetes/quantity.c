/* Quantities: see quantity.h. A number is digits x 10^exponent x 2^shift; all of it is done on whole numbers of at most
 * NUMBER_LIMBS x 32 bits, and a rest of a division is remembered until the end. */
#include "clients/kubernetes/quantity.h"

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

__extension__ typedef unsigned __int128 wide;

enum {
    /* 64 digits, 10^36, 2^60 and 2^50 together: 213 + 120 + 60 + 50 bits. */
    NUMBER_LIMBS = 16,
    LIMB_BITS = 32,
    EXPONENT_MAX = 36, /* beyond it any digit but 0 is more than 2^63 or less than 2^-50 */
    EXPONENT_MIN = -99,
    EXPONENT_DIGITS = 5,
};

/* What is written behind the digits. */
static const struct suffix {
    const char *text;
    int exponent;
    int shift;
} suffixes[] = {
    {"", 0, 0},    {"n", -9, 0},  {"u", -6, 0},  {"m", -3, 0},  {"k", 3, 0},   {"M", 6, 0},
    {"G", 9, 0},   {"T", 12, 0},  {"P", 15, 0},  {"E", 18, 0},  {"Ki", 0, 10}, {"Mi", 0, 20},
    {"Gi", 0, 30}, {"Ti", 0, 40}, {"Pi", 0, 50}, {"Ei", 0, 60},
};

struct number {
    uint32_t limbs[NUMBER_LIMBS]; /* the lowest first */
    bool rest;                    /* a division left something behind */
};

/* number x factor + add; the bounds above keep it within the limbs. */
static void number_scale(struct number *number, uint64_t factor, uint64_t add)
{
    wide carry = add;
    for (size_t i = 0; i < NUMBER_LIMBS; i++) {
        carry += (wide)number->limbs[i] * factor;
        number->limbs[i] = (uint32_t)carry;
        carry >>= LIMB_BITS;
    }
    assert(carry == 0);
}

static void number_divide(struct number *number, uint64_t divisor)
{
    wide rest = 0;
    for (size_t i = NUMBER_LIMBS; i > 0; i--) {
        rest = (rest << LIMB_BITS) | number->limbs[i - 1];
        number->limbs[i - 1] = (uint32_t)(rest / divisor);
        rest %= divisor;
    }
    number->rest = number->rest || rest != 0;
}

/* The number, rounded up; false when it is more than @most. */
static bool number_round_up(const struct number *number, int64_t most, int64_t *ret_value)
{
    for (size_t i = 2; i < NUMBER_LIMBS; i++) {
        if (number->limbs[i] != 0) {
            return false;
        }
    }
    const uint64_t whole = ((uint64_t)number->limbs[1] << LIMB_BITS) | number->limbs[0];
    if (whole > (uint64_t)most || (whole == (uint64_t)most && number->rest)) {
        return false;
    }
    *ret_value = (int64_t)whole + (number->rest ? 1 : 0);
    return true;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Digits with at most one point into @number; ret_exponent: minus the digits behind the point. */
static bool digits_read(const char **text, struct number *number, int *ret_exponent)
{
    bool point = false;
    bool any = false;
    int exponent = 0;
    const char *at = *text;
    for (; is_digit(*at) || (*at == '.' && !point); at++) {
        if (*at == '.') {
            point = true;
            continue;
        }
        any = true;
        exponent -= point ? 1 : 0;
        number_scale(number, 10, (uint64_t)(*at - '0'));
    }
    *text = at;
    *ret_exponent = exponent;
    return any;
}

/* "e3", "E-2"; ret_exponent is added to. */
static bool power_read(const char *text, int *exponent)
{
    text++;
    const bool minus = *text == '-';
    text += *text == '-' || *text == '+' ? 1 : 0;
    int power = 0;
    int digits = 0;
    for (; is_digit(*text) && digits < EXPONENT_DIGITS; text++, digits++) {
        power = power * 10 + (*text - '0');
    }
    *exponent += minus ? -power : power;
    return digits > 0 && *text == '\0';
}

static bool suffix_read(const char *text, int *exponent, int *ret_shift)
{
    *ret_shift = 0;
    if ((*text == 'e' || *text == 'E') && text[1] != '\0' && text[1] != 'i') {
        return power_read(text, exponent);
    }
    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
        if (strcmp(text, suffixes[i].text) == 0) {
            *exponent += suffixes[i].exponent;
            *ret_shift = suffixes[i].shift;
            return true;
        }
    }
    return false;
}

static bool number_is_zero(const struct number *number)
{
    static const struct number ZERO = {{0}, false};
    return memcmp(number->limbs, ZERO.limbs, sizeof number->limbs) == 0;
}

/* number x 10^exponent, divided once more by @divisor. */
static void number_power(struct number *number, int exponent, int64_t divisor)
{
    for (; exponent > 0; exponent--) {
        number_scale(number, 10, 0);
    }
    for (; exponent < 0; exponent++) {
        number_divide(number, 10);
    }
    number_divide(number, (uint64_t)divisor);
}

enum quantity_result quantity_read(const char *text,
                                   int64_t multiplier,
                                   int64_t divisor,
                                   int64_t most,
                                   int64_t *ret_value)
{
    assert(multiplier >= 1 && multiplier <= QUANTITY_FACTOR_MAX);
    assert(divisor >= 1 && divisor <= QUANTITY_FACTOR_MAX && most >= 0);
    struct number number = {{0}, false};
    int exponent;
    int shift;
    if (strnlen(text, QUANTITY_TEXT_BYTES + 1) > QUANTITY_TEXT_BYTES) {
        return QUANTITY_INVALID;
    }
    const bool minus = *text == '-';
    text += *text == '-' || *text == '+' ? 1 : 0;
    if (!digits_read(&text, &number, &exponent) || !suffix_read(text, &exponent, &shift)) {
        return QUANTITY_INVALID;
    }
    if (number_is_zero(&number)) {
        *ret_value = 0;
        return QUANTITY_OK;
    }
    if (minus) {
        return QUANTITY_NEGATIVE;
    }
    /* Digits as large as 10^64 are brought down by as much at most. */
    if (exponent > EXPONENT_MAX) {
        return QUANTITY_TOO_LARGE;
    }
    number_scale(&number, UINT64_C(1) << shift, 0);
    number_scale(&number, (uint64_t)multiplier, 0);
    /* At 10^-99 nothing but the rest is left of 443 bits' worth of digits: 10^64 x 2^110. */
    number_power(&number, exponent < EXPONENT_MIN ? EXPONENT_MIN : exponent, divisor);
    return number_round_up(&number, most, ret_value) ? QUANTITY_OK : QUANTITY_TOO_LARGE;
}

/*
 * Amounts of core time and checked integer arithmetic (SPEC 1.1 to 1.3).
 *
 * The unit of account is the mcs, the milli-core-second, in int64. 1 core-hour = 3 600 000 mcs, so
 * the smallest step of 5 decimals, 0.00001 core-hour, is exactly 36 mcs. There is no floating
 * point; every operation that can overflow says so and its result cannot be ignored. Pure, any
 * thread.
 */
#ifndef LEDGER_BASE_AMOUNT_H
#define LEDGER_BASE_AMOUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ledger/base/check.h"
#include "ledger/base/error.h"

#define AMOUNT_MCS_PER_CORE_HOUR INT64_C(3600000)

/** Room for any amount as text in core-hours, NUL included. */
#define AMOUNT_TEXT_BYTES 32

/** A one-field struct, so that an amount is never mixed up with a rate, a time or a count. */
struct amount {
    int64_t mcs;
};

/** 0 mcs. */
#define AMOUNT_ZERO ((struct amount){0})

/** An amount from a plain number of mcs, any sign. */
static inline struct amount amount_from_mcs(int64_t mcs)
{
    return (struct amount){.mcs = mcs};
}

/** -1, 0 or 1: a below, equal to, above b. */
int amount_compare(struct amount a, struct amount b);

/** The smaller and the larger of two amounts. */
struct amount amount_min(struct amount a, struct amount b);
struct amount amount_max(struct amount a, struct amount b);

/* a + b, a - b, a x factor. False on overflow, and then ret_ is untouched. */
MUST_USE bool amount_add(struct amount a, struct amount b, struct amount *ret_sum);
MUST_USE bool amount_sub(struct amount a, struct amount b, struct amount *ret_difference);
MUST_USE bool amount_mul(struct amount a, int64_t factor, struct amount *ret_product);

/* The same for plain 64-bit numbers: rates, seconds, counters. */
MUST_USE bool i64_add(int64_t a, int64_t b, int64_t *ret_sum);
MUST_USE bool i64_sub(int64_t a, int64_t b, int64_t *ret_difference);
MUST_USE bool i64_mul(int64_t a, int64_t b, int64_t *ret_product);

/**
 * Parse core-hours as people write them: "500", "0.1", "1.33333".
 *
 * @text        digits, optionally a point and 1 to 5 digits; no sign, space, exponent or
 *              superfluous leading zero; borrowed
 * @ret_amount  exact, 0 or more; untouched on failure
 * @err         ERR_INVALID_FIELD without a field name (the caller knows it); may be NULL
 *
 * Returns ERR_OK, or ERR_INVALID_FIELD for any other text or an amount beyond int64. The bound of
 * one command (LIMIT_COMMAND_MCS) is the caller's to check. SPEC 1.3.
 */
MUST_USE enum error_code amount_from_core_hours_text(const char *text,
                                                     struct amount *ret_amount,
                                                     struct error *err);

/**
 * Write an amount as core-hours, rounded half away from zero: "1.33333", "1.33", "-0.50". For
 * display only: the exact figure is the number of mcs. What rounds to zero is written without a
 * sign.
 *
 * @decimals    5 (fields x_core_hours) or 2 (what people see)
 * @ret_text    AMOUNT_TEXT_BYTES; always NUL-terminated
 *
 * Returns @ret_text. SPEC 1.3.
 */
const char *amount_format_core_hours(struct amount amount,
                                     unsigned decimals,
                                     char ret_text[AMOUNT_TEXT_BYTES]);

#endif

/*
 * Small compile-time and assertion helpers for every layer.
 *
 * assert() is for bugs: it stays on in release builds (b_ndebug=false) and never sees outside
 * input.
 */
#ifndef LEDGER_BASE_CHECK_H
#define LEDGER_BASE_CHECK_H

#include <assert.h>

/** Elements of an array whose size the compiler knows (never of a pointer). */
#define ARRAY_LEN(array) (sizeof(array) / sizeof((array)[0]))

/** Logical implication, for assertions: IMPLIES(frozen, rate > 0). */
#define IMPLIES(condition, consequence) (!(condition) || (consequence))

/** Put before a function whose result decides whether its outputs may be used. */
#define MUST_USE __attribute__((warn_unused_result))

/** Let the compiler check a printf-like function; both positions count from 1. */
#define PRINTF_LIKE(format_position, first_argument) \
    __attribute__((format(printf, format_position, first_argument)))

#endif

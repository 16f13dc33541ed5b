/*
 * Makes numbers out of a fuzzer's bytes, for targets that act instead of parsing. When the bytes are used up, all is 0.
 */
#ifndef TESTS_FUZZ_BYTES_H
#define TESTS_FUZZ_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

struct bytes {
    const uint8_t *next;
    size_t left;
};

/** One byte. */
static inline uint8_t bytes_take(struct bytes *bytes)
{
    if (bytes->left == 0) {
        return 0;
    }
    bytes->left--;
    return *bytes->next++;
}

/** A number from 0 to 2^63 - 1 whose size varies: a byte says how many bytes follow. */
static inline int64_t bytes_number(struct bytes *bytes)
{
    uint64_t value = 0;
    for (int i = bytes_take(bytes) % 9; i > 0; i--) {
        value = value << 8 | bytes_take(bytes);
    }
    return (int64_t)(value >> (value > INT64_MAX ? 1 : 0));
}

/** A number from @low to @high, both included. */
static inline int64_t bytes_range(struct bytes *bytes, int64_t low, int64_t high)
{
    uint64_t span = (uint64_t)high - (uint64_t)low;
    uint64_t value = (uint64_t)bytes_number(bytes);
    return (int64_t)((uint64_t)low + (span == UINT64_MAX ? value : value % (span + 1)));
}

/** The property of a target. */
static inline void require(bool holds)
{
    if (!holds) {
        abort();
    }
}

#endif

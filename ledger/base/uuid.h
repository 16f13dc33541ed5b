/*
 * UUIDv7 (RFC 9562): ids that are ordered in time, so that new ones land at the warm end of an
 * index.
 */
#ifndef LEDGER_BASE_UUID_H
#define LEDGER_BASE_UUID_H

#include <stddef.h>
#include <stdint.h>

#include "ledger/base/check.h"
#include "ledger/base/error.h"

/** Room for the text form, NUL included. */
#define UUID_TEXT_BYTES 37

/** Random bytes that a UUIDv7 takes. */
#define UUID_RANDOM_BYTES 10

/**
 * Write a UUIDv7 made of a time and given random bytes: lower case, with hyphens. Pure.
 *
 * @time_ms  milliseconds since 1970 UTC, 0 to 2^48 - 1
 */
void uuid_v7_format(int64_t time_ms,
                    const uint8_t random[UUID_RANDOM_BYTES],
                    char ret_text[UUID_TEXT_BYTES]);

/**
 * Make a UUIDv7 with 74 random bits of the kernel.
 *
 * @time_ms   as above; the caller's clock
 * @ret_text  untouched on failure
 *
 * Returns ERR_OK, or ERR_UNAVAILABLE when the kernel gives no random bytes. Any thread.
 */
MUST_USE enum error_code uuid_v7_create(int64_t time_ms,
                                        char ret_text[UUID_TEXT_BYTES],
                                        struct error *err);

/**
 * Fill memory with random bytes of the kernel; also for tokens.
 *
 * @length_bytes  at most 256, which the kernel gives in one piece
 *
 * Returns ERR_OK, or ERR_UNAVAILABLE; the memory is undefined then.
 */
MUST_USE enum error_code uuid_random_bytes(uint8_t *ret_bytes,
                                           size_t length_bytes,
                                           struct error *err);

#endif

/*
 * UUIDv7: 48 bits of milliseconds, version 7, 12 random bits, variant 10, 62 random bits.
 */
#include "ledger/base/uuid.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>

enum {
    UUID_BYTES = 16,
    TIME_BYTES = 6,
};

static_assert(TIME_BYTES + UUID_RANDOM_BYTES == UUID_BYTES, "a UUID is 16 bytes");

void uuid_v7_format(int64_t time_ms,
                    const uint8_t random[UUID_RANDOM_BYTES],
                    char ret_text[UUID_TEXT_BYTES])
{
    static const char hex[] = "0123456789abcdef";
    uint8_t bytes[UUID_BYTES];
    assert(time_ms >= 0 && time_ms < INT64_C(1) << 48);
    for (int i = 0; i < TIME_BYTES; i++) {
        bytes[i] = (uint8_t)(time_ms >> (8 * (TIME_BYTES - 1 - i)) & 0xFF);
    }
    memcpy(bytes + TIME_BYTES, random, UUID_RANDOM_BYTES);
    bytes[6] = (uint8_t)((bytes[6] & 0x0F) | 0x70);
    bytes[8] = (uint8_t)((bytes[8] & 0x3F) | 0x80);

    size_t at = 0;
    for (int i = 0; i < UUID_BYTES; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10) {
            ret_text[at++] = '-';
        }
        ret_text[at++] = hex[bytes[i] >> 4];
        ret_text[at++] = hex[bytes[i] & 0x0F];
    }
    ret_text[at] = '\0';
    assert(at + 1 == UUID_TEXT_BYTES);
}

enum error_code uuid_random_bytes(uint8_t *ret_bytes, size_t length_bytes, struct error *err)
{
    assert(length_bytes <= 256);
    ssize_t got;
    do {
        got = getrandom(ret_bytes, length_bytes, 0);
    } while (got < 0 && errno == EINTR);
    if (got < 0 || (size_t)got != length_bytes) {
        return error_set(err, ERR_UNAVAILABLE, "the kernel gives no random bytes (errno %d)",
                         errno);
    }
    return ERR_OK;
}

enum error_code uuid_v7_create(int64_t time_ms, char ret_text[UUID_TEXT_BYTES], struct error *err)
{
    uint8_t random[UUID_RANDOM_BYTES];
    enum error_code code = uuid_random_bytes(random, sizeof random, err);
    if (code == ERR_OK) {
        uuid_v7_format(time_ms, random, ret_text);
    }
    return code;
}

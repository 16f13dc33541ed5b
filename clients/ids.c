/* Ids that are ordered in time: see ids.h. */
#include "clients/ids.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "clients/clock.h"

#define PREFIX_MAX   27
#define ALPHANUMERIC "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

/* 16 bytes of a UUIDv7: 48 bits of Unix milliseconds, version, 12 random bits, variant, 62 random
 * bits. */
static bool uuid_fill(uint8_t ret_bytes[16])
{
    if (getrandom(ret_bytes, 16, 0) != 16) {
        return false;
    }
    uint64_t now_ms = (uint64_t)client_clock_wall_ms();
    for (unsigned i = 0; i < 6; i++) {
        ret_bytes[i] = (uint8_t)(now_ms >> (40 - 8 * i));
    }
    ret_bytes[6] = (uint8_t)((ret_bytes[6] & 0x0f) | 0x70);
    ret_bytes[8] = (uint8_t)((ret_bytes[8] & 0x3f) | 0x80);
    return true;
}

enum corehour_result corehour_id_create(const char *prefix, char *ret_id)
{
    size_t length = strlen(prefix);
    if (length == 0 || strspn(prefix, ALPHANUMERIC "._:-") != length ||
        strspn(prefix, ALPHANUMERIC) == 0) {
        return COREHOUR_INVALID;
    }
    if (length > PREFIX_MAX) {
        length = PREFIX_MAX;
    }
    uint8_t b[16];
    if (!uuid_fill(b)) {
        return COREHOUR_MEMORY;
    }
    snprintf(ret_id, COREHOUR_ID_BYTES,
             "%.*s-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x",
             (int)length, prefix, b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10],
             b[11], b[12], b[13], b[14], b[15]);
    return COREHOUR_OK;
}

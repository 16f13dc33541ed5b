/*
 * SHA-256 by nettle.
 */
#include "ledger/base/digest.h"

#include <string.h>

#include <nettle/memops.h>

static_assert(DIGEST_BYTES == SHA256_DIGEST_SIZE, "a SHA-256 digest is 32 bytes");
static_assert(DIGEST_TEXT_BYTES == 2 * DIGEST_BYTES + 1, "two hex digits a byte");

void digest_init(struct digest_state *state)
{
    sha256_init(&state->sha256);
}

void digest_update(struct digest_state *state, const void *bytes, size_t length_bytes)
{
    sha256_update(&state->sha256, length_bytes, bytes);
}

void digest_update_i64(struct digest_state *state, int64_t value)
{
    uint8_t bytes[8];
    uint64_t rest = (uint64_t)value;
    for (int i = 7; i >= 0; i--) {
        bytes[i] = (uint8_t)(rest & 0xFF);
        rest >>= 8;
    }
    digest_update(state, bytes, sizeof bytes);
}

void digest_update_text(struct digest_state *state, const char *text)
{
    size_t length = strlen(text);
    digest_update_i64(state, (int64_t)length);
    digest_update(state, text, length);
}

struct digest digest_finish(struct digest_state *state)
{
    struct digest digest;
    sha256_digest(&state->sha256, sizeof digest.bytes, digest.bytes);
    return digest;
}

struct digest digest_of(const void *bytes, size_t length_bytes)
{
    struct digest_state state;
    digest_init(&state);
    digest_update(&state, bytes, length_bytes);
    return digest_finish(&state);
}

bool digest_equal(const struct digest *a, const struct digest *b)
{
    return memeql_sec(a->bytes, b->bytes, DIGEST_BYTES) != 0;
}

const char *digest_format(const struct digest *digest, char ret_text[DIGEST_TEXT_BYTES])
{
    static const char hex[] = "0123456789abcdef";
    for (size_t i = 0; i < DIGEST_BYTES; i++) {
        ret_text[2 * i] = hex[digest->bytes[i] >> 4];
        ret_text[2 * i + 1] = hex[digest->bytes[i] & 0x0F];
    }
    ret_text[DIGEST_TEXT_BYTES - 1] = '\0';
    return ret_text;
}

static int hex_value(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    if (c >= 'a' && c <= 'f') {
        return c - 'a' + 10;
    }
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

bool digest_parse(const char *text, struct digest *ret_digest)
{
    struct digest digest;
    if (strnlen(text, DIGEST_TEXT_BYTES) != DIGEST_TEXT_BYTES - 1) {
        return false;
    }
    for (size_t i = 0; i < DIGEST_BYTES; i++) {
        int high = hex_value(text[2 * i]);
        int low = hex_value(text[2 * i + 1]);
        if (high < 0 || low < 0) {
            return false;
        }
        digest.bytes[i] = (uint8_t)(high << 4 | low);
    }
    *ret_digest = digest;
    return true;
}

void digest_hmac_init(struct digest_hmac *hmac, const void *key, size_t key_bytes)
{
    hmac_sha256_set_key(&hmac->sha256, key_bytes, key);
}

void digest_hmac_update(struct digest_hmac *hmac, const void *bytes, size_t length_bytes)
{
    hmac_sha256_update(&hmac->sha256, length_bytes, bytes);
}

struct digest digest_hmac_finish(struct digest_hmac *hmac)
{
    struct digest digest;
    hmac_sha256_digest(&hmac->sha256, sizeof digest.bytes, digest.bytes);
    return digest;
}

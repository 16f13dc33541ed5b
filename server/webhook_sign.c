/* See webhook_sign.h. */
#include "server/webhook_sign.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "ledger/base/digest.h"

enum { KEY_BYTES = 32, KEY_LEAST_BYTES = 24 }; /* of ours; of any */

static const char prefix[] = "whsec_";
static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* RFC 4648, padded. @ret_text: room for all, and a NUL. */
static void base64_format(const uint8_t *bytes, size_t length, char *ret_text)
{
    for (size_t i = 0; i < length; i += 3) {
        uint32_t bits = (uint32_t)bytes[i] << 16;
        bits |= i + 1 < length ? (uint32_t)bytes[i + 1] << 8 : 0;
        bits |= i + 2 < length ? bytes[i + 2] : 0;
        *ret_text++ = alphabet[bits >> 18 & 63];
        *ret_text++ = alphabet[bits >> 12 & 63];
        *ret_text++ = (char)(i + 1 < length ? alphabet[bits >> 6 & 63] : '=');
        *ret_text++ = (char)(i + 2 < length ? alphabet[bits & 63] : '=');
    }
    *ret_text = '\0';
}

/* From KEY_LEAST_BYTES to KEY_BYTES bytes, or false. */
static bool base64_parse(const char *text, uint8_t ret_bytes[KEY_BYTES], size_t *ret_count)
{
    uint32_t bits = 0;
    unsigned held = 0;
    size_t count = 0;
    for (; *text != '\0' && *text != '='; text++) {
        const char *at = strchr(alphabet, *text);
        if (at == NULL) {
            return false;
        }
        bits = bits << 6 | (uint32_t)(at - alphabet);
        held += 6;
        if (held >= 8) {
            held -= 8;
            if (count == KEY_BYTES) {
                return false;
            }
            ret_bytes[count++] = (uint8_t)(bits >> held);
        }
    }
    *ret_count = count;
    return count >= KEY_LEAST_BYTES;
}

enum error_code webhook_secret_create(char ret_secret[WEBHOOK_SECRET_BYTES], struct error *err)
{
    uint8_t key[KEY_BYTES];
    if (getrandom(key, sizeof(key), 0) != (ssize_t)sizeof(key)) {
        return error_set(err, ERR_UNAVAILABLE, "the system has no randomness");
    }
    memcpy(ret_secret, prefix, sizeof(prefix));
    base64_format(key, sizeof(key), ret_secret + sizeof(prefix) - 1);
    return ERR_OK;
}

static enum error_code sign_once(const struct webhook_message *message,
                                 const char *secret,
                                 char *ret_text,
                                 struct error *err)
{
    uint8_t key[KEY_BYTES];
    size_t key_bytes = 0;
    char head[128];
    if (strncmp(secret, prefix, sizeof(prefix) - 1) != 0 ||
        !base64_parse(secret + sizeof(prefix) - 1, key, &key_bytes)) {
        return error_set(err, ERR_INTERNAL, "a webhook's secret is damaged");
    }
    const int bytes =
        snprintf(head, sizeof(head), "%s.%" PRId64 ".", message->id, message->timestamp_s);
    struct digest_hmac hmac;
    digest_hmac_init(&hmac, key, key_bytes);
    digest_hmac_update(&hmac, head, (size_t)bytes);
    digest_hmac_update(&hmac, message->body, message->body_bytes);
    const struct digest digest = digest_hmac_finish(&hmac);
    ret_text[0] = 'v';
    ret_text[1] = '1';
    ret_text[2] = ',';
    base64_format(digest.bytes, sizeof(digest.bytes), ret_text + 3);
    return ERR_OK;
}

enum error_code webhook_sign(const struct webhook_message *message,
                             const char *secret,
                             const char *old_secret,
                             char ret_signature[WEBHOOK_SIGNATURE_BYTES],
                             struct error *err)
{
    enum error_code code = sign_once(message, secret, ret_signature, err);
    if (code == ERR_OK && old_secret[0] != '\0') {
        char *end = ret_signature + strlen(ret_signature);
        *end++ = ' ';
        code = sign_once(message, old_secret, end, err);
    }
    return code;
}

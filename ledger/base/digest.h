/*
 * SHA-256 for the journal's chain, stored tokens and checksums. No state beside the caller's, any
 * thread.
 */
#ifndef LEDGER_BASE_DIGEST_H
#define LEDGER_BASE_DIGEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <nettle/hmac.h>
#include <nettle/sha2.h>

#include "ledger/base/check.h"

#define DIGEST_BYTES 32

/** Room for a digest in hex, NUL included. */
#define DIGEST_TEXT_BYTES 65

struct digest {
    uint8_t bytes[DIGEST_BYTES];
};

/** The first half of a digest: enough to tell one command from another, and half the bytes on disk.
 */
struct digest16 {
    uint8_t bytes[16];
};

/** A digest in the making; embedded by its owner, needs no fini. */
struct digest_state {
    struct sha256_ctx sha256;
};

/** Begin. */
void digest_init(struct digest_state *state);

/** Add @length_bytes bytes; any number of times. */
void digest_update(struct digest_state *state, const void *bytes, size_t length_bytes);

/** Add an integer as 8 bytes, most significant first. */
void digest_update_i64(struct digest_state *state, int64_t value);

/** Add a text: its length, then its bytes, so that no two lists of texts look alike. */
void digest_update_text(struct digest_state *state, const char *text);

/** The digest of all that was added. The state is as after digest_init(). */
struct digest digest_finish(struct digest_state *state);

/** The digest of one piece of memory. */
struct digest digest_of(const void *bytes, size_t length_bytes);

/** An HMAC-SHA256 in the making (RFC 2104); embedded by its owner, needs no fini. */
struct digest_hmac {
    struct hmac_sha256_ctx sha256;
};

void digest_hmac_init(struct digest_hmac *hmac, const void *key, size_t key_bytes);
void digest_hmac_update(struct digest_hmac *hmac, const void *bytes, size_t length_bytes);
struct digest digest_hmac_finish(struct digest_hmac *hmac);

/** Are both the same; takes the same time wherever they differ. */
bool digest_equal(const struct digest *a, const struct digest *b);

/** Write as 64 lower-case hex digits. Returns @ret_text. */
const char *digest_format(const struct digest *digest, char ret_text[DIGEST_TEXT_BYTES]);

/** Read exactly 64 hex digits, either case; else false and @ret_digest is untouched. */
MUST_USE bool digest_parse(const char *text, struct digest *ret_digest);

#endif

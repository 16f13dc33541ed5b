/*
 * Standard Webhooks: secrets, and the headers that prove who sent a message (symmetric, v1: HMAC-SHA256 over
 * "id.timestamp.body"). Any thread.
 */
#ifndef SERVER_WEBHOOK_SIGN_H
#define SERVER_WEBHOOK_SIGN_H

#include <stddef.h>
#include <stdint.h>

#include "ledger/base/check.h"
#include "ledger/base/error.h"

enum {
    WEBHOOK_SECRET_BYTES = 80,     /* "whsec_", base64 of 32 bytes, NUL */
    WEBHOOK_SIGNATURE_BYTES = 128, /* two of "v1,", base64 of 32 bytes; a blank; NUL */
};

/** A new secret. ERR_UNAVAILABLE when the system has no randomness. */
MUST_USE enum error_code webhook_secret_create(char ret_secret[WEBHOOK_SECRET_BYTES],
                                               struct error *err);

/** A message to be signed. */
struct webhook_message {
    const char *id;
    int64_t timestamp_s;
    const char *body;
    size_t body_bytes;
};

/**
 * "v1,..." by @secret, and behind a blank another by @old_secret where it is not "".
 *
 * ERR_INTERNAL when a secret is none of webhook_secret_create().
 */
MUST_USE enum error_code webhook_sign(const struct webhook_message *message,
                                      const char *secret,
                                      const char *old_secret,
                                      char ret_signature[WEBHOOK_SIGNATURE_BYTES],
                                      struct error *err);

#endif

/*
 * The public keys of the site's identity provider: a JWKS (RFC 7517) in a file or behind a URL, as text.
 *
 * A thread of its own reads them: at the beginning, once an hour, and when somebody asks for a key that is not among them, but
 * not more often than every 10 s. Nobody else ever waits for the network.
 */
#ifndef SERVER_OIDC_KEYS_H
#define SERVER_OIDC_KEYS_H

#include <stdbool.h>

#include "ledger/base/error.h"

struct oidc_keys;

/** @source  a path, https://..., or http:// on the machine itself. ERR_INVALID_FIELD (oidc_jwks) for a file that cannot be read
 * or another URL. */
MUST_USE enum error_code oidc_keys_create(const char *source,
                                          struct oidc_keys **ret_keys,
                                          struct error *err);

/** The text as it stands, the caller's to free; NULL while there is none. Any thread. */
char *oidc_keys_text_create(struct oidc_keys *keys);

/** Ask for fresh ones. False when they have just been read: there are no others. Any thread. */
bool oidc_keys_refresh(struct oidc_keys *keys);

/** NULL is allowed. */
void oidc_keys_destroy(struct oidc_keys *keys);

#endif

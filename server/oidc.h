/*
 * People of the site's identity provider: OpenID Connect tokens, which are JWTs signed by RS256 or ES256 (RFC 7519, 8725).
 *
 * The signature, issuer, audience and times are checked, then the groups that a token names are looked up in the
 * configuration's list: the first that is in it gives role and place. Nothing of a token is kept. Other algorithms, `none`
 * above all, keys and addresses of keys in the token itself are refused.
 */
#ifndef SERVER_OIDC_H
#define SERVER_OIDC_H

#include <stdbool.h>

#include "server/auth.h"

struct oidc;

enum {
    OIDC_TOKEN_BYTES = 6000
}; /* longer ones are refused; all headers together have LIMIT_HEADER_BYTES */

/** Keys of the configuration; texts are borrowed by oidc_create() only. */
struct oidc_settings {
    const char *issuer;
    const char *audience;
    const char *jwks;
    const char *name_claim;
    const char *groups_claim;
    const char *roles; /* GROUP=ROLE@PLACE;GROUP=admin;GROUP=member@PROJECT/{name} */
};

/** ERR_INVALID_FIELD with the key that is missing or wrong. */
MUST_USE enum error_code oidc_create(const struct oidc_settings *settings,
                                     struct oidc **ret_oidc,
                                     struct error *err);

/** Has this Authorization header the form of such a token? */
bool oidc_is_token(const char *authorization);

/**
 * Who sent it? Reader threads.
 *
 * @reader  outside any snapshot: places are looked up in one of its own
 *
 * Returns ERR_OK; ERR_UNAUTHENTICATED for a token that is not valid; ERR_NOT_ALLOWED when its groups lead to no role or to a
 * place that is not there; ERR_UNAVAILABLE while the provider's keys are being read.
 */
enum error_code oidc_check(struct oidc *oidc,
                           const char *authorization,
                           struct ledger_reader *reader,
                           int64_t now_ms,
                           struct principal *ret_principal,
                           struct error *err);

/** Read the provider's keys again soon (SIGHUP). */
void oidc_reload(struct oidc *oidc);

/** NULL is allowed. */
void oidc_destroy(struct oidc *oidc);

#endif

/*
 * Who asks: bearer tokens, known by their SHA-256, kept in memory.
 *
 * The table is read from the ledger at start and follows every command about tokens; looking up takes no ledger.
 * Addresses that send wrong tokens too often are told to wait (429).
 */
#ifndef SERVER_AUTH_H
#define SERVER_AUTH_H

#include <stdbool.h>
#include <stdint.h>

#include "ledger/base/error.h"
#include "ledger/core/record.h"
#include "ledger/ledger.h"

struct auth;
struct sockaddr;

/** The owner of a token, copied out. */
struct principal {
    enum token_role role;
    int64_t place_no; /* of a scheduler its cluster; 0: none */
    int64_t token_no;
    struct digest hash;
    char place[RECORD_PLACE_BYTES];
    bool touch_is_due; /* first use in this minute: last use is to be written down */
    struct ledger_actor
        actor; /* of all but schedulers; its address is filled in when it is needed */
};

enum {
    AUTH_SECRET_BYTES = 32,                                 /* 256 random bits (SPEC 10.1) */
    AUTH_TOKEN_BYTES = 3 + 4 * (AUTH_SECRET_BYTES + 2) / 3, /* "ch_", base64url, NUL */
};

/** Empty; auth_reload() fills it. ERR_UNAVAILABLE when out of memory. */
enum error_code auth_create(int64_t failures_per_minute, struct auth **ret_auth, struct error *err);
void auth_destroy(struct auth *auth);
void auth_set_failures(struct auth *auth, int64_t failures_per_minute);

/** Read all tokens again. Any thread that has a reader. The old table stays on failure. */
enum error_code auth_reload(struct auth *auth,
                            struct ledger_reader *reader,
                            int64_t now_ms,
                            struct error *err);

/**
 * A token is new, or another one than before: revoked, or with another secret. In the order of commits: on the ledger
 * thread. From now on it is known as it is; one that is revoked or over is no more.
 *
 * @is_new  it was made a moment ago; else what was known of its number is dropped first
 *
 * Returns false when there is no memory for it: until the next auth_reload() it is unknown.
 */
bool auth_take(struct auth *auth, const struct token *token, bool is_new, int64_t now_ms);

/**
 * Who sent this Authorization header?
 *
 * @authorization  its value, or NULL
 * @address        of the client, for counting failures; may be NULL
 *
 * Returns ERR_OK; ERR_UNAUTHENTICATED; ERR_RATE_LIMITED for a wrong token too many. HTTP loop only.
 */
enum error_code auth_check(struct auth *auth,
                           const char *authorization,
                           const struct sockaddr *address,
                           int64_t now_ms,
                           struct principal *ret_principal,
                           struct error *err);

/** Has this address sent so many wrong tokens that it is to wait? HTTP loop only. */
bool auth_is_limited(struct auth *auth, const struct sockaddr *address, int64_t now_ms);

/** Count a wrong token that auth_check() has not seen; ERR_RATE_LIMITED in *err when it is one too many. HTTP loop only. */
void auth_count_failure(struct auth *auth,
                        const struct sockaddr *address,
                        int64_t now_ms,
                        struct error *err);

/** Make a token: 256 random bits as "ch_" and base64url, and its digest. ERR_UNAVAILABLE. */
enum error_code auth_token_create(char ret_token[AUTH_TOKEN_BYTES],
                                  struct digest *ret_hash,
                                  struct error *err);

#endif

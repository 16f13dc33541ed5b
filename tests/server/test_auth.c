/* Tokens in memory: known from the moment they are made, unknown from the moment they are revoked or over (SPEC 10.1). */
#include <stdio.h>
#include <string.h>

#include <criterion/criterion.h>

#include "ledger/base/digest.h"
#include "server/auth.h"

enum { NOW_MS = 1700000000, NOW_S = NOW_MS / 1000 };

static struct auth *make_auth(void)
{
    struct auth *auth = NULL;
    struct error err;
    cr_assert_eq(auth_create(60, &auth, &err), ERR_OK);
    return auth;
}

static struct digest hash_of(const char *secret)
{
    return digest_of(secret, strlen(secret));
}

static struct token make_token(int64_t number, const char *secret)
{
    struct token token = {.token_no = number, .role = ROLE_ADMIN, .hash = hash_of(secret)};
    (void)snprintf(token.id, sizeof token.id, "t-%d", (int)number);
    return token;
}

static bool is_known(struct auth *auth, const char *secret, int64_t now_ms)
{
    char header[64];
    struct principal principal;
    struct error err;
    (void)snprintf(header, sizeof header, "Bearer %s", secret);
    return auth_check(auth, header, NULL, now_ms, &principal, &err) == ERR_OK;
}

Test(auth, a_token_is_known_once_it_was_taken)
{
    struct auth *auth = make_auth();
    const struct token token = make_token(1, "one");
    cr_assert(!is_known(auth, "one", NOW_MS));
    cr_assert(auth_take(auth, &token, true, NOW_MS));
    cr_assert(is_known(auth, "one", NOW_MS));
    cr_assert(!is_known(auth, "two", NOW_MS));
    auth_destroy(auth);
}

Test(auth, a_revoked_token_is_unknown_at_once_and_its_neighbours_are_not)
{
    struct auth *auth = make_auth();
    char secret[16];
    for (int i = 0; i < 1000; i++) {
        (void)snprintf(secret, sizeof secret, "secret-%d", i);
        const struct token token = make_token(i + 1, secret);
        cr_assert(auth_take(auth, &token, true, NOW_MS));
    }
    for (int i = 0; i < 1000; i += 3) {
        (void)snprintf(secret, sizeof secret, "secret-%d", i);
        struct token token = make_token(i + 1, secret);
        token.revoked = 1;
        cr_assert(auth_take(auth, &token, false, NOW_MS));
    }
    for (int i = 0; i < 1000; i++) {
        (void)snprintf(secret, sizeof secret, "secret-%d", i);
        cr_assert_eq(is_known(auth, secret, NOW_MS), i % 3 != 0, "%s", secret);
    }
    auth_destroy(auth);
}

Test(auth, the_secret_before_a_rotation_is_good_for_its_time_only)
{
    struct auth *auth = make_auth();
    struct token token = make_token(1, "old");
    cr_assert(auth_take(auth, &token, true, NOW_MS));
    token.old_hash = token.hash;
    token.hash = hash_of("new");
    token.old_until_s = NOW_S + 10;
    cr_assert(auth_take(auth, &token, false, NOW_MS));
    cr_assert(is_known(auth, "new", NOW_MS));
    cr_assert(is_known(auth, "old", NOW_MS + 9000));
    cr_assert(!is_known(auth, "old", NOW_MS + 10000));
    token.old_hash = token.hash;
    token.hash = hash_of("newest");
    token.old_until_s = 0;
    cr_assert(auth_take(auth, &token, false, NOW_MS));
    cr_assert(!is_known(auth, "new", NOW_MS));
    cr_assert(!is_known(auth, "old", NOW_MS));
    cr_assert(is_known(auth, "newest", NOW_MS));
    auth_destroy(auth);
}

Test(auth, tokens_that_end_make_room_for_new_ones)
{
    struct auth *auth = make_auth();
    char secret[16];
    for (int i = 0; i < 5000; i++) {
        (void)snprintf(secret, sizeof secret, "secret-%d", i);
        struct token token = make_token(i + 1, secret);
        token.expires_s = NOW_S + i + 1;
        cr_assert(auth_take(auth, &token, true, NOW_MS + 1000 * (int64_t)i));
        cr_assert(is_known(auth, secret, NOW_MS + 1000 * (int64_t)i));
        cr_assert(!is_known(auth, secret, NOW_MS + 1000 * (int64_t)(i + 1)));
    }
    auth_destroy(auth);
}

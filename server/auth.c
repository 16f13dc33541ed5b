/*
 * Tokens in memory: an open-addressing table keyed by the first bytes of the digest. Looking up compares whole
 * digests in constant time; an attacker who cannot choose digests learns nothing from the probing.
 */
#include "server/auth.h"

#include <netinet/in.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#include "ledger/base/digest.h"
#include "ledger/base/uuid.h"

enum {
    ADDRESS_BUCKETS =
        4096, /* addresses share a bucket by hash: an unlucky neighbour waits with the guilty */
    SECONDS_PER_MINUTE = 60,
};

struct known_token {
    bool is_used;
    bool is_old;       /* the secret before the last rotation */
    struct digest key; /* of the secret that leads here */
    int64_t touched_minute;
    struct token token;
};

struct table {
    size_t capacity; /* a power of two, at least twice the tokens */
    size_t count;
    struct known_token entries[];
};

struct auth {
    pthread_mutex_t lock; /* guards the pointer and the touched minutes */
    struct table *table;
    int64_t failures_per_minute;
    int64_t failures_minute;
    uint32_t failures[ADDRESS_BUCKETS];
};

static size_t slot_of(const struct table *table, const struct digest *hash)
{
    uint64_t first;
    memcpy(&first, hash->bytes, sizeof(first));
    return (size_t)first & (table->capacity - 1);
}

static struct known_token *find(struct table *table, const struct digest *hash)
{
    size_t slot = slot_of(table, hash);
    while (table->entries[slot].is_used) {
        if (digest_equal(&table->entries[slot].key, hash)) {
            return &table->entries[slot];
        }
        slot = (slot + 1) & (table->capacity - 1);
    }
    return NULL;
}

static void insert(struct table *table, const struct token *token, bool is_old)
{
    const struct digest *key = is_old ? &token->old_hash : &token->hash;
    size_t slot = slot_of(table, key);
    while (table->entries[slot].is_used) {
        slot = (slot + 1) & (table->capacity - 1);
    }
    table->entries[slot] = (struct known_token){
        .is_used = true,
        .is_old = is_old,
        .key = *key,
        .touched_minute = token->used_s / SECONDS_PER_MINUTE,
        .token = *token,
    };
    table->count++;
}

static struct table *table_create(size_t capacity)
{
    struct table *table = calloc(1, sizeof(*table) + capacity * sizeof(table->entries[0]));
    if (table != NULL) {
        table->capacity = capacity;
    }
    return table;
}

/* Collects the rows of SELECT_TOKENS; grows by starting over in a table twice as large. */
struct collecting {
    struct table *table;
    bool is_full;
};

static bool collect(void *context, const void *record)
{
    struct collecting *collecting = context;
    const struct token *token = record;
    if (token->revoked != 0) {
        return true;
    }
    if (2 * (collecting->table->count + 2) > collecting->table->capacity) {
        collecting->is_full = true;
        return false;
    }
    insert(collecting->table, token, false);
    if (token->old_until_s != 0) {
        insert(collecting->table, token, true);
    }
    return true;
}

static enum error_code load(struct ledger_reader *reader,
                            struct table **ret_table,
                            struct error *err)
{
    const struct select_args args = {0};
    for (size_t capacity = 64;; capacity *= 2) {
        struct collecting collecting = {.table = table_create(capacity)};
        if (collecting.table == NULL) {
            return error_set(err, ERR_UNAVAILABLE, "no memory for the tokens");
        }
        const enum error_code code =
            ledger_read_list(reader, SELECT_TOKENS, &args, collect, &collecting, err);
        if (code == ERR_OK && !collecting.is_full) {
            *ret_table = collecting.table;
            return ERR_OK;
        }
        free(collecting.table);
        if (code != ERR_OK) {
            return code;
        }
    }
}

enum error_code auth_reload(struct auth *auth, struct ledger_reader *reader, struct error *err)
{
    enum error_code code = ledger_reader_begin(reader, err);
    if (code != ERR_OK) {
        return code;
    }
    struct table *table = NULL;
    code = load(reader, &table, err);
    ledger_reader_end(reader);
    if (code != ERR_OK) {
        return code;
    }
    pthread_mutex_lock(&auth->lock);
    struct table *old = auth->table;
    auth->table = table;
    pthread_mutex_unlock(&auth->lock);
    free(old);
    return ERR_OK;
}

/* ---- wrong tokens */

static size_t bucket_of(const struct sockaddr *address)
{
    const void *bytes = NULL;
    size_t length = 0;
    if (address != NULL && address->sa_family == AF_INET) {
        bytes = &((const struct sockaddr_in *)(const void *)address)->sin_addr;
        length = sizeof(struct in_addr);
    } else if (address != NULL && address->sa_family == AF_INET6) {
        bytes = &((const struct sockaddr_in6 *)(const void *)address)->sin6_addr;
        length = sizeof(struct in6_addr);
    }
    const struct digest digest = digest_of(length > 0 ? bytes : "", length);
    return (size_t)(digest.bytes[0] | digest.bytes[1] << 8) % ADDRESS_BUCKETS;
}

/* The count of an address in this minute. */
static uint32_t *failures_of(struct auth *auth, const struct sockaddr *address, int64_t now_s)
{
    const int64_t minute = now_s / SECONDS_PER_MINUTE;
    if (auth->failures_minute != minute) {
        auth->failures_minute = minute;
        memset(auth->failures, 0, sizeof(auth->failures));
    }
    return &auth->failures[bucket_of(address)];
}

bool auth_is_limited(struct auth *auth, const struct sockaddr *address, int64_t now_ms)
{
    return *failures_of(auth, address, now_ms / 1000) >= auth->failures_per_minute;
}

void auth_count_failure(struct auth *auth,
                        const struct sockaddr *address,
                        int64_t now_ms,
                        struct error *err)
{
    uint32_t *failures = failures_of(auth, address, now_ms / 1000);
    if (*failures >= auth->failures_per_minute) {
        (void)error_set(err, ERR_RATE_LIMITED,
                        "too many wrong tokens from this address; wait a minute");
        return;
    }
    (*failures)++;
}

static enum error_code refuse_wrong(struct auth *auth,
                                    const struct sockaddr *address,
                                    int64_t now_ms,
                                    struct error *err)
{
    (void)error_set(err, ERR_UNAUTHENTICATED, "this token is unknown, expired or revoked");
    auth_count_failure(auth, address, now_ms, err);
    return err->code;
}

/* ---- looking up */

/* The token of "Bearer TOKEN", or NULL. */
static const char *bearer_token(const char *authorization)
{
    static const char scheme[] = "bearer ";
    if (strncasecmp(authorization, scheme, sizeof(scheme) - 1) != 0) {
        return NULL;
    }
    const char *token = authorization + sizeof(scheme) - 1;
    return token + strspn(token, " ");
}

/* Schedulers are machines: nobody is written down for them. */
static void fill_actor(const struct token *token, struct ledger_actor *ret_actor)
{
    ret_actor->role = token->role;
    ret_actor->token_no = token->token_no;
    memcpy(ret_actor->who, token->id, sizeof(token->id));
    memcpy(ret_actor->name, token->name, sizeof(token->name));
    ret_actor->address[0] = '\0';
}

static bool is_good(const struct known_token *entry, int64_t now_s)
{
    const struct token *token = &entry->token;
    return (token->expires_s == 0 || now_s < token->expires_s) &&
           (!entry->is_old || now_s < token->old_until_s);
}

static bool look_up(struct auth *auth,
                    const struct digest *hash,
                    int64_t now_s,
                    struct principal *ret_principal)
{
    pthread_mutex_lock(&auth->lock);
    struct known_token *entry = auth->table != NULL ? find(auth->table, hash) : NULL;
    const bool is_valid = entry != NULL && is_good(entry, now_s);
    if (is_valid) {
        const int64_t minute = now_s / SECONDS_PER_MINUTE;
        ret_principal->role = entry->token.role;
        ret_principal->place_no = entry->token.place_no;
        ret_principal->token_no = entry->token.token_no;
        ret_principal->hash = entry->token.hash;
        ret_principal->touch_is_due = entry->touched_minute != minute;
        memcpy(ret_principal->place, entry->token.place, sizeof(ret_principal->place));
        entry->touched_minute = minute;
        if (entry->token.role != ROLE_SCHEDULER) {
            fill_actor(&entry->token, &ret_principal->actor);
        }
    }
    pthread_mutex_unlock(&auth->lock);
    return is_valid;
}

enum error_code auth_check(struct auth *auth,
                           const char *authorization,
                           const struct sockaddr *address,
                           int64_t now_ms,
                           struct principal *ret_principal,
                           struct error *err)
{
    const char *token = authorization != NULL ? bearer_token(authorization) : NULL;
    if (token == NULL || token[0] == '\0') {
        return error_set(err, ERR_UNAUTHENTICATED, "send Authorization: Bearer TOKEN");
    }
    const struct digest hash = digest_of(token, strlen(token));
    if (look_up(auth, &hash, now_ms / 1000, ret_principal)) {
        return ERR_OK;
    }
    return refuse_wrong(auth, address, now_ms, err);
}

/* ---- life */

enum error_code auth_create(int64_t failures_per_minute, struct auth **ret_auth, struct error *err)
{
    struct auth *auth = calloc(1, sizeof(*auth));
    if (auth == NULL || pthread_mutex_init(&auth->lock, NULL) != 0) {
        free(auth);
        return error_set(err, ERR_UNAVAILABLE, "no memory for the tokens");
    }
    auth->failures_per_minute = failures_per_minute;
    *ret_auth = auth;
    return ERR_OK;
}

void auth_set_failures(struct auth *auth, int64_t failures_per_minute)
{
    auth->failures_per_minute = failures_per_minute;
}

void auth_destroy(struct auth *auth)
{
    if (auth != NULL) {
        (void)pthread_mutex_destroy(&auth->lock);
        free(auth->table);
        free(auth);
    }
}

/* ---- making */

static void append_base64url(const uint8_t *bytes, size_t length, char *text)
{
    static const char alphabet[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    uint32_t bits = 0;
    unsigned held = 0;
    for (size_t i = 0; i < length; i++) {
        bits = bits << 8 | bytes[i];
        for (held += 8; held >= 6; held -= 6) {
            *text++ = alphabet[bits >> (held - 6) & 63];
        }
    }
    if (held > 0) {
        *text++ = alphabet[bits << (6 - held) & 63];
    }
    *text = '\0';
}

enum error_code auth_token_create(char ret_token[AUTH_TOKEN_BYTES],
                                  struct digest *ret_hash,
                                  struct error *err)
{
    uint8_t secret[AUTH_SECRET_BYTES];
    const enum error_code code = uuid_random_bytes(secret, sizeof(secret), err);
    if (code != ERR_OK) {
        return code;
    }
    memcpy(ret_token, "ch_", sizeof("ch_"));
    append_base64url(secret, sizeof(secret), ret_token + 3);
    explicit_bzero(secret, sizeof(secret));
    *ret_hash = digest_of(ret_token, strlen(ret_token));
    return ERR_OK;
}

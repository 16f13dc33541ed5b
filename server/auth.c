/*
 * Tokens in memory: an open-addressing table keyed by the first bytes of the digest. Looking up compares whole
 * digests in constant time; an attacker who cannot choose digests learns nothing from the probing.
 *
 * Changes come in the order of their commits. Reading all of them again takes a while on another thread: what has changed
 * meanwhile makes it start over, so that a revoked token never comes back with an older snapshot.
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
    TABLE_LEAST = 64,
    ADDRESS_BUCKETS =
        4096, /* addresses share a bucket by hash: an unlucky neighbour waits with the guilty */
    SECONDS_PER_MINUTE = 60,
};

struct known_token {
    bool is_used;      /* or was: look-ups go on behind it */
    bool is_dropped;   /* leads nowhere any more */
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
    pthread_mutex_t lock; /* guards the table and the number of changes */
    struct table *table;
    int64_t changes;
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
        if (!table->entries[slot].is_dropped && digest_equal(&table->entries[slot].key, hash)) {
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

static bool is_over(const struct token *token, int64_t now_s)
{
    return token->revoked != 0 || (token->expires_s != 0 && token->expires_s <= now_s);
}

/* Both secrets of a token. The table has room for them. */
static void insert_both(struct table *table, const struct token *token, int64_t now_s)
{
    insert(table, token, false);
    if (token->old_until_s > now_s) {
        insert(table, token, true);
    }
}

/* Room for one token more: at least half of the slots stay free. */
static bool has_room(const struct table *table)
{
    return 2 * (table->count + 2) <= table->capacity;
}

/* Collects the rows of SELECT_TOKENS; grows by starting over in a table twice as large. */
struct collecting {
    struct table *table;
    int64_t now_s;
    bool is_full;
};

static bool collect(void *context, const void *record)
{
    struct collecting *collecting = context;
    const struct token *token = record;
    if (is_over(token, collecting->now_s)) {
        return true;
    }
    collecting->is_full = !has_room(collecting->table);
    if (!collecting->is_full) {
        insert_both(collecting->table, token, collecting->now_s);
    }
    return !collecting->is_full;
}

static enum error_code load(struct ledger_reader *reader,
                            int64_t now_s,
                            struct table **ret_table,
                            struct error *err)
{
    const struct select_args args = {0};
    for (size_t capacity = TABLE_LEAST;; capacity *= 2) {
        struct collecting collecting = {.table = table_create(capacity), .now_s = now_s};
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

static int64_t changes_of(struct auth *auth)
{
    pthread_mutex_lock(&auth->lock);
    const int64_t changes = auth->changes;
    pthread_mutex_unlock(&auth->lock);
    return changes;
}

/* Take a table that was read after so many changes. False when there have been more since: it may be older. */
static bool take_table(struct auth *auth, struct table *table, int64_t changes)
{
    pthread_mutex_lock(&auth->lock);
    const bool is_newest = auth->changes == changes;
    struct table *old = is_newest ? auth->table : table;
    if (is_newest) {
        auth->table = table;
        auth->changes++;
    }
    pthread_mutex_unlock(&auth->lock);
    free(old);
    return is_newest;
}

enum error_code auth_reload(struct auth *auth,
                            struct ledger_reader *reader,
                            int64_t now_ms,
                            struct error *err)
{
    struct table *table = NULL;
    int64_t changes;
    do {
        changes = changes_of(auth);
        enum error_code code = ledger_reader_begin(reader, err);
        if (code != ERR_OK) {
            return code;
        }
        code = load(reader, now_ms / 1000, &table, err);
        ledger_reader_end(reader);
        if (code != ERR_OK) {
            return code;
        }
    } while (!take_table(auth, table, changes));
    return ERR_OK;
}

/* ---- one that changed */

/* Those of a table that still lead somewhere, in one with room for more. */
static struct table *table_renew(const struct table *old, int64_t now_s)
{
    size_t living = 0;
    size_t capacity = TABLE_LEAST;
    for (size_t i = 0; old != NULL && i < old->capacity; i++) {
        living += old->entries[i].is_used && !old->entries[i].is_dropped &&
                  !is_over(&old->entries[i].token, now_s);
    }
    while (capacity < 4 * (living + 2)) {
        capacity *= 2;
    }
    struct table *table = table_create(capacity);
    for (size_t i = 0; table != NULL && old != NULL && i < old->capacity; i++) {
        const struct known_token *entry = &old->entries[i];
        if (entry->is_used && !entry->is_dropped && !is_over(&entry->token, now_s)) {
            insert(table, &entry->token, entry->is_old);
        }
    }
    return table;
}

static void drop(struct table *table, int64_t token_no)
{
    for (size_t i = 0; table != NULL && i < table->capacity; i++) {
        struct known_token *entry = &table->entries[i];
        entry->is_dropped =
            entry->is_dropped || (entry->is_used && entry->token.token_no == token_no);
    }
}

bool auth_take(struct auth *auth, const struct token *token, bool is_new, int64_t now_ms)
{
    const int64_t now_s = now_ms / 1000;
    pthread_mutex_lock(&auth->lock);
    auth->changes++;
    if (!is_new) {
        drop(auth->table, token->token_no);
    }
    bool is_known = is_over(token, now_s);
    if (!is_known && (auth->table == NULL || !has_room(auth->table))) {
        struct table *table = table_renew(auth->table, now_s);
        if (table != NULL) {
            free(auth->table);
            auth->table = table;
        }
    }
    if (!is_known && auth->table != NULL && has_room(auth->table)) {
        insert_both(auth->table, token, now_s);
        is_known = true;
    }
    pthread_mutex_unlock(&auth->lock);
    return is_known;
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

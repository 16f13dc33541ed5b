/* A table without chains: a new key takes the place of an old one of the same row. */
#include "server/idempotency.h"

#include <stdlib.h>
#include <string.h>

#include "server/request.h"

enum {
    ROWS = 65536,
    KEY_BYTES_MAX = 255,
};

struct idempotency {
    struct row {
        struct digest key; /* all zero: free */
        struct digest content;
    } rows[ROWS];
};

static size_t row_of(const struct digest *key)
{
    return (size_t)(key->bytes[0] << 8 | key->bytes[1]);
}

/* The key within its quotes, if it has any (a string of RFC 8941). False when it is not of the form. */
static bool cut_key(const char *header, const char **ret_key, size_t *ret_bytes)
{
    size_t bytes = strlen(header);
    if (bytes >= 2 && header[0] == '"' && header[bytes - 1] == '"') {
        header++;
        bytes -= 2;
    }
    for (size_t i = 0; i < bytes; i++) {
        if (header[i] <= ' ' || header[i] > '~' || header[i] == '"') {
            return false;
        }
    }
    *ret_key = header;
    *ret_bytes = bytes;
    return bytes >= 1 && bytes <= KEY_BYTES_MAX;
}

static struct digest digest_of_key(const struct request *request, const char *key, size_t bytes)
{
    struct digest_state state;
    digest_init(&state);
    digest_update_i64(&state, request->principal.token_no);
    if (request->principal.token_no == 0) {
        digest_update(&state, request->principal.hash.bytes, sizeof(request->principal.hash.bytes));
    }
    digest_update(&state, key, bytes);
    return digest_finish(&state);
}

static struct digest digest_of_request(const struct request *request)
{
    struct digest_state state;
    digest_init(&state);
    digest_update_i64(&state, request->method);
    digest_update_text(&state, request->target);
    digest_update(&state, request->body, request->body_bytes);
    return digest_finish(&state);
}

enum error_code idempotency_check(const struct idempotency *table,
                                  const struct request *request,
                                  struct idempotency_use *ret_use,
                                  struct error *err)
{
    const char *header = request->headers.idempotency_key;
    ret_use->is_given = header != NULL;
    if (header == NULL) {
        return ERR_OK;
    }
    const char *key;
    size_t bytes;
    if (!cut_key(header, &key, &bytes)) {
        return error_set_field(err, ERR_MALFORMED, "Idempotency-Key",
                               "not 1 to %d visible characters", KEY_BYTES_MAX);
    }
    ret_use->key = digest_of_key(request, key, bytes);
    ret_use->content = digest_of_request(request);
    const struct row *row = &table->rows[row_of(&ret_use->key)];
    if (digest_equal(&row->key, &ret_use->key) && !digest_equal(&row->content, &ret_use->content)) {
        return error_set_field(err, ERR_ID_REUSED, "Idempotency-Key",
                               "this key was used with another request");
    }
    return ERR_OK;
}

void idempotency_keep(struct idempotency *table, const struct idempotency_use *use)
{
    if (use->is_given) {
        table->rows[row_of(&use->key)] = (struct row){.key = use->key, .content = use->content};
    }
}

enum error_code idempotency_create(struct idempotency **ret_table, struct error *err)
{
    struct idempotency *table = calloc(1, sizeof(*table)); /* pages are touched as keys come */
    if (table == NULL) {
        return error_set(err, ERR_UNAVAILABLE, "no memory for idempotency keys");
    }
    *ret_table = table;
    return ERR_OK;
}

void idempotency_destroy(struct idempotency *table)
{
    free(table);
}

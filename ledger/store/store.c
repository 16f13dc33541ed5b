/*
 * The door to the engines: chooses one by URL, checks arguments, passes on.
 *
 * It holds no records and knows no engine's insides. Arguments that break the contract are bugs and
 * end in an assertion here, so that no engine need look again.
 */
#include "ledger/store/store.h"

#include <stdlib.h>
#include <string.h>

#include "ledger/store/engines.h"

struct store {
    const struct store_engine *engine;
    void *handle;
    enum store_access access;
    bool begun;
};

struct store_backup {
    const struct store_engine *engine;
    void *handle;
    bool done;
};

static const struct store_engine *const engines[] = {
    &sqlite_engine,
    &memory_engine,
};

/* The engine of a URL and what stands behind the scheme. A path with a slash before its first colon
 * has no scheme. */
static const struct store_engine *engine_of(const char *url, const char **ret_path)
{
    const char *colon = strchr(url, ':');
    const char *slash = strchr(url, '/');
    *ret_path = url;
    if (colon == NULL || (slash != NULL && slash < colon)) {
        return &sqlite_engine;
    }
    size_t length = (size_t)(colon - url);
    for (size_t i = 0; i < ARRAY_LEN(engines); i++) {
        const char *scheme = engines[i]->scheme;
        if (strlen(scheme) == length && strncmp(scheme, url, length) == 0) {
            *ret_path = colon + 1;
            return engines[i];
        }
    }
    return NULL;
}

enum error_code store_open(const char *url,
                           enum store_access access,
                           struct store **ret_store,
                           struct error *err)
{
    const char *path;
    const struct store_engine *engine = engine_of(url, &path);
    if (engine == NULL) {
        return error_set(err, ERR_INVALID_FIELD,
                         "no engine for %s: give sqlite:PATH, a path or memory:NAME", url);
    }
    struct store *store = calloc(1, sizeof *store);
    if (store == NULL) {
        return error_set(err, ERR_UNAVAILABLE, "out of memory while opening the ledger");
    }
    *store = (struct store){.engine = engine, .access = access};
    enum error_code code = engine->open(path, access, &store->handle, err);
    if (code != ERR_OK) {
        free(store);
        return code;
    }
    *ret_store = store;
    return ERR_OK;
}

void store_close(struct store *store)
{
    if (store == NULL) {
        return;
    }
    store_rollback(store);
    store->engine->close(store->handle);
    free(store);
}

enum error_code store_begin(struct store *store, struct error *err)
{
    assert(!store->begun);
    enum error_code code = store->engine->begin(store->handle, err);
    store->begun = code == ERR_OK;
    return code;
}

enum error_code store_commit(struct store *store, struct error *err)
{
    assert(store->begun);
    store->begun = false;
    return store->engine->commit(store->handle, err);
}

void store_rollback(struct store *store)
{
    if (store->begun) {
        store->begun = false;
        store->engine->rollback(store->handle);
    }
}

enum error_code store_get(struct store *store,
                          const struct record_type *type,
                          void *record,
                          bool *ret_found,
                          struct error *err)
{
    return store->engine->get(store->handle, type, record, ret_found, err);
}

static void check_write(const struct store *store)
{
    assert(store->access != STORE_READ && store->begun);
}

/* Every text ends within its field, every count within its list. */
static bool record_is_sound(const struct record_type *type, const void *record)
{
    for (size_t i = 0; i < type->field_count; i++) {
        const struct record_field *field = &type->fields[i];
        const char *bytes = (const char *)record;
        int32_t count = 0;
        if (field->kind == FIELD_LIST) {
            memcpy(&count, bytes + field->count_offset, sizeof count);
        }
        if (count < 0 || (field->kind == FIELD_LIST && (size_t)count > field->size) ||
            (field->kind == FIELD_TEXT &&
             memchr(bytes + field->offset, '\0', field->size) == NULL)) {
            return false;
        }
    }
    return true;
}

enum error_code store_put(struct store *store,
                          const struct record_type *type,
                          const void *record,
                          struct error *err)
{
    check_write(store);
    assert(!type->append_only && record_is_sound(type, record));
    return store->engine->put(store->handle, type, record, err);
}

enum error_code store_insert_many(struct store *store,
                                  const struct record_type *type,
                                  const void *const *records,
                                  size_t count,
                                  struct error *err)
{
    check_write(store);
    for (size_t i = 0; i < count; i++) {
        assert(record_is_sound(type, records[i]));
    }
    return store->engine->insert(store->handle, type, records, count, err);
}

enum error_code store_insert(struct store *store,
                             const struct record_type *type,
                             const void *record,
                             struct error *err)
{
    return store_insert_many(store, type, &record, 1, err);
}

enum error_code store_remove(struct store *store,
                             const struct record_type *type,
                             const void *record,
                             struct error *err)
{
    check_write(store);
    assert(!type->append_only);
    return store->engine->remove(store->handle, type, record, err);
}

/* Holds lie under two indexes: by project, and the open ones. */
static enum select_kind variant_of(enum select_kind select, const struct select_args *args)
{
    if (select != SELECT_HOLDS) {
        return select;
    }
    if (args->n[5] != 0) {
        return SELECT_HOLDS_STILL_OPEN;
    }
    return args->n[1] != 0 ? SELECT_HOLDS_OF_PROJECT : SELECT_HOLDS;
}

enum error_code store_select(struct store *store,
                             enum select_kind select,
                             const struct select_args *args,
                             store_row_fn row,
                             void *context,
                             struct error *err)
{
    static const struct select_args none = {.limit = 0};
    args = args == NULL ? &none : args;
    assert((unsigned)select < SELECT__COUNT && args->limit >= 0);
    assert(IMPLIES(select_types[select].texts > 0, args->s[0] != NULL));
    return store->engine->select(store->handle, variant_of(select, args), args, row, context, err);
}

enum error_code store_maintain(struct store *store, struct error *err)
{
    assert(store->access != STORE_READ && !store->begun);
    return store->engine->maintain(store->handle, err);
}

void store_get_stats(struct store *store, struct store_stats *ret_stats)
{
    *ret_stats = (struct store_stats){.data_bytes = 0};
    store->engine->stats(store->handle, ret_stats);
}

enum error_code store_backup_begin(struct store *store,
                                   const char *to,
                                   struct store_backup **ret_backup,
                                   struct error *err)
{
    assert(!store->begun);
    struct store_backup *backup = calloc(1, sizeof *backup);
    if (backup == NULL) {
        return error_set(err, ERR_UNAVAILABLE, "out of memory while backing up");
    }
    backup->engine = store->engine;
    enum error_code code = store->engine->backup_begin(store->handle, to, &backup->handle, err);
    if (code != ERR_OK) {
        free(backup);
        return code;
    }
    *ret_backup = backup;
    return ERR_OK;
}

enum error_code store_backup_step(struct store_backup *backup, bool *ret_done, struct error *err)
{
    enum error_code code = backup->engine->backup_step(backup->handle, &backup->done, err);
    *ret_done = backup->done;
    return code;
}

enum error_code store_backup_end(struct store_backup *backup, bool keep, struct error *err)
{
    if (backup == NULL) {
        return ERR_OK;
    }
    assert(!keep || backup->done);
    enum error_code code = backup->engine->backup_end(backup->handle, keep, err);
    free(backup);
    return code;
}

enum error_code store_backup(struct store *store, const char *to, struct error *err)
{
    struct store_backup *backup = NULL;
    bool done = false;
    enum error_code code = store_backup_begin(store, to, &backup, err);
    while (code == ERR_OK && !done) {
        code = store_backup_step(backup, &done, err);
    }
    if (code != ERR_OK) {
        (void)store_backup_end(backup, false, NULL);
        return code;
    }
    return store_backup_end(backup, true, err);
}

enum error_code store_verify(struct store *store, struct error *err)
{
    return store->engine->verify(store->handle, err);
}

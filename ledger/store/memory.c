/*
 * The memory engine: small and obviously right. Reference for the simulator and for the contract
 * tests of the other engines; it forgets everything when the process ends.
 *
 * A database is one chained hash table a record type. A named one is shared by all handles of the
 * process and lives until its end; one without a name lives and dies with its handle. The writer
 * holds the database's lock from begin to the end of its transaction, a reader from begin to the
 * end of its snapshot: so a reader never sees what is not committed, and each waits for the other
 * (at most WAIT_S, then ERR_UNAVAILABLE, so that a test that holds both in one thread fails instead
 * of hanging). Every change is put on an undo list that rollback walks backwards.
 */
#include "ledger/store/memory.h"

#include <pthread.h>
#include <stdalign.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ledger/base/cleanup.h"
#include "ledger/base/clock.h"
#include "ledger/store/engines.h"
#include "ledger/store/record_value.h"

enum { WAIT_S = 5, FIRST_BUCKETS = 64 };

struct row {
    struct row *next; /* in its bucket */
    uint64_t hash;
    alignas(8) unsigned char record[];
};

struct table {
    struct row **buckets;
    size_t bucket_count; /* a power of two, or 0 */
    size_t row_count;
};

/* One change: what stood there before, what stands there now; either may be NULL. */
struct change {
    const struct record_type *type;
    struct row *before;
    struct row *after;
};

struct database {
    struct database *next; /* of the named ones */
    char *name;            /* "": private to one handle */
    bool has_writer;
    pthread_rwlock_t lock;
    struct table tables[RECORD__COUNT];
    struct change *changes; /* of the writer's transaction */
    size_t change_count;
    size_t change_capacity;
};

struct handle {
    struct database *database;
    enum store_access access;
    bool begun;
    int holds; /* nested calls that hold the lock */
};

static pthread_mutex_t registry_lock = PTHREAD_MUTEX_INITIALIZER;
static struct database *registry;

static enum error_code out_of_memory(struct error *err)
{
    return error_set(err, ERR_UNAVAILABLE, "out of memory in the memory engine");
}

/* ---- tables --------------------------------------------------------------------------------- */

/* Where the pointer to the row of this key is, or would be appended. */
static struct row **find(struct table *table, const struct record_type *type, const void *record)
{
    uint64_t hash = record_key_hash(type, record);
    struct row **link = &table->buckets[hash & (table->bucket_count - 1)];
    while (*link != NULL &&
           ((*link)->hash != hash || !record_key_equal(type, (*link)->record, record))) {
        link = &(*link)->next;
    }
    return link;
}

/* Make room for one more row at a load of at most 1. */
static bool grow(struct table *table)
{
    if (table->row_count < table->bucket_count) {
        return true;
    }
    size_t count = table->bucket_count == 0 ? FIRST_BUCKETS : table->bucket_count * 2;
    struct row **buckets = calloc(count, sizeof(void *));
    if (buckets == NULL) {
        return false;
    }
    for (size_t i = 0; i < table->bucket_count; i++) {
        struct row *row = table->buckets[i];
        while (row != NULL) {
            struct row *next = row->next;
            struct row **bucket = &buckets[row->hash & (count - 1)];
            row->next = *bucket;
            *bucket = row;
            row = next;
        }
    }
    free(table->buckets);
    table->buckets = buckets;
    table->bucket_count = count;
    return true;
}

static void link_row(struct table *table, struct row *row)
{
    struct row **bucket = &table->buckets[row->hash & (table->bucket_count - 1)];
    row->next = *bucket;
    *bucket = row;
    table->row_count++;
}

static void unlink_row(struct table *table, const struct record_type *type, const struct row *row)
{
    struct row **link = find(table, type, row->record);
    assert(*link == row);
    *link = row->next;
    table->row_count--;
}

static struct row *make_row(const struct record_type *type, const void *record)
{
    struct row *row = malloc(sizeof *row + type->bytes);
    if (row != NULL) {
        *row = (struct row){.hash = record_key_hash(type, record)};
        memcpy(row->record, record, type->bytes);
    }
    return row;
}

/* ---- databases ------------------------------------------------------------------------------ */

static void table_fini(struct table *table)
{
    for (size_t i = 0; i < table->bucket_count; i++) {
        struct row *row = table->buckets[i];
        while (row != NULL) {
            struct row *next = row->next;
            free(row);
            row = next;
        }
    }
    free(table->buckets);
}

static void database_destroy(struct database *database)
{
    for (size_t t = 0; t < RECORD__COUNT; t++) {
        table_fini(&database->tables[t]);
    }
    free(database->changes);
    free(database->name);
    (void)pthread_rwlock_destroy(&database->lock);
    free(database);
}

static struct database *database_create(const char *name)
{
    struct database *database = calloc(1, sizeof *database);
    if (database == NULL) {
        return NULL;
    }
    database->name = strdup(name);
    bool made = database->name != NULL && pthread_rwlock_init(&database->lock, NULL) == 0;
    for (size_t t = 0; made && t < RECORD__COUNT; t++) {
        made = grow(&database->tables[t]);
    }
    if (!made) {
        database_destroy(database);
        return NULL;
    }
    return database;
}

/* With the registry locked: the database of a name as an access wants it. */
static enum error_code database_find(const char *name,
                                     enum store_access access,
                                     struct database **ret_database,
                                     struct error *err)
{
    struct database *database = name[0] == '\0' ? NULL : registry;
    while (database != NULL && strcmp(database->name, name) != 0) {
        database = database->next;
    }
    if (access == STORE_CREATE && database != NULL) {
        return error_set(err, ERR_INVALID_STATE, "a ledger is there already: memory:%s", name);
    }
    if (access != STORE_CREATE && database == NULL) {
        return error_set(err, ERR_NOT_FOUND, "no ledger is there: memory:%s", name);
    }
    if (access == STORE_WRITE && database->has_writer) {
        return error_set(err, ERR_UNAVAILABLE, "memory:%s is open for writing already", name);
    }
    if (database == NULL) {
        database = database_create(name);
        if (database == NULL) {
            return out_of_memory(err);
        }
        if (name[0] != '\0') {
            database->next = registry;
            registry = database;
        }
    }
    database->has_writer = database->has_writer || access != STORE_READ;
    *ret_database = database;
    return ERR_OK;
}

static enum error_code memory_open(const char *path,
                                   enum store_access access,
                                   void **ret_handle,
                                   struct error *err)
{
    struct handle *handle = calloc(1, sizeof *handle);
    if (handle == NULL) {
        return out_of_memory(err);
    }
    handle->access = access;
    (void)pthread_mutex_lock(&registry_lock);
    enum error_code code = database_find(path, access, &handle->database, err);
    (void)pthread_mutex_unlock(&registry_lock);
    if (code != ERR_OK) {
        free(handle);
        return code;
    }
    *ret_handle = handle;
    return ERR_OK;
}

static void memory_close(void *context)
{
    struct handle *handle = context;
    struct database *database = handle->database;
    (void)pthread_mutex_lock(&registry_lock);
    if (handle->access != STORE_READ) {
        database->has_writer = false;
    }
    (void)pthread_mutex_unlock(&registry_lock);
    if (database->name[0] == '\0') {
        database_destroy(database);
    }
    free(handle);
}

/* ---- locks and transactions ------------------------------------------------------------------ */

static enum error_code hold_lock(struct handle *handle, bool to_write, struct error *err)
{
    if (handle->holds > 0) {
        handle->holds++;
        return ERR_OK;
    }
    const struct timespec until = {.tv_sec = clock_wall_ms() / 1000 + WAIT_S};
    pthread_rwlock_t *lock = &handle->database->lock;
    int failed = to_write ? pthread_rwlock_timedwrlock(lock, &until)
                          : pthread_rwlock_timedrdlock(lock, &until);
    if (failed != 0) {
        return error_set(err, ERR_UNAVAILABLE,
                         "the memory engine waited %d s for a transaction or snapshot to end",
                         WAIT_S);
    }
    handle->holds = 1;
    return ERR_OK;
}

static void drop_lock(struct handle *handle)
{
    assert(handle->holds > 0);
    handle->holds--;
    if (handle->holds == 0) {
        (void)pthread_rwlock_unlock(&handle->database->lock);
    }
}

static enum error_code memory_begin(void *context, struct error *err)
{
    struct handle *handle = context;
    enum error_code code = hold_lock(handle, handle->access != STORE_READ, err);
    handle->begun = code == ERR_OK;
    return code;
}

static void end(struct handle *handle)
{
    handle->begun = false;
    drop_lock(handle);
}

static enum error_code memory_commit(void *context, struct error *err)
{
    (void)err;
    struct handle *handle = context;
    struct database *database = handle->database;
    if (handle->access != STORE_READ) {
        for (size_t i = 0; i < database->change_count; i++) {
            free(database->changes[i].before);
        }
        database->change_count = 0;
    }
    end(handle);
    return ERR_OK;
}

static void memory_rollback(void *context)
{
    struct handle *handle = context;
    struct database *database = handle->database;
    while (handle->access != STORE_READ && database->change_count > 0) {
        struct change *change = &database->changes[--database->change_count];
        struct table *table = &database->tables[change->type->id];
        if (change->after != NULL) {
            unlink_row(table, change->type, change->after);
            free(change->after);
        }
        if (change->before != NULL) {
            link_row(table, change->before);
        }
    }
    end(handle);
}

/* ---- records -------------------------------------------------------------------------------- */

static enum error_code memory_get(void *context,
                                  const struct record_type *type,
                                  void *record,
                                  bool *ret_found,
                                  struct error *err)
{
    struct handle *handle = context;
    enum error_code code = hold_lock(handle, false, err);
    if (code != ERR_OK) {
        return code;
    }
    const struct row *row = *find(&handle->database->tables[type->id], type, record);
    if (row != NULL) {
        record_copy(type, row->record, record);
    }
    *ret_found = row != NULL;
    drop_lock(handle);
    return ERR_OK;
}

/* Put one more change on the undo list. */
static bool remember(struct database *database, struct change change)
{
    if (database->change_count == database->change_capacity) {
        size_t capacity = database->change_capacity == 0 ? 256 : database->change_capacity * 2;
        struct change *changes = realloc(database->changes, capacity * sizeof *changes);
        if (changes == NULL) {
            return false;
        }
        database->changes = changes;
        database->change_capacity = capacity;
    }
    database->changes[database->change_count++] = change;
    return true;
}

/* The row of a key is `before` (or none): let it be `after` (or none), undoably. */
static enum error_code exchange(struct database *database,
                                const struct record_type *type,
                                struct row *before,
                                struct row *after,
                                struct error *err)
{
    struct table *table = &database->tables[type->id];
    if (!grow(table) || !remember(database, (struct change){type, before, after})) {
        free(after);
        return out_of_memory(err);
    }
    if (before != NULL) {
        unlink_row(table, type, before);
    }
    if (after != NULL) {
        link_row(table, after);
    }
    return ERR_OK;
}

/* Fixed fields are written once: another value later is a bug of the caller. */
static bool fixed_fields_equal(const struct record_type *type, const void *a, const void *b)
{
    for (size_t i = 0; i < type->field_count; i++) {
        const struct record_field *field = &type->fields[i];
        if (field->fixed && memcmp((const char *)a + field->offset, (const char *)b + field->offset,
                                   sizeof(int64_t)) != 0) {
            return false;
        }
    }
    return true;
}

static enum error_code memory_put(void *context,
                                  const struct record_type *type,
                                  const void *record,
                                  struct error *err)
{
    struct database *database = ((struct handle *)context)->database;
    struct row *before = *find(&database->tables[type->id], type, record);
    assert(before == NULL || fixed_fields_equal(type, before->record, record));
    struct row *after = make_row(type, record);
    return after == NULL ? out_of_memory(err) : exchange(database, type, before, after, err);
}

static enum error_code insert_row(struct database *database,
                                  const struct record_type *type,
                                  const void *record,
                                  struct error *err)
{
    if (*find(&database->tables[type->id], type, record) != NULL) {
        return error_set(err, ERR_INTERNAL, "insert: this %s is there already", type->name);
    }
    struct row *after = make_row(type, record);
    return after == NULL ? out_of_memory(err) : exchange(database, type, NULL, after, err);
}

static enum error_code memory_insert(void *context,
                                     const struct record_type *type,
                                     const void *const *records,
                                     size_t count,
                                     struct error *err)
{
    struct database *database = ((struct handle *)context)->database;
    enum error_code code = ERR_OK;
    for (size_t i = 0; i < count && code == ERR_OK; i++) {
        code = insert_row(database, type, records[i], err);
    }
    return code;
}

static enum error_code memory_remove(void *context,
                                     const struct record_type *type,
                                     const void *record,
                                     struct error *err)
{
    struct database *database = ((struct handle *)context)->database;
    struct row *before = *find(&database->tables[type->id], type, record);
    return before == NULL ? ERR_OK : exchange(database, type, before, NULL, err);
}

/* ---- selections ------------------------------------------------------------------------------ */

static int compare_rows(const void *a, const void *b, void *context)
{
    return memory_select_compare(*(const enum select_kind *)context, *(const void *const *)a,
                                 *(const void *const *)b);
}

/* Append the records of a bucket that a selection takes; returns how many there are then. */
static size_t collect_bucket(const struct row *row,
                             enum select_kind select,
                             const struct select_args *args,
                             const void **records,
                             size_t count)
{
    for (; row != NULL; row = row->next) {
        if (memory_select_matches(select, args, row->record)) {
            records[count++] = row->record;
        }
    }
    return count;
}

/* The records of a selection in its order; owned by the caller, NULL when out of memory. */
static const void **collect(const struct table *table,
                            enum select_kind select,
                            const struct select_args *args,
                            size_t *ret_count)
{
    const void **records = malloc((table->row_count + 1) * sizeof *records);
    if (records == NULL) {
        return NULL;
    }
    size_t count = 0;
    for (size_t i = 0; i < table->bucket_count; i++) {
        count = collect_bucket(table->buckets[i], select, args, records, count);
    }
    qsort_r(records, count, sizeof *records, compare_rows, &select);
    *ret_count = count;
    return records;
}

static enum error_code memory_select(void *context,
                                     enum select_kind select,
                                     const struct select_args *args,
                                     store_row_fn row,
                                     void *row_context,
                                     struct error *err)
{
    struct handle *handle = context;
    enum error_code code = hold_lock(handle, false, err);
    if (code != ERR_OK) {
        return code;
    }
    const struct table *table = &handle->database->tables[select_types[select].record];
    size_t count = 0;
    CLEANUP(cleanup_free) const void **records = collect(table, select, args, &count);
    if (records == NULL) {
        drop_lock(handle);
        return out_of_memory(err);
    }
    size_t most = args->limit == 0 || (size_t)args->limit > count ? count : (size_t)args->limit;
    for (size_t i = 0; i < most && row(row_context, records[i]); i++) {
    }
    drop_lock(handle);
    return ERR_OK;
}

static enum error_code memory_maintain(void *context, struct error *err)
{
    (void)context;
    (void)err;
    return ERR_OK;
}

static enum error_code memory_backup_begin(void *context,
                                           const char *to,
                                           void **ret_backup,
                                           struct error *err)
{
    (void)context;
    (void)ret_backup;
    return error_set(err, ERR_INVALID_STATE, "the memory engine cannot be copied to %s", to);
}

static void memory_stats(void *context, struct store_stats *ret_stats)
{
    (void)context;
    (void)ret_stats;
}

static enum error_code memory_verify(void *context, struct error *err)
{
    (void)context;
    (void)err;
    return ERR_OK;
}

const struct store_engine memory_engine = {
    .version = 1,
    .scheme = "memory",
    .open = memory_open,
    .close = memory_close,
    .begin = memory_begin,
    .commit = memory_commit,
    .rollback = memory_rollback,
    .get = memory_get,
    .put = memory_put,
    .insert = memory_insert,
    .remove = memory_remove,
    .select = memory_select,
    .maintain = memory_maintain,
    .backup_begin = memory_backup_begin,
    .verify = memory_verify,
    .stats = memory_stats,
};

/*
 * Cells in two tables (those that stay, those that go), memory in two arenas, changes in one list a
 * type. See working_set.h.
 */
#include "ledger/working_set.h"

#include <stdlib.h>
#include <string.h>

#include "ledger/arena.h"

enum {
    BUCKETS_FIRST = 1024,
    KEY_INTEGERS = 7,
    MARKS_DEEP = 8,
};

struct cell {
    struct cell *next_in_bucket;
    struct cell *next_dirty;
    uint64_t hash;
    uint64_t saved_at; /* the newest mark for which the old state was saved */
    uint8_t type;
    bool exists;
    bool stored; /* in the store now, within this transaction */
    bool renew;  /* what is stored was removed and made anew: fixed fields may differ */
    bool dirty;
};

/* How a type's key lies at the start of its struct. */
struct key_shape {
    int integers;     /* int64_t, first */
    size_t tail_at;   /* of the text or blob after them */
    size_t tail_size; /* 0: none */
    bool tail_is_text;
};

struct table {
    struct cell **buckets;
    size_t mask;
    size_t count;
};

struct undo {
    struct cell *cell;
    uint64_t saved_at;
    bool existed;
    void *record; /* copy, or NULL when it did not exist */
};

struct list {
    struct cell *first;
    struct cell *last;
};

struct working_set {
    struct store *store;
    int64_t cache_bytes;
    uint64_t generation;
    struct error failure;
    struct key_shape shapes[RECORD__COUNT];
    size_t largest_bytes;
    struct table tables[2]; /* [0] go after each transaction, [1] stay */
    struct arena arenas[2];
    struct list dirty[RECORD__COUNT];
    bool removals; /* a stored record was removed, or removed and made anew */
    struct list appended;
    struct undo *undos;
    size_t undo_count;
    size_t undo_capacity;
    struct arena undo_arena;
    uint64_t mark_clock;
    int depth;
    struct mark {
        uint64_t at;
        size_t undo_count;
        struct cell *appended_last;
    } marks[MARKS_DEEP];
    struct cell *spill; /* where to write once memory has failed; holds any record */
};

/* Types that stay in memory between transactions. */
static const bool stays[RECORD__COUNT] = {
    [RECORD_NODE] = true,        [RECORD_NAME] = true,    [RECORD_COUNTER] = true,
    [RECORD_NODE_MONTH] = true,  [RECORD_CLUSTER] = true, [RECORD_RATE_VERSION] = true,
    [RECORD_RATE_ROW] = true,    [RECORD_GRANT] = true,   [RECORD_ROOT_STATE] = true,
    [RECORD_DIMS] = true,        [RECORD_USAGE] = true,   [RECORD_SEQUENCE] = true,
    [RECORD_PAYER_MONTH] = true,
};

/* Written in this order, so that what is referred to is there first. */
static const enum record_id flush_order[RECORD__COUNT] = {
    RECORD_SEQUENCE,     RECORD_NODE,        RECORD_NAME,         RECORD_CLUSTER,
    RECORD_ROOT_STATE,   RECORD_ZONE_STEP,   RECORD_COUNTER,      RECORD_NODE_MONTH,
    RECORD_RATE_VERSION, RECORD_RATE_ROW,    RECORD_GRANT,        RECORD_MOVEMENT,
    RECORD_DIMS,         RECORD_HOLD,        RECORD_HOLD_ID,      RECORD_JOB,
    RECORD_TASK,         RECORD_RUN,         RECORD_RUN_HOST,     RECORD_ADJUSTMENT,
    RECORD_WAITING,      RECORD_USAGE,       RECORD_FEED_EVENT,   RECORD_ENTRY,
    RECORD_CHAIN_LINK,   RECORD_TOKEN,       RECORD_UNATTRIBUTED, RECORD_PAYER_MONTH,
    RECORD_PERIOD,       RECORD_CLOSE_GRANT, RECORD_CLOSE_PAYER,  RECORD_CHAIN_NOTE,
    RECORD_RELEASE,      RECORD_AUDIT,       RECORD_WEBHOOK,      RECORD_ALERT,
    RECORD_ALERT_STATE,  RECORD_DELIVERY,
};

static void *record_of(struct cell *cell)
{
    return cell + 1;
}

bool cell_exists(const struct cell *cell)
{
    return cell->exists;
}

const void *cell_record(const struct cell *cell)
{
    return cell + 1;
}

/* ---- keys */

static struct key_shape shape_of(const struct record_type *type)
{
    struct key_shape shape = {0};
    for (size_t i = 0; i < type->key_count; i++) {
        const struct record_field *field = &type->fields[i];
        if (field->kind == FIELD_I64) {
            assert(shape.tail_size == 0 && field->offset == (size_t)shape.integers * 8);
            shape.integers++;
        } else {
            assert(shape.tail_size == 0 && i + 1 == type->key_count);
            assert(field->kind == FIELD_TEXT || field->kind == FIELD_BLOB);
            shape.tail_at = field->offset;
            shape.tail_size = field->size;
            shape.tail_is_text = field->kind == FIELD_TEXT;
        }
    }
    assert(shape.integers <= KEY_INTEGERS);
    return shape;
}

static uint64_t mix(uint64_t hash, uint64_t word)
{
    uint64_t x = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return x ^ (x >> 29);
}

static size_t tail_length(const struct key_shape *shape, const char *tail)
{
    return shape->tail_is_text ? strnlen(tail, shape->tail_size) : shape->tail_size;
}

static uint64_t key_hash(const struct key_shape *shape, enum record_id type, const void *key)
{
    uint64_t hash = mix(UINT64_C(0x51ed270b7f9c1d35), (uint64_t)type);
    const char *bytes = key;
    for (int i = 0; i < shape->integers; i++) {
        uint64_t word;
        memcpy(&word, bytes + (size_t)i * 8, 8);
        hash = mix(hash, word);
    }
    if (shape->tail_size > 0) {
        const char *tail = bytes + shape->tail_at;
        size_t left = tail_length(shape, tail);
        for (; left >= 8; left -= 8, tail += 8) {
            uint64_t word;
            memcpy(&word, tail, 8);
            hash = mix(hash, word);
        }
        uint64_t last = left;
        memcpy(&last, tail, left);
        hash = mix(hash, last ^ ((uint64_t)left << 56));
    }
    return mix(hash, hash >> 32);
}

static bool key_equal(const struct key_shape *shape, const void *a, const void *b)
{
    if (memcmp(a, b, (size_t)shape->integers * 8) != 0) {
        return false;
    }
    if (shape->tail_size == 0) {
        return true;
    }
    const char *tail_a = (const char *)a + shape->tail_at;
    const char *tail_b = (const char *)b + shape->tail_at;
    return shape->tail_is_text ? strncmp(tail_a, tail_b, shape->tail_size) == 0
                               : memcmp(tail_a, tail_b, shape->tail_size) == 0;
}

static void key_copy(const struct key_shape *shape, void *to, const void *from)
{
    memcpy(to, from, (size_t)shape->integers * 8);
    if (shape->tail_size > 0) {
        char *tail = (char *)to + shape->tail_at;
        const char *source = (const char *)from + shape->tail_at;
        size_t length = tail_length(shape, source);
        memcpy(tail, source, length);
        if (length < shape->tail_size) {
            tail[length] = '\0';
        }
    }
}

/* ---- tables */

static bool table_init(struct table *table)
{
    table->buckets = calloc(BUCKETS_FIRST, sizeof(struct cell *));
    table->mask = BUCKETS_FIRST - 1;
    table->count = 0;
    return table->buckets != NULL;
}

static void table_clear(struct table *table)
{
    if (table->count > 0) {
        memset(table->buckets, 0, (table->mask + 1) * sizeof(struct cell *));
        table->count = 0;
    }
}

/* Twice the buckets; when there is no memory for them, chains grow longer instead. */
static void table_grow(struct table *table)
{
    size_t mask = table->mask * 2 + 1;
    struct cell **buckets = calloc(mask + 1, sizeof(struct cell *));
    if (buckets == NULL) {
        return;
    }
    for (size_t i = 0; i <= table->mask; i++) {
        struct cell *cell = table->buckets[i];
        while (cell != NULL) {
            struct cell *next = cell->next_in_bucket;
            cell->next_in_bucket = buckets[cell->hash & mask];
            buckets[cell->hash & mask] = cell;
            cell = next;
        }
    }
    free(table->buckets);
    table->buckets = buckets;
    table->mask = mask;
}

static void table_add(struct table *table, struct cell *cell)
{
    if (table->count > table->mask) {
        table_grow(table);
    }
    cell->next_in_bucket = table->buckets[cell->hash & table->mask];
    table->buckets[cell->hash & table->mask] = cell;
    table->count++;
}

/* ---- the set */

enum error_code working_set_create(struct store *store,
                                   int64_t cache_bytes,
                                   struct working_set **ret_set,
                                   struct error *err)
{
    struct working_set *set = calloc(1, sizeof *set);
    if (set == NULL) {
        return error_set(err, ERR_UNAVAILABLE, "out of memory for the working set");
    }
    set->store = store;
    set->cache_bytes = cache_bytes;
    set->generation = 1;
    for (int id = 0; id < RECORD__COUNT; id++) {
        set->shapes[id] = shape_of(&record_types[id]);
        if (record_types[id].bytes > set->largest_bytes) {
            set->largest_bytes = record_types[id].bytes;
        }
    }
    arena_init(&set->arenas[0]);
    arena_init(&set->arenas[1]);
    arena_init(&set->undo_arena);
    set->spill = calloc(1, sizeof(struct cell) + set->largest_bytes);
    if (set->spill == NULL || !table_init(&set->tables[0]) || !table_init(&set->tables[1])) {
        working_set_destroy(set);
        return error_set(err, ERR_UNAVAILABLE, "out of memory for the working set");
    }
    *ret_set = set;
    return ERR_OK;
}

void working_set_destroy(struct working_set *set)
{
    if (set == NULL) {
        return;
    }
    for (int i = 0; i < 2; i++) {
        free(set->tables[i].buckets);
        arena_fini(&set->arenas[i]);
    }
    arena_fini(&set->undo_arena);
    free(set->undos);
    free(set->spill);
    free(set);
}

static void forget(struct working_set *set, int which)
{
    table_clear(&set->tables[which]);
    arena_reset(&set->arenas[which]);
    if (which == 1) {
        set->generation++;
    }
}

/* Nothing changed, nothing to undo, nothing failed. */
static void forget_changes(struct working_set *set)
{
    memset(set->dirty, 0, sizeof set->dirty);
    set->removals = false;
    set->appended = (struct list){0};
    set->undo_count = 0;
    set->depth = 0;
    arena_reset(&set->undo_arena);
    error_clear(&set->failure);
}

enum error_code working_set_begin(struct working_set *set, struct error *err)
{
    forget_changes(set);
    return store_begin(set->store, err);
}

void working_set_abort(struct working_set *set)
{
    store_rollback(set->store);
    forget(set, 0);
    forget(set, 1);
    forget_changes(set);
}

enum error_code working_set_failure(const struct working_set *set, struct error *err)
{
    if (set->failure.code != ERR_OK && err != NULL) {
        *err = set->failure;
    }
    return set->failure.code;
}

void working_set_fail(struct working_set *set, const struct error *err)
{
    if (set->failure.code == ERR_OK) {
        set->failure = *err;
    }
}

void working_set_fail_memory(struct working_set *set, const char *what)
{
    struct error err;
    (void)error_set(&err, ERR_UNAVAILABLE, "out of memory for %s", what);
    working_set_fail(set, &err);
}

uint64_t working_set_generation(const struct working_set *set)
{
    return set->generation;
}

void working_set_touch(struct working_set *set)
{
    set->generation++;
}

int64_t working_set_cached_bytes(const struct working_set *set)
{
    return (int64_t)set->arenas[1].used_bytes;
}

/* ---- cells */

static struct cell *cell_create(struct working_set *set, enum record_id type)
{
    struct cell *cell = arena_alloc(&set->arenas[stays[type] ? 1 : 0],
                                    sizeof(struct cell) + record_types[type].bytes);
    if (cell == NULL) {
        working_set_fail_memory(set, "a transaction");
        cell = set->spill;
        memset(cell, 0, sizeof *cell + set->largest_bytes);
    }
    *cell = (struct cell){.type = (uint8_t)type};
    return cell;
}

/* Fill a new cell from the store. False after a failure, now or before. */
static bool read_cell(struct working_set *set, struct cell *cell)
{
    struct error err = {.code = ERR_OK};
    bool found = false;
    if (cell == set->spill || set->failure.code != ERR_OK) {
        return false;
    }
    if (store_get(set->store, &record_types[cell->type], record_of(cell), &found, &err) != ERR_OK) {
        working_set_fail(set, &err);
        return false;
    }
    cell->exists = found;
    cell->stored = found;
    return true;
}

/* The cell of a key; one that is not in memory is asked of the store, unless the caller knows better. */
static struct cell *find(struct working_set *set,
                         enum record_id type,
                         const void *key,
                         bool is_stored_perhaps)
{
    const struct key_shape *shape = &set->shapes[type];
    uint64_t hash = key_hash(shape, type, key);
    struct table *table = &set->tables[stays[type] ? 1 : 0];
    struct cell *cell = table->buckets[hash & table->mask];
    for (; cell != NULL; cell = cell->next_in_bucket) {
        if (cell->hash == hash && cell->type == type && key_equal(shape, cell + 1, key)) {
            return cell;
        }
    }
    cell = cell_create(set, type);
    cell->hash = hash;
    key_copy(shape, record_of(cell), key);
    bool is_known = is_stored_perhaps ? read_cell(set, cell)
                                      : cell != set->spill && set->failure.code == ERR_OK;
    if (is_known) {
        table_add(table, cell);
    } else {
        /* It may be written to, and is thrown away with the transaction. */
        memset(record_of(cell), 0, record_types[type].bytes);
        key_copy(shape, record_of(cell), key);
    }
    return cell;
}

struct cell *working_set_find(struct working_set *set, enum record_id type, const void *key)
{
    return find(set, type, key, true);
}

struct cell *working_set_find_new(struct working_set *set, enum record_id type, const void *key)
{
    return find(set, type, key, false);
}

static void list_push(struct list *list, struct cell *cell)
{
    cell->next_dirty = NULL;
    if (list->last == NULL) {
        list->first = cell;
    } else {
        list->last->next_dirty = cell;
    }
    list->last = cell;
}

/* Remember the state before the first change under the innermost mark. */
static void save(struct working_set *set, struct cell *cell)
{
    if (set->depth == 0 || cell->saved_at >= set->marks[set->depth - 1].at) {
        return;
    }
    if (set->undo_count == set->undo_capacity) {
        size_t capacity = set->undo_capacity == 0 ? 256 : set->undo_capacity * 2;
        struct undo *undos = realloc(set->undos, capacity * sizeof *undos);
        if (undos == NULL) {
            working_set_fail_memory(set, "a transaction");
            return;
        }
        set->undos = undos;
        set->undo_capacity = capacity;
    }
    struct undo undo = {.cell = cell, .saved_at = cell->saved_at, .existed = cell->exists};
    if (cell->exists) {
        size_t bytes = record_types[cell->type].bytes;
        undo.record = arena_alloc(&set->undo_arena, bytes);
        if (undo.record == NULL) {
            working_set_fail_memory(set, "a transaction");
            return;
        }
        memcpy(undo.record, cell + 1, bytes);
    }
    set->undos[set->undo_count++] = undo;
    cell->saved_at = set->marks[set->depth - 1].at;
}

/* It differs from what is stored. */
static void soil(struct working_set *set, struct cell *cell)
{
    if (!cell->dirty && cell != set->spill) {
        cell->dirty = true;
        list_push(&set->dirty[cell->type], cell);
    }
}

void *working_set_change(struct working_set *set, struct cell *cell)
{
    assert(cell->exists || set->failure.code != ERR_OK);
    save(set, cell);
    soil(set, cell);
    return record_of(cell);
}

/* A record that did not exist does now; what is in it is the caller's. */
static void begin_record(struct working_set *set, struct cell *cell)
{
    assert(!cell->exists || set->failure.code != ERR_OK);
    save(set, cell);
    soil(set, cell);
    cell->exists = true;
    cell->renew = cell->stored;
    set->removals = set->removals || cell->renew;
}

void *working_set_make(struct working_set *set, struct cell *cell)
{
    const struct key_shape *shape = &set->shapes[cell->type];
    size_t key_bytes =
        shape->tail_size > 0 ? shape->tail_at + shape->tail_size : (size_t)shape->integers * 8;
    begin_record(set, cell);
    memset((char *)record_of(cell) + key_bytes, 0, record_types[cell->type].bytes - key_bytes);
    return record_of(cell);
}

void *working_set_write(struct working_set *set, struct cell *cell)
{
    if (cell->exists) {
        return working_set_change(set, cell);
    }
    begin_record(set, cell);
    return record_of(cell);
}

void *working_set_put(struct working_set *set, struct cell *cell)
{
    return cell->exists ? working_set_change(set, cell) : working_set_make(set, cell);
}

void working_set_remove(struct working_set *set, struct cell *cell)
{
    assert(cell->exists || set->failure.code != ERR_OK);
    save(set, cell);
    soil(set, cell);
    set->removals = set->removals || cell->stored;
    cell->exists = false;
}

void *working_set_append(struct working_set *set, enum record_id type)
{
    struct cell *cell = cell_create(set, type);
    memset(record_of(cell), 0, record_types[type].bytes);
    if (cell != set->spill) {
        cell->exists = true;
        list_push(&set->appended, cell);
    }
    return record_of(cell);
}

const void *working_set_appended(const struct working_set *set,
                                 enum record_id type,
                                 const struct cell **position)
{
    const struct cell *cell = *position == NULL ? set->appended.first : (*position)->next_dirty;
    while (cell != NULL && cell->type != type) {
        cell = cell->next_dirty;
    }
    if (cell == NULL) {
        return NULL;
    }
    *position = cell;
    return cell + 1;
}

/* ---- undoing */

void working_set_mark(struct working_set *set)
{
    assert(set->depth < MARKS_DEEP);
    set->marks[set->depth++] = (struct mark){
        .at = ++set->mark_clock,
        .undo_count = set->undo_count,
        .appended_last = set->appended.last,
    };
}

void working_set_release(struct working_set *set)
{
    assert(set->depth > 0);
    set->depth--;
    if (set->depth == 0) {
        set->undo_count = 0;
        arena_reset(&set->undo_arena);
    }
}

void working_set_rollback(struct working_set *set)
{
    assert(set->depth > 0);
    const struct mark *mark = &set->marks[--set->depth];
    set->generation++;
    while (set->undo_count > mark->undo_count) {
        struct undo *undo = &set->undos[--set->undo_count];
        struct cell *cell = undo->cell;
        soil(set, cell); /* where it was written early, the old state must be written again */
        cell->exists = undo->existed;
        cell->renew = cell->stored && cell->exists;
        set->removals = set->removals || cell->stored;
        if (undo->record != NULL) {
            memcpy(record_of(cell), undo->record, record_types[cell->type].bytes);
        }
        cell->saved_at = undo->saved_at;
    }
    if (mark->appended_last == NULL) {
        set->appended = (struct list){0};
    } else {
        set->appended.last = mark->appended_last;
        set->appended.last->next_dirty = NULL;
    }
    if (set->depth == 0) {
        arena_reset(&set->undo_arena);
    }
}

/* ---- writing */

static enum error_code write_removal(struct working_set *set, struct cell *cell, struct error *err)
{
    if (!cell->stored || (cell->exists && !cell->renew)) {
        return ERR_OK;
    }
    cell->stored = false;
    cell->renew = false;
    return store_remove(set->store, &record_types[cell->type], cell + 1, err);
}

/* Take out of the store what is there no more, children before what they refer to. */
static enum error_code write_removals(struct working_set *set, struct error *err)
{
    enum error_code code = ERR_OK;
    for (int i = RECORD__COUNT - 1; i >= 0 && set->removals; i--) {
        struct cell *cell = set->dirty[flush_order[i]].first;
        for (; cell != NULL && code == ERR_OK; cell = cell->next_dirty) {
            code = write_removal(set, cell, err);
        }
    }
    set->removals = false;
    return code;
}

/* New records of one type on their way into the store together. */
struct inserts {
    const struct record_type *type;
    size_t count;
    const void *records[64];
};

static enum error_code inserts_write(struct working_set *set,
                                     struct inserts *inserts,
                                     struct error *err)
{
    size_t count = inserts->count;
    inserts->count = 0;
    return count == 0 ? ERR_OK
                      : store_insert_many(set->store, inserts->type, inserts->records, count, err);
}

/* Take one more; what came before is written first when it is of another type or enough. */
static enum error_code inserts_add(struct working_set *set,
                                   struct inserts *inserts,
                                   struct cell *cell,
                                   struct error *err)
{
    const struct record_type *type = &record_types[cell->type];
    enum error_code code = ERR_OK;
    if (inserts->type != type || inserts->count == ARRAY_LEN(inserts->records)) {
        code = inserts_write(set, inserts, err);
    }
    inserts->type = type;
    inserts->records[inserts->count++] = cell + 1;
    return code;
}

static enum error_code write_cell(struct working_set *set,
                                  struct inserts *inserts,
                                  struct cell *cell,
                                  struct error *err)
{
    const struct record_type *type = &record_types[cell->type];
    cell->dirty = false;
    if (!cell->exists) {
        return ERR_OK;
    }
    bool stored = cell->stored;
    cell->stored = true;
    return stored ? store_put(set->store, type, cell + 1, err)
                  : inserts_add(set, inserts, cell, err);
}

static enum error_code write_changes(struct working_set *set, struct error *err)
{
    struct inserts inserts = {.count = 0};
    enum error_code code = write_removals(set, err);
    for (int i = 0; i < RECORD__COUNT && code == ERR_OK; i++) {
        struct list *list = &set->dirty[flush_order[i]];
        while (list->first != NULL && code == ERR_OK) {
            struct cell *cell = list->first;
            list->first = cell->next_dirty;
            code = write_cell(set, &inserts, cell, err);
        }
        list->last = NULL;
    }
    return code == ERR_OK ? inserts_write(set, &inserts, err) : code;
}

static enum error_code write_appended(struct working_set *set, struct error *err)
{
    struct inserts inserts = {.count = 0};
    enum error_code code = ERR_OK;
    for (struct cell *cell = set->appended.first; cell != NULL && code == ERR_OK;
         cell = cell->next_dirty) {
        code = inserts_add(set, &inserts, cell, err);
    }
    return code == ERR_OK ? inserts_write(set, &inserts, err) : code;
}

enum error_code working_set_commit(struct working_set *set, struct error *err)
{
    assert(set->depth == 0);
    enum error_code code = working_set_failure(set, err);
    if (code == ERR_OK) {
        code = write_changes(set, err);
    }
    if (code == ERR_OK) {
        code = write_appended(set, err);
    }
    if (code == ERR_OK) {
        code = store_commit(set->store, err);
    }
    if (code != ERR_OK) {
        working_set_abort(set);
        return code;
    }
    forget_changes(set);
    forget(set, 0);
    if (working_set_cached_bytes(set) > set->cache_bytes) {
        forget(set, 1);
    }
    return ERR_OK;
}

void working_set_select(struct working_set *set,
                        enum select_kind select,
                        const struct select_args *args,
                        store_row_fn row,
                        void *context)
{
    struct error err = {0};
    enum error_code code = set->failure.code;
    if (code == ERR_OK && set->dirty[select_types[select].record].first != NULL) {
        code = write_changes(set, &err);
    }
    if (code == ERR_OK) {
        code = store_select(set->store, select, args, row, context, &err);
    }
    if (code != ERR_OK) {
        working_set_fail(set, &err);
    }
}

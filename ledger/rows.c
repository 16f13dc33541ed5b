/* See rows.h. */
#include "ledger/rows.h"

#include <string.h>

struct cell *row_find(struct working_set *set, enum record_id type, int64_t no)
{
    return working_set_find(set, type, &no);
}

struct cell *row_find2(struct working_set *set, enum record_id type, int64_t a, int64_t b)
{
    const int64_t key[] = {a, b};
    return working_set_find(set, type, key);
}

struct cell *row_find3(struct working_set *set,
                       enum record_id type,
                       int64_t a,
                       int64_t b,
                       int64_t c)
{
    const int64_t key[] = {a, b, c};
    return working_set_find(set, type, key);
}

void row_text(char *to, size_t bytes, const char *from)
{
    size_t length = strlen(from);
    assert(length < bytes);
    memcpy(to, from, length + 1);
}

struct cell *row_find_name(struct working_set *set,
                           enum name_space space,
                           int64_t scope_no,
                           const char *name)
{
    struct {
        int64_t space;
        int64_t scope_no;
        char name[RECORD_NAME_BYTES];
    } key;
    key.space = space;
    key.scope_no = scope_no;
    row_text(key.name, sizeof key.name, name);
    return working_set_find(set, RECORD_NAME, &key);
}

int64_t row_name_target(struct working_set *set,
                        enum name_space space,
                        int64_t scope_no,
                        const char *name)
{
    const struct cell *cell = row_find_name(set, space, scope_no, name);
    return cell_exists(cell) ? ((const struct name *)cell_record(cell))->target_no : 0;
}

void row_add_name(struct working_set *set,
                  enum name_space space,
                  int64_t scope_no,
                  const char *name,
                  int64_t target_no)
{
    struct name *row = working_set_make(set, row_find_name(set, space, scope_no, name));
    row->target_no = target_no;
    row->version = 1;
}

struct cell *row_find_hold_id(struct working_set *set, int64_t cluster_no, const char *id)
{
    struct {
        int64_t cluster_no;
        char id[RECORD_ID_BYTES];
    } key;
    key.cluster_no = cluster_no;
    row_text(key.id, sizeof key.id, id);
    return working_set_find(set, RECORD_HOLD_ID, &key);
}

struct cell *row_find_job(struct working_set *set,
                          int64_t cluster_no,
                          bool by_key,
                          const char *text)
{
    struct {
        int64_t cluster_no;
        int64_t by_key;
        char key[RECORD_KEY_BYTES];
    } key;
    key.cluster_no = cluster_no;
    key.by_key = by_key ? 1 : 0;
    row_text(key.key, sizeof key.key, text);
    return working_set_find(set, RECORD_JOB, &key);
}

const void *row_get(struct working_set *set, enum record_id type, int64_t no)
{
    struct cell *cell = row_find(set, type, no);
    if (cell_exists(cell)) {
        return cell_record(cell);
    }
    struct error err;
    (void)error_set(&err, ERR_INTERNAL, "the ledger is damaged: no %s %lld",
                    record_types[type].name, (long long)no);
    working_set_fail(set, &err);
    return NULL;
}

static struct cell *sequence_cell(struct working_set *set, const char *name)
{
    char key[sizeof((struct sequence *)0)->name] = {0};
    row_text(key, sizeof key, name);
    return working_set_find(set, RECORD_SEQUENCE, key);
}

int64_t row_next_no(struct working_set *set, const char *sequence)
{
    const struct cell *cell = sequence_cell(set, sequence);
    return cell_exists(cell) ? ((const struct sequence *)cell_record(cell))->last + 1 : 1;
}

int64_t row_take_no(struct working_set *set, const char *sequence)
{
    struct sequence *row = working_set_put(set, sequence_cell(set, sequence));
    return ++row->last;
}

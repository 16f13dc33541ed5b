#include "tests/ledger/store/engines.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <criterion/criterion.h>

void engine_init(struct engine *engine, const char *scheme)
{
    static int made;
    *engine = (struct engine){.scheme = scheme};
    if (strcmp(scheme, "memory") == 0) {
        (void)snprintf(engine->url, sizeof engine->url, "memory:contract%d", made++);
    } else {
        (void)snprintf(engine->folder, sizeof engine->folder, "/tmp/corehour-store-XXXXXX");
        cr_assert(mkdtemp(engine->folder) != NULL);
        (void)snprintf(engine->url, sizeof engine->url, "sqlite:%s/ledger.db", engine->folder);
    }
    OK(store_open(engine->url, STORE_CREATE, &engine->store, err));
}

void engine_fini(struct engine *engine)
{
    store_close(engine->store);
    if (engine->folder[0] == '\0') {
        return;
    }
    DIR *folder = opendir(engine->folder);
    for (struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;) {
        (void)unlinkat(dirfd(folder), entry->d_name, 0);
    }
    (void)closedir(folder);
    (void)rmdir(engine->folder);
}

void engine_put_parents(struct engine *engine)
{
    OK(store_begin(engine->store, err));
    for (int64_t i = 0; i < PARENTS; i++) {
        struct node node = {.node_no = i, .root_no = i};
        struct cluster cluster = {.cluster_no = i};
        struct dims dims = {.dims_no = i, .project_no = i, .cluster_no = i};
        OK(store_put(engine->store, &record_types[RECORD_NODE], &node, err));
        OK(store_put(engine->store, &record_types[RECORD_CLUSTER], &cluster, err));
        OK(store_put(engine->store, &record_types[RECORD_DIMS], &dims, err));
        for (int64_t version = 0; version < PARENTS; version++) {
            struct rate_version row = {.cluster_no = i, .version = version};
            OK(store_put(engine->store, &record_types[RECORD_RATE_VERSION], &row, err));
        }
    }
    OK(store_commit(engine->store, err));
}

/* What the schema's CHECKs and foreign keys allow, where it is not everything. */
static const struct range {
    const char *record;
    const char *field;
    int64_t low;
    int64_t high;
} ranges[] = {
    {"node", "overdraft_mcs", 0, INT64_MAX},
    {"counter", "node_no", 0, PARENTS - 1},
    {"counter", "frozen_mcs", 0, INT64_MAX},
    {"counter", "waiting_mcs", 0, INT64_MAX},
    {"counter", "jobs", 0, INT64_MAX},
    {"counter", "mcores", 0, INT64_MAX},
    {"counter", "mgpus", 0, INT64_MAX},
    {"counter", "open_tasks", 0, INT64_MAX},
    {"counter", "waiting_tasks", 0, INT64_MAX},
    {"node_month", "node_no", 0, PARENTS - 1},
    {"rate_version", "cluster_no", 0, PARENTS - 1},
    {"rate_row", "cluster_no", 0, PARENTS - 1},
    {"rate_row", "version", 0, PARENTS - 1},
    {"grant", "node_no", 0, PARENTS - 1},
    {"grant", "granted_mcs", 0, INT64_MAX},
    {"grant", "in_mcs", 0, INT64_MAX},
    {"grant", "out_mcs", 0, INT64_MAX},
    {"grant", "withdrawn_mcs", 0, INT64_MAX},
    {"grant", "frozen_mcs", 0, INT64_MAX},
    {"hold", "root_no", 1, 1}, /* fixed: a put does not change it */
    {"hold", "cluster_no", 1, 1},
    {"hold", "project_no", 1, 1},
    {"hold", "untouched", 0, INT64_MAX},
    {"hold", "count_waiting", 0, LIMIT_TASKS},
    {"hold", "count_frozen", 0, LIMIT_TASKS},
    {"hold", "count_running", 0, LIMIT_TASKS},
    {"hold", "count_suspended", 0, LIMIT_TASKS},
    {"hold", "frozen_mcs", 0, INT64_MAX},
    {"hold", "used_mcs", 0, INT64_MAX},
    {"run", "frozen_mcs", 0, INT64_MAX},
    {"run", "charged_mcs", 0, INT64_MAX},
    {"run", "refunded_mcs", 0, INT64_MAX},
    {"entry", "amount_mcs", 1, INT64_MAX},
    {"root_state", "root_no", 0, PARENTS - 1},
    {"dims", "project_no", 0, PARENTS - 1},
    {"dims", "cluster_no", 0, PARENTS - 1},
    {"usage", "dims_no", 0, PARENTS - 1},
    {"usage", "kind", 0, 3},
    {"zone_step", "root_no", 0, PARENTS - 1},
    {"period", "root_no", 0, PARENTS - 1},
    {"period", "sealed", 0, 1},
};

static struct range range_of(const struct record_type *type, const struct record_field *field)
{
    for (size_t i = 0; i < ARRAY_LEN(ranges); i++) {
        if (strcmp(ranges[i].record, type->name) == 0 &&
            strcmp(ranges[i].field, field->name) == 0) {
            return ranges[i];
        }
    }
    return (struct range){.low = INT64_MIN, .high = INT64_MAX};
}

/* Often a bound, zero, or a number next to where SQLite changes the size of an integer. */
static int64_t random_integer(struct test_random *random, int64_t low, int64_t high)
{
    static const int64_t edges[] = {
        0,
        1,
        -1,
        127,
        128,
        -129,
        32767,
        32768,
        8388607,
        8388608,
        INT32_MAX,
        INT32_MIN,
        INT64_MAX,
        INT64_MIN,
        1LL << 47,
        -(1LL << 47) - 1,
        (1LL << 53) - 1,
        1796058251000,
    };
    int64_t value = test_random_chance(random, 1, 2)
                        ? edges[test_random_range(random, 0, ARRAY_LEN(edges) - 1)]
                        : (int64_t)test_random_next(random);
    if (value < low || value > high) {
        value = test_random_chance(random, 1, 2) ? low : high;
    }
    return value;
}

static int64_t integer_between(struct test_random *random, bool small, int64_t low, int64_t high)
{
    if (!small) {
        return random_integer(random, low, high);
    }
    return test_random_range(random, low > 0 ? low : 0, high < 3 ? high : 3);
}

/* UTF-8 of one to four bytes a character, as long as it fits. */
static void random_text(struct test_random *random, bool small, char *text, size_t bytes)
{
    static const char *const characters[] = {"a", "B", "-", "'", "\"", "é", "核", "𝄞", "\x01", "%"};
    size_t want = small ? (size_t)test_random_range(random, 0, 1)
                        : (size_t)test_random_range(random, 0, (int64_t)bytes - 1);
    want = test_random_chance(random, 1, 4) && !small ? bytes - 1 : want;
    size_t length = 0;
    while (length < want) {
        const char *character =
            characters[small ? test_random_range(random, 0, 1) : test_random_range(random, 0, 9)];
        size_t size = strlen(character);
        if (length + size > want) {
            character = "z";
            size = 1;
        }
        memcpy(text + length, character, size);
        length += size;
    }
    text[length] = '\0';
}

static void random_list(struct test_random *random,
                        bool small,
                        const struct record_field *field,
                        void *record)
{
    int32_t count = (int32_t)test_random_range(random, 0, small ? 2 : (int64_t)field->size);
    count = !small && test_random_chance(random, 1, 4) ? (int32_t)field->size : count;
    memcpy((char *)record + field->count_offset, &count, sizeof count);
    for (size_t i = 0; i < (size_t)count * field->columns; i++) {
        int64_t value = integer_between(random, small, INT64_MIN, INT64_MAX);
        memcpy((char *)record + field->offset + i * sizeof value, &value, sizeof value);
    }
}

void random_record(struct test_random *random,
                   const struct record_type *type,
                   bool small,
                   void *ret_record)
{
    memset(ret_record, 0xa5, type->bytes);
    for (size_t f = 0; f < type->field_count; f++) {
        const struct record_field *field = &type->fields[f];
        char *at = (char *)ret_record + field->offset;
        struct range range = range_of(type, field);
        switch (field->kind) {
        case FIELD_I64: {
            int64_t value = integer_between(random, small, range.low, range.high);
            memcpy(at, &value, sizeof value);
            break;
        }
        case FIELD_I32: {
            int32_t value = (int32_t)test_random_range(random, 0, 1);
            memcpy(at, &value, sizeof value);
            break;
        }
        case FIELD_TEXT:
            random_text(random, small, at, field->size);
            break;
        case FIELD_BLOB:
            for (size_t i = 0; i < field->size; i++) {
                at[i] = (char)test_random_range(random, 0, 255);
            }
            break;
        case FIELD_LIST:
            random_list(random, small, field, ret_record);
            break;
        }
    }
}

void record_keep_fixed(const struct record_type *type, const void *from, void *to)
{
    for (size_t f = 0; f < type->field_count; f++) {
        const struct record_field *field = &type->fields[f];
        if (field->fixed) {
            memcpy((char *)to + field->offset, (const char *)from + field->offset, sizeof(int64_t));
        }
    }
}

/*
 * One contract, every engine.
 */
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "ledger/store/record_value.h"
#include "tests/ledger/store/engines.h"

/* ---- records round trip ------------------------------------------------------------------------ */

enum { ROWS = 24 };

static union record_any rows[ROWS];

/* The place of a record's key among the first `count` rows, or `count`. */
static size_t place_of(const struct record_type *type, const void *record, size_t count)
{
    size_t i = 0;
    while (i < count && !record_key_equal(type, &rows[i], record)) {
        i++;
    }
    return i;
}

static void copy_key(const struct record_type *type, const void *record, union record_any *ret_key)
{
    memset(ret_key, 0x5a, sizeof *ret_key);
    for (size_t i = 0; i < type->key_count; i++) {
        const struct record_field *field = &type->fields[i];
        size_t bytes = field->kind == FIELD_TEXT || field->kind == FIELD_BLOB
                           ? field->size
                           : (field->kind == FIELD_I64 ? 8 : 4);
        memcpy((char *)ret_key + field->offset, (const char *)record + field->offset, bytes);
    }
}

static void expect_stored(struct engine *engine, const struct record_type *type, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        union record_any found;
        copy_key(type, &rows[i], &found);
        bool there = false;
        OK(store_get(engine->store, type, &found, &there, err));
        cr_assert(there, "%s %zu is missing", type->name, i);
        cr_assert(record_equal(type, &rows[i], &found), "%s %zu differs", type->name, i);
    }
}

ON_EVERY_ENGINE(store, every_record_comes_back_as_it_was_put)
{
    struct test_random random;
    test_random_init(&random, "every_record_comes_back_as_it_was_put");
    engine_put_parents(engine);
    for (size_t t = 0; t < RECORD__COUNT; t++) {
        const struct record_type *type = &record_types[t];
        size_t count = 0;
        OK(store_begin(engine->store, err));
        for (int64_t i = 0; i < test_rounds(ROWS); i++) {
            union record_any record;
            random_record(&random, type, i % 3 == 0, &record);
            size_t place = place_of(type, &record, count);
            if (place == ROWS || (type->append_only && place < count)) {
                continue;
            }
            if (place < count) {
                record_keep_fixed(type, &rows[place], &record);
            }
            rows[place] = record;
            count += place == count;
            if (type->append_only) {
                OK(store_insert(engine->store, type, &record, err));
            } else {
                OK(store_put(engine->store, type, &record, err));
            }
        }
        expect_stored(engine, type, count);
        OK(store_commit(engine->store, err));
        expect_stored(engine, type, count);
    }
}

ON_EVERY_ENGINE(store, an_inserted_record_comes_back_and_a_removed_one_does_not)
{
    struct test_random random;
    test_random_init(&random, "an_inserted_record_comes_back_and_a_removed_one_does_not");
    engine_put_parents(engine);
    for (size_t t = 0; t < RECORD__COUNT; t++) {
        const struct record_type *type = &record_types[t];
        union record_any record;
        bool found = true;
        do {
            random_record(&random, type, false, &record);
            union record_any there = record;
            OK(store_get(engine->store, type, &there, &found, err));
        } while (found);
        OK(store_begin(engine->store, err));
        OK(store_insert(engine->store, type, &record, err));
        OK(store_commit(engine->store, err));
        rows[0] = record;
        expect_stored(engine, type, 1);
        if (type->append_only) {
            continue;
        }
        OK(store_begin(engine->store, err));
        OK(store_remove(engine->store, type, &record, err));
        OK(store_remove(engine->store, type, &record, err));
        OK(store_commit(engine->store, err));
        OK(store_get(engine->store, type, &record, &found, err));
        cr_assert_not(found, "%s is still there", type->name);
    }
}

ON_EVERY_ENGINE(store, an_insert_of_a_key_that_is_there_is_refused_and_changes_nothing)
{
    struct sequence sequence = {.name = "hold", .last = 1};
    const struct record_type *type = &record_types[RECORD_SEQUENCE];
    OK(store_begin(engine->store, err));
    OK(store_insert(engine->store, type, &sequence, err));
    OK(store_commit(engine->store, err));
    OK(store_begin(engine->store, err));
    sequence.last = 2;
    struct error refusal;
    cr_assert_eq(store_insert(engine->store, type, &sequence, &refusal), ERR_INTERNAL);
    store_rollback(engine->store);
    bool found = false;
    OK(store_get(engine->store, type, &sequence, &found, err));
    cr_assert(found);
    cr_assert_eq(sequence.last, 1);
}

ON_EVERY_ENGINE(store, a_rollback_leaves_everything_as_it_was)
{
    struct test_random random;
    test_random_init(&random, "a_rollback_leaves_everything_as_it_was");
    const struct record_type *type = &record_types[RECORD_JOB];
    OK(store_begin(engine->store, err));
    size_t count = 0;
    while (count < ROWS) {
        random_record(&random, type, false, &rows[count]);
        if (place_of(type, &rows[count], count) == count) {
            OK(store_put(engine->store, type, &rows[count], err));
            count++;
        }
    }
    OK(store_commit(engine->store, err));
    OK(store_begin(engine->store, err));
    for (size_t i = 0; i < 200; i++) {
        union record_any record = rows[test_random_range(&random, 0, ROWS - 1)];
        if (test_random_chance(&random, 1, 3)) {
            OK(store_remove(engine->store, type, &record, err));
        } else {
            record.job.hold_no = test_random_range(&random, 0, 1000);
            OK(store_put(engine->store, type, &record, err));
        }
        random_record(&random, type, false, &record);
        OK(store_put(engine->store, type, &record, err));
    }
    store_rollback(engine->store);
    expect_stored(engine, type, ROWS);
}

/* ---- texts and lists at their bounds ------------------------------------------------------------ */

ON_EVERY_ENGINE(store, texts_of_full_length_and_full_lists_fit)
{
    static struct run run = {.hold_no = 1, .segment_count = RECORD_SEGMENTS};
    memset(run.run_key, 'k', sizeof run.run_key - 1);
    for (size_t i = 0; i < RECORD_SEGMENTS; i++) {
        run.segments[i] = (struct segment){INT64_MIN, INT64_MIN + 1, INT64_MIN};
    }
    run.refund_count = RECORD_REFUND_MONTHS;
    for (size_t i = 0; i < RECORD_REFUND_MONTHS; i++) {
        run.refunds[i] = (struct month_amount){INT64_MIN, INT64_MIN};
    }
    const struct record_type *type = &record_types[RECORD_RUN];
    OK(store_begin(engine->store, err));
    OK(store_put(engine->store, type, &run, err));
    OK(store_commit(engine->store, err));
    static struct run found = {.hold_no = 1};
    bool there = false;
    OK(store_get(engine->store, type, &found, &there, err));
    cr_assert(there && record_equal(type, &run, &found));
}

/* ---- selections -------------------------------------------------------------------------------- */

struct collected {
    const struct record_type *type;
    size_t count;
    size_t stop_at;
    union record_any *records;
};

static bool collect(void *context, const void *record)
{
    struct collected *collected = context;
    record_copy(collected->type, record, &collected->records[collected->count]);
    collected->count++;
    return collected->count != collected->stop_at;
}

enum { MANY = 160 };

/* The same random rows into both stores; small numbers, so that filters and orders have work. */
static void fill(struct test_random *random,
                 struct store *a,
                 struct store *b,
                 const struct record_type *type)
{
    OK(store_begin(a, err));
    OK(store_begin(b, err));
    for (int i = 0; i < MANY; i++) {
        union record_any record;
        bool found = false;
        random_record(random, type, true, &record);
        union record_any there = record;
        OK(store_get(a, type, &there, &found, err));
        if (found && (type->append_only || type->id == RECORD_NODE)) {
            continue;
        }
        if (found) {
            record_keep_fixed(type, &there, &record);
            OK(store_put(a, type, &record, err));
            OK(store_put(b, type, &record, err));
        } else {
            OK(store_insert(a, type, &record, err));
            OK(store_insert(b, type, &record, err));
        }
    }
    OK(store_commit(a, err));
    OK(store_commit(b, err));
}

/* Holds of one project only would not try the filters: their fixed fields vary with the key here. */
static void fill_holds(struct test_random *random, struct store *a, struct store *b)
{
    const struct record_type *type = &record_types[RECORD_HOLD];
    OK(store_begin(a, err));
    OK(store_begin(b, err));
    for (int64_t i = 0; i < MANY; i++) {
        union record_any record;
        random_record(random, type, true, &record);
        record.hold.hold_no = i / 8;
        record.hold.project_no = record.hold.hold_no % 3;
        record.hold.cluster_no = record.hold.hold_no % 2 + 1;
        record.hold.member_no = record.hold.hold_no % 5;
        record.hold.root_no = record.hold.hold_no % 4;
        if (test_random_chance(random, 1, 2)) {
            memset(record.hold.counts, 0, sizeof record.hold.counts);
        }
        OK(store_put(a, type, &record, err));
        OK(store_put(b, type, &record, err));
    }
    OK(store_commit(a, err));
    OK(store_commit(b, err));
}

static void expect_same_rows(struct store *a,
                             struct store *b,
                             enum select_kind select,
                             const struct select_args *args)
{
    static union record_any of_a[MANY + 1];
    static union record_any of_b[MANY + 1];
    const struct record_type *type = &record_types[select_types[select].record];
    struct collected rows_a = {.type = type, .records = of_a};
    struct collected rows_b = {.type = type, .records = of_b};
    OK(store_select(a, select, args, collect, &rows_a, err));
    OK(store_select(b, select, args, collect, &rows_b, err));
    cr_assert_eq(rows_a.count, rows_b.count, "%s: %zu and %zu rows", select_types[select].name,
                 rows_a.count, rows_b.count);
    for (size_t i = 0; i < rows_a.count; i++) {
        cr_assert(record_equal(type, &of_a[i], &of_b[i]), "%s: row %zu differs",
                  select_types[select].name, i);
    }
}

Test(store, every_selection_gives_the_rows_of_a_naive_filter)
{
    struct test_random random;
    test_random_init(&random, "every_selection_gives_the_rows_of_a_naive_filter");
    struct engine memory;
    struct engine sqlite;
    engine_init(&memory, "memory");
    engine_init(&sqlite, "sqlite");
    engine_put_parents(&memory);
    engine_put_parents(&sqlite);
    for (size_t t = 0; t < RECORD__COUNT; t++) {
        if (t == RECORD_HOLD) {
            fill_holds(&random, memory.store, sqlite.store);
        } else {
            fill(&random, memory.store, sqlite.store, &record_types[t]);
        }
    }
    for (size_t select = 0; select < SELECT__COUNT; select++) {
        for (int64_t round = 0; round < test_rounds(40); round++) {
            struct select_args args = {.s = {test_random_chance(&random, 1, 2) ? "" : "a"}};
            for (size_t i = 0; i < SELECT_INTEGERS; i++) {
                args.n[i] = test_random_range(&random, -1, 4);
            }
            if (select == SELECT_HOLDS || select >= SELECT_HOLDS_OF_PROJECT) {
                args.n[0] = test_random_range(&random, 0, MANY);
                args.n[1] = test_random_range(&random, select == SELECT_HOLDS ? 0 : 1, 3);
                args.n[5] = select == SELECT_HOLDS_STILL_OPEN || test_random_chance(&random, 1, 2);
            }
            args.limit = test_random_chance(&random, 1, 3) ? test_random_range(&random, 1, 5) : 0;
            expect_same_rows(memory.store, sqlite.store, (enum select_kind)select, &args);
        }
    }
    OK(store_verify(sqlite.store, err));
    engine_fini(&memory);
    engine_fini(&sqlite);
}

ON_EVERY_ENGINE(store, open_holds_come_largest_first_and_closed_ones_not_at_all)
{
    const struct record_type *type = &record_types[RECORD_HOLD];
    OK(store_begin(engine->store, err));
    for (int64_t i = 1; i <= 4; i++) {
        struct hold hold = {.hold_no = i, .project_no = 7, .frozen_mcs = i % 2};
        hold.counts[i == 4 ? TASK_SETTLED : TASK_RUNNING] = 1;
        OK(store_put(engine->store, type, &hold, err));
    }
    OK(store_commit(engine->store, err));
    static union record_any records[8];
    struct collected found = {.type = type, .records = records};
    struct select_args args = {.n = {7}};
    OK(store_select(engine->store, SELECT_HOLDS_OPEN, &args, collect, &found, err));
    cr_assert_eq(found.count, 3);
    cr_assert_eq(records[0].hold.hold_no, 1);
    cr_assert_eq(records[1].hold.hold_no, 3);
    cr_assert_eq(records[2].hold.hold_no, 2);
}

ON_EVERY_ENGINE(store, a_selection_stops_when_the_callback_says_so)
{
    OK(store_begin(engine->store, err));
    for (int64_t i = 0; i < 10; i++) {
        struct task task = {.hold_no = 1, .task = i};
        OK(store_put(engine->store, &record_types[RECORD_TASK], &task, err));
    }
    OK(store_commit(engine->store, err));
    static union record_any records[16];
    struct collected found = {.type = &record_types[RECORD_TASK], .stop_at = 3, .records = records};
    struct select_args args = {.n = {1, -1}};
    OK(store_select(engine->store, SELECT_TASKS_OF_HOLD, &args, collect, &found, err));
    cr_assert_eq(found.count, 3);
}

/* ---- nested reads -------------------------------------------------------------------------------- */

struct nested {
    struct store *store;
    int64_t calls;
};

static bool count_row(void *context, const void *record)
{
    (void)record;
    ((struct nested *)context)->calls++;
    return true;
}

static bool select_again(void *context, const void *record)
{
    struct nested *nested = context;
    const struct node *node = record;
    struct select_args args = {.n = {node->node_no, 0}};
    OK(store_select(nested->store, SELECT_MEMBERS_OF_NODE, &args, count_row, nested, err));
    return true;
}

ON_EVERY_ENGINE(store, a_callback_may_run_the_selection_that_it_is_called_by)
{
    OK(store_begin(engine->store, err));
    for (int64_t i = 1; i <= 7; i++) {
        struct node node = {.node_no = i, .root_no = 1, .parent_no = i / 2};
        OK(store_put(engine->store, &record_types[RECORD_NODE], &node, err));
    }
    OK(store_commit(engine->store, err));
    struct nested nested = {.store = engine->store};
    struct select_args args = {.n = {1, 0}};
    OK(store_select(engine->store, SELECT_MEMBERS_OF_NODE, &args, select_again, &nested, err));
    cr_assert_eq(nested.calls, 4);
}

/* ---- readers ------------------------------------------------------------------------------------ */

static int64_t last_of(struct store *store, const char *name)
{
    struct sequence sequence = {.last = -1};
    (void)strcpy(sequence.name, name);
    bool found = false;
    OK(store_get(store, &record_types[RECORD_SEQUENCE], &sequence, &found, err));
    return found ? sequence.last : -1;
}

static void put_last(struct store *store, const char *name, int64_t last)
{
    struct sequence sequence = {.last = last};
    (void)strcpy(sequence.name, name);
    OK(store_put(store, &record_types[RECORD_SEQUENCE], &sequence, err));
}

ON_EVERY_ENGINE(store, a_reader_sees_what_is_committed)
{
    struct store *reader = NULL;
    OK(store_open(engine->url, STORE_READ, &reader, err));
    cr_assert_eq(last_of(reader, "x"), -1);
    OK(store_begin(engine->store, err));
    put_last(engine->store, "x", 1);
    cr_assert_eq(last_of(engine->store, "x"), 1);
    OK(store_commit(engine->store, err));
    OK(store_begin(reader, err));
    cr_assert_eq(last_of(reader, "x"), 1);
    OK(store_commit(reader, err));
    store_close(reader);
}

Test(store_sqlite, a_readers_snapshot_stands_while_the_writer_goes_on)
{
    struct engine engine;
    engine_init(&engine, "sqlite");
    struct store *reader = NULL;
    OK(store_open(engine.url, STORE_READ, &reader, err));
    OK(store_begin(reader, err));
    cr_assert_eq(last_of(reader, "x"), -1);
    OK(store_begin(engine.store, err));
    put_last(engine.store, "x", 1);
    cr_assert_eq(last_of(reader, "x"), -1);
    OK(store_commit(engine.store, err));
    OK(store_maintain(engine.store, err));
    cr_assert_eq(last_of(reader, "x"), -1);
    store_rollback(reader);
    cr_assert_eq(last_of(reader, "x"), 1);
    store_close(reader);
    engine_fini(&engine);
}

/* ---- opening ------------------------------------------------------------------------------------ */

ON_EVERY_ENGINE(store, what_was_committed_is_there_after_closing_and_opening)
{
    OK(store_begin(engine->store, err));
    put_last(engine->store, "x", 5);
    OK(store_commit(engine->store, err));
    OK(store_begin(engine->store, err));
    put_last(engine->store, "x", 6);
    store_close(engine->store);
    engine->store = NULL;
    OK(store_open(engine->url, STORE_WRITE, &engine->store, err));
    cr_assert_eq(last_of(engine->store, "x"), 5);
}

ON_EVERY_ENGINE(store, a_second_writer_is_refused_until_the_first_has_closed)
{
    struct store *second = NULL;
    struct error refusal = {.code = ERR_OK};
    cr_assert_eq(store_open(engine->url, STORE_WRITE, &second, &refusal), ERR_UNAVAILABLE);
    store_close(engine->store);
    engine->store = NULL;
    OK(store_open(engine->url, STORE_WRITE, &second, err));
    engine->store = second;
}

ON_EVERY_ENGINE(store, creating_where_a_ledger_is_there_is_refused)
{
    store_close(engine->store);
    engine->store = NULL;
    struct store *second = NULL;
    struct error refusal = {.code = ERR_OK};
    cr_assert_eq(store_open(engine->url, STORE_CREATE, &second, &refusal), ERR_INVALID_STATE);
}

Test(store, opening_what_is_not_there_says_so)
{
    struct store *store = NULL;
    struct error refusal = {.code = ERR_OK};
    cr_assert_eq(store_open("memory:none", STORE_WRITE, &store, &refusal), ERR_NOT_FOUND);
    cr_assert_eq(store_open("/tmp/corehour-none/x.db", STORE_READ, &store, &refusal),
                 ERR_NOT_FOUND);
    cr_assert_eq(store_open("oracle:x", STORE_READ, &store, &refusal), ERR_INVALID_FIELD);
}

/* The working set over a store in memory. */
#include <stdio.h>
#include <string.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "ledger/rows.h"

struct bench {
    struct store *store;
    struct working_set *set;
};

static struct bench bench_open(int64_t cache_bytes)
{
    static int made;
    struct bench bench;
    struct error err;
    char url[32];
    (void)snprintf(url, sizeof url, "memory:set%d", made++);
    cr_assert(store_open(url, STORE_CREATE, &bench.store, &err) == ERR_OK);
    cr_assert(working_set_create(bench.store, cache_bytes, &bench.set, &err) == ERR_OK);
    cr_assert(working_set_begin(bench.set, &err) == ERR_OK);
    return bench;
}

static void bench_close(struct bench *bench)
{
    working_set_destroy(bench->set);
    store_close(bench->store);
}

static void commit(struct bench *bench)
{
    struct error err;
    cr_assert(working_set_commit(bench->set, &err) == ERR_OK, "%s", err.detail);
}

static void begin(struct bench *bench)
{
    struct error err;
    cr_assert(working_set_begin(bench->set, &err) == ERR_OK);
}

static void put_used(struct bench *bench, int64_t node_no, int64_t used_mcs)
{
    struct counter *row =
        working_set_put(bench->set, row_find(bench->set, RECORD_COUNTER, node_no));
    row->used_mcs = used_mcs;
}

/* -1: there is none. */
static int64_t used_of(struct bench *bench, int64_t node_no)
{
    const struct cell *cell = row_find(bench->set, RECORD_COUNTER, node_no);
    return cell_exists(cell) ? ((const struct counter *)cell_record(cell))->used_mcs : -1;
}

static int64_t stored_used(struct bench *bench, int64_t node_no)
{
    struct counter row = {.node_no = node_no};
    struct error err;
    bool found;
    cr_assert(store_begin(bench->store, &err) == ERR_OK);
    cr_assert(store_get(bench->store, &record_types[RECORD_COUNTER], &row, &found, &err) == ERR_OK);
    store_rollback(bench->store);
    return found ? row.used_mcs : -1;
}

Test(working_set, what_was_changed_is_stored_at_commit_and_not_before)
{
    struct bench bench = bench_open(1 << 20);
    put_used(&bench, 7, 42);
    cr_assert(eq(i64, used_of(&bench, 7), 42));
    struct counter row = {.node_no = 7};
    struct error err;
    bool found = true;
    cr_assert(store_get(bench.store, &record_types[RECORD_COUNTER], &row, &found, &err) == ERR_OK);
    cr_assert(not(found));
    commit(&bench);
    cr_assert(eq(i64, stored_used(&bench, 7), 42));
    bench_close(&bench);
}

Test(working_set, an_abort_leaves_nothing)
{
    struct bench bench = bench_open(1 << 20);
    put_used(&bench, 7, 1);
    commit(&bench);
    begin(&bench);
    put_used(&bench, 7, 2);
    put_used(&bench, 8, 2);
    working_set_abort(bench.set);
    begin(&bench);
    cr_assert(eq(i64, used_of(&bench, 7), 1));
    cr_assert(eq(i64, used_of(&bench, 8), -1));
    commit(&bench);
    bench_close(&bench);
}

Test(working_set, a_rollback_restores_what_was_there_at_the_mark)
{
    struct bench bench = bench_open(1 << 20);
    put_used(&bench, 7, 1);
    working_set_mark(bench.set);
    put_used(&bench, 7, 2);
    put_used(&bench, 8, 2);
    working_set_remove(bench.set, row_find(bench.set, RECORD_COUNTER, 7));
    cr_assert(eq(i64, used_of(&bench, 7), -1));
    working_set_rollback(bench.set);
    cr_assert(eq(i64, used_of(&bench, 7), 1));
    cr_assert(eq(i64, used_of(&bench, 8), -1));
    commit(&bench);
    cr_assert(eq(i64, stored_used(&bench, 7), 1));
    cr_assert(eq(i64, stored_used(&bench, 8), -1));
    bench_close(&bench);
}

Test(working_set, an_outer_rollback_undoes_what_an_inner_mark_kept)
{
    struct bench bench = bench_open(1 << 20);
    put_used(&bench, 7, 1);
    working_set_mark(bench.set);
    put_used(&bench, 7, 2);
    working_set_mark(bench.set);
    put_used(&bench, 7, 3);
    working_set_release(bench.set);
    cr_assert(eq(i64, used_of(&bench, 7), 3));
    working_set_rollback(bench.set);
    cr_assert(eq(i64, used_of(&bench, 7), 1));
    commit(&bench);
    bench_close(&bench);
}

Test(working_set, an_inner_rollback_keeps_what_the_outer_mark_saw)
{
    struct bench bench = bench_open(1 << 20);
    put_used(&bench, 7, 1);
    working_set_mark(bench.set);
    put_used(&bench, 7, 2);
    working_set_mark(bench.set);
    put_used(&bench, 7, 3);
    working_set_rollback(bench.set);
    cr_assert(eq(i64, used_of(&bench, 7), 2));
    put_used(&bench, 7, 4);
    working_set_rollback(bench.set);
    cr_assert(eq(i64, used_of(&bench, 7), 1));
    commit(&bench);
    bench_close(&bench);
}

static bool count_rows(void *context, const void *record)
{
    (void)record;
    ++*(int *)context;
    return true;
}

Test(working_set, a_selection_sees_what_is_not_committed_and_a_rollback_takes_it_out_again)
{
    struct bench bench = bench_open(1 << 20);
    int seen = 0;
    working_set_mark(bench.set);
    put_used(&bench, 7, 1);
    working_set_select(bench.set, SELECT_ALL_COUNTERS, NULL, count_rows, &seen);
    cr_assert(eq(int, seen, 1));
    working_set_rollback(bench.set);
    commit(&bench);
    cr_assert(eq(i64, stored_used(&bench, 7), -1));
    bench_close(&bench);
}

Test(working_set, a_record_made_anew_after_a_selection_replaces_the_one_that_was_undone)
{
    struct bench bench = bench_open(1 << 20);
    int seen = 0;
    working_set_mark(bench.set);
    struct hold *hold = working_set_make(bench.set, row_find(bench.set, RECORD_HOLD, 1));
    hold->project_no = 5; /* a field that a put would not write again */
    struct select_args args = {.n = {0}};
    working_set_select(bench.set, SELECT_ALL_HOLDS, &args, count_rows, &seen);
    cr_assert(eq(int, seen, 1));
    working_set_rollback(bench.set);
    hold = working_set_make(bench.set, row_find(bench.set, RECORD_HOLD, 1));
    hold->project_no = 6;
    commit(&bench);
    begin(&bench);
    const struct hold *again = cell_record(row_find(bench.set, RECORD_HOLD, 1));
    cr_assert(eq(i64, again->project_no, 6));
    commit(&bench);
    bench_close(&bench);
}

Test(working_set, appended_records_are_walked_in_order_and_undone_by_a_rollback)
{
    struct bench bench = bench_open(1 << 20);
    for (int64_t seq = 1; seq <= 4; seq++) {
        if (seq == 3) {
            working_set_mark(bench.set);
        }
        struct entry *entry = working_set_append(bench.set, RECORD_ENTRY);
        entry->root_no = 1;
        entry->seq = seq;
        entry->amount_mcs = 1;
    }
    working_set_rollback(bench.set);
    const struct cell *position = NULL;
    int64_t count = 0;
    for (const struct entry *entry;
         (entry = working_set_appended(bench.set, RECORD_ENTRY, &position)) != NULL;) {
        cr_assert(eq(i64, entry->seq, ++count));
    }
    cr_assert(eq(i64, count, 2));
    commit(&bench);
    bench_close(&bench);
}

Test(working_set, a_cache_that_grew_too_large_is_dropped_and_says_so)
{
    struct bench bench = bench_open(4096);
    uint64_t before = working_set_generation(bench.set);
    for (int64_t i = 1; i <= 64; i++) {
        put_used(&bench, i, i);
    }
    commit(&bench);
    cr_assert(eq(i64, working_set_cached_bytes(bench.set), 0));
    cr_assert(gt(u64, working_set_generation(bench.set), before));
    begin(&bench);
    cr_assert(eq(i64, used_of(&bench, 64), 64));
    commit(&bench);
    bench_close(&bench);
}

Test(working_set, names_and_numbers_are_told_apart)
{
    struct bench bench = bench_open(1 << 20);
    row_add_name(bench.set, NAMES_NODE, 0, "vision", 3);
    row_add_name(bench.set, NAMES_ACCOUNT, 1, "vision", 4);
    cr_assert(eq(i64, row_name_target(bench.set, NAMES_NODE, 0, "vision"), 3));
    cr_assert(eq(i64, row_name_target(bench.set, NAMES_ACCOUNT, 1, "vision"), 4));
    cr_assert(eq(i64, row_name_target(bench.set, NAMES_ACCOUNT, 2, "vision"), 0));
    cr_assert(eq(i64, row_name_target(bench.set, NAMES_NODE, 0, "visio"), 0));
    cr_assert(eq(i64, row_next_no(bench.set, "hold"), 1));
    cr_assert(eq(i64, row_take_no(bench.set, "hold"), 1));
    cr_assert(eq(i64, row_take_no(bench.set, "hold"), 2));
    cr_assert(eq(i64, row_take_no(bench.set, "node"), 1));
    commit(&bench);
    bench_close(&bench);
}

Test(working_set, a_failure_sticks_and_the_commit_refuses)
{
    struct bench bench = bench_open(1 << 20);
    struct error err;
    cr_assert(row_get(bench.set, RECORD_NODE, 99) == NULL);
    cr_assert(eq(int, working_set_failure(bench.set, &err), ERR_INTERNAL));
    put_used(&bench, 7, 1);
    cr_assert(eq(int, working_set_commit(bench.set, &err), ERR_INTERNAL));
    cr_assert(eq(i64, stored_used(&bench, 7), -1));
    begin(&bench);
    cr_assert(eq(int, working_set_failure(bench.set, NULL), ERR_OK));
    commit(&bench);
    bench_close(&bench);
}

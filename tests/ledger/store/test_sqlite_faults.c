/*
 * A disk that fails at every possible call, fills up, or loses power: what was committed is there, and nothing else.
 */
#include <stdio.h>
#include <string.h>

#include <criterion/criterion.h>

#include "tests/ledger/store/engines.h"
#include "tests/lib/fault_vfs.h"

enum { ROWS_A_COMMIT = 45, COMMITS = 8 };

/* Transaction k writes the number k and rows that name it, wide enough for the WAL to need a checkpoint. */
static enum error_code write_number(struct store *store, int64_t k, struct error *err)
{
    static struct run run = {.suspension_count = RECORD_SUSPENSIONS,
                             .refund_count = RECORD_REFUND_MONTHS};
    memset(run.suspensions, 0x7f, sizeof run.suspensions);
    memset(run.refunds, 0x7f, sizeof run.refunds);
    struct sequence sequence = {.name = "k", .last = k};
    run.hold_no = k;
    enum error_code code = store_begin(store, err);
    if (code == ERR_OK) {
        code = store_put(store, &record_types[RECORD_SEQUENCE], &sequence, err);
    }
    for (run.task = 0; run.task < ROWS_A_COMMIT && code == ERR_OK; run.task++) {
        code = store_put(store, &record_types[RECORD_RUN], &run, err);
    }
    if (code == ERR_OK) {
        return store_commit(store, err);
    }
    store_rollback(store);
    return code;
}

static bool count_row(void *context, const void *record)
{
    (void)record;
    ++*(int64_t *)context;
    return true;
}

static int64_t number_of(struct store *store)
{
    struct sequence sequence = {.name = "k"};
    bool found = false;
    OK(store_get(store, &record_types[RECORD_SEQUENCE], &sequence, &found, err));
    return found ? sequence.last : 0;
}

/* The transactions that count are there whole, all others not at all. */
static void expect_whole(struct store *store, const bool *committed, int64_t last)
{
    cr_assert_eq(number_of(store), last, "the number is %d and not %d", (int)number_of(store),
                 (int)last);
    for (int64_t k = 1; k <= COMMITS; k++) {
        int64_t rows = 0;
        struct select_args args = {.n = {k}};
        OK(store_select(store, SELECT_RUNS_OF_HOLD, &args, count_row, &rows, err));
        cr_assert_eq(rows, committed[k] ? ROWS_A_COMMIT : 0, "transaction %d has %d rows", (int)k,
                     (int)rows);
    }
}

/* ---- failing calls ----------------------------------------------------------------------------------------------------------- */

static void reopen(struct engine *engine)
{
    store_close(engine->store);
    engine->store = NULL;
    OK(store_open(engine->url, STORE_WRITE, &engine->store, err));
}

/* One life with the nth call failing. Returns whether there was an nth call. */
static bool survive(enum fault fault, int64_t nth, bool lasting)
{
    struct engine engine;
    bool committed[COMMITS + 1] = {false};
    int64_t last = 0;
    engine_init(&engine, "sqlite");
    struct store *reader = NULL;
    OK(store_open(engine.url, STORE_READ, &reader, err));
    fault_vfs_arm(fault, nth, lasting);
    for (int64_t k = 1; k <= COMMITS; k++) {
        struct error err = {.code = ERR_OK};
        enum error_code code = write_number(engine.store, k, &err);
        cr_assert(code == ERR_OK || code == ERR_UNAVAILABLE, "%s", err.detail);
        committed[k] = code == ERR_OK;
        last = committed[k] ? k : last;
        (void)store_maintain(engine.store, &err);
    }
    bool struck = fault_vfs_struck();
    fault_vfs_clear();
    expect_whole(reader, committed, last);
    store_close(reader);
    expect_whole(engine.store, committed, last);
    reopen(&engine);
    expect_whole(engine.store, committed, last);
    OK(store_verify(engine.store, err));
    OK(write_number(engine.store, COMMITS + 1, err));
    engine_fini(&engine);
    fault_vfs_forget();
    return struck;
}

static void survive_every_call(enum fault fault, bool lasting)
{
    fault_vfs_install();
    int64_t nth = 1;
    while (survive(fault, nth, lasting)) {
        nth++;
    }
    cr_assert_gt(nth, 8, "the fault struck only %d times", (int)nth - 1);
}

Test(sqlite_faults, one_failing_call_loses_nothing_and_leaves_nothing_half_done, .timeout = 280)
{
    survive_every_call(FAULT_EIO, false);
}

Test(sqlite_faults, service_returns_when_a_broken_disk_is_back, .timeout = 280)
{
    survive_every_call(FAULT_EIO, true);
}

Test(sqlite_faults, a_full_disk_refuses_and_loses_nothing, .timeout = 280)
{
    survive_every_call(FAULT_ENOSPC, false);
}

Test(sqlite_faults, service_returns_when_there_is_room_again, .timeout = 280)
{
    survive_every_call(FAULT_ENOSPC, true);
}

/* ---- starting over ------------------------------------------------------------------------------------------------------------ */

/* A root with one link in its chain, and the state that goes with it. */
static void put_journal(struct store *store, const struct root_state *state)
{
    struct node root = {.node_no = 1, .root_no = 1};
    struct entry entry = {.root_no = 1, .seq = 1, .amount_mcs = 1};
    struct chain_link link = {.root_no = 1, .txn_no = 1, .first_seq = 1, .last_seq = 1};
    memset(link.hash.bytes, 7, sizeof link.hash.bytes);
    OK(store_begin(store, err));
    OK(store_put(store, &record_types[RECORD_NODE], &root, err));
    OK(store_insert(store, &record_types[RECORD_ENTRY], &entry, err));
    OK(store_insert(store, &record_types[RECORD_CHAIN_LINK], &link, err));
    OK(store_put(store, &record_types[RECORD_ROOT_STATE], state, err));
    OK(store_commit(store, err));
}

/* What the first transaction after a failed sync answers. */
static enum error_code start_over_with(const struct root_state *state)
{
    struct engine engine;
    struct error err = {.code = ERR_OK};
    fault_vfs_install();
    engine_init(&engine, "sqlite");
    put_journal(engine.store, state);
    fault_vfs_arm(FAULT_EIO, 1, true);
    cr_assert_eq(write_number(engine.store, 1, &err), ERR_UNAVAILABLE);
    fault_vfs_clear();
    enum error_code code = write_number(engine.store, 2, &err);
    struct store_stats stats;
    store_get_stats(engine.store, &stats);
    cr_assert(code != ERR_OK || stats.restarts == 1);
    engine_fini(&engine);
    fault_vfs_forget();
    return code;
}

Test(sqlite_faults, the_writer_goes_on_when_every_journal_ends_where_it_should)
{
    struct root_state state = {.root_no = 1, .last_seq = 1, .last_txn = 1};
    memset(state.hash.bytes, 7, sizeof state.hash.bytes);
    cr_assert_eq(start_over_with(&state), ERR_OK);
}

Test(sqlite_faults, the_writer_stops_when_a_journal_does_not_end_where_it_should)
{
    const struct root_state wrong[] = {
        {.root_no = 1, .last_seq = 1, .last_txn = 1}, /* another hash */
        {.root_no = 1,
         .last_seq = 0,
         .last_txn = 1,
         .hash = {.bytes = {0}}},                     /* an entry too many */
        {.root_no = 1, .last_seq = 1, .last_txn = 0}, /* a link too many */
        {.root_no = 1, .last_seq = 1, .last_txn = 2}, /* a link is missing */
    };
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        cr_assert_eq(start_over_with(&wrong[i]), ERR_INTERNAL, "%zu", i);
    }
}

/* ---- power cuts -------------------------------------------------------------------------------------------------------------- */

/* One life that ends at the nth call, and what the disk holds then. Returns whether it ended. */
static bool lose_power(struct test_random *random, int64_t nth)
{
    struct engine engine;
    bool committed[COMMITS + 1] = {false};
    int64_t last = 0;
    int64_t doubtful = 0;
    engine_init(&engine, "sqlite");
    fault_vfs_arm(FAULT_POWER, nth, true);
    for (int64_t k = 1; k <= COMMITS && doubtful == 0; k++) {
        struct error err = {.code = ERR_OK};
        bool done = write_number(engine.store, k, &err) == ERR_OK;
        committed[k] = done;
        last = done ? k : last;
        doubtful = done ? 0 : k;
        (void)store_maintain(engine.store, &err);
    }
    bool struck = fault_vfs_struck();
    store_close(engine.store);
    engine.store = NULL;
    fault_vfs_power_cut(random, test_random_range(random, 0, 4) * 25);
    OK(store_open(engine.url, STORE_WRITE, &engine.store, err));
    /* The last one was never answered: it may be there, but then as a whole. */
    if (doubtful > 0 && number_of(engine.store) == doubtful) {
        committed[doubtful] = true;
        last = doubtful;
    }
    expect_whole(engine.store, committed, last);
    OK(store_verify(engine.store, err));
    engine_fini(&engine);
    fault_vfs_forget();
    return struck;
}

Test(sqlite_faults, what_was_answered_is_there_after_a_power_cut_at_any_call, .timeout = 280)
{
    struct test_random random;
    test_random_init(&random, "what_was_answered_is_there_after_a_power_cut_at_any_call");
    fault_vfs_install();
    for (int64_t round = 0; round < test_rounds(4); round++) {
        for (int64_t nth = 1; lose_power(&random, nth);) {
            nth++;
        }
    }
}

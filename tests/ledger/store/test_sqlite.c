/*
 * What the SQLite engine promises beyond the contract.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <criterion/criterion.h>
#include <sqlite3.h>

#include "ledger/store/sqlite_connection.h"
#include "tests/ledger/store/engines.h"

static const char *path_of(const struct engine *engine, const char *name)
{
    static char path[256];
    (void)snprintf(path, sizeof path, "%s/%s", engine->folder, name);
    return path;
}

static int64_t bytes_of(const struct engine *engine, const char *name)
{
    struct stat status;
    return stat(path_of(engine, name), &status) == 0 ? status.st_size : -1;
}

static void put_number(struct store *store, int64_t number)
{
    struct sequence sequence = {.name = "n", .last = number};
    OK(store_begin(store, err));
    OK(store_put(store, &record_types[RECORD_SEQUENCE], &sequence, err));
    OK(store_commit(store, err));
}

static int64_t number_of(struct store *store)
{
    struct sequence sequence = {.name = "n"};
    bool found = false;
    OK(store_get(store, &record_types[RECORD_SEQUENCE], &sequence, &found, err));
    return found ? sequence.last : -1;
}

/* Change the file behind the engine's back; nothing of the engine may be open. */
static void run_sql(const struct engine *engine, const char *sql)
{
    sqlite3 *db = NULL;
    cr_assert_eq(sqlite3_open(path_of(engine, "ledger.db"), &db), SQLITE_OK);
    cr_assert_eq(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK, "%s", sqlite3_errmsg(db));
    (void)sqlite3_close(db);
}

static void close_writer(struct engine *engine)
{
    store_close(engine->store);
    engine->store = NULL;
}

/* ---- statements -------------------------------------------------------------------------------- */

static sqlite3 *schema_in_memory(void)
{
    sqlite3 *db = NULL;
    cr_assert_eq(sqlite3_open(":memory:", &db), SQLITE_OK);
    for (size_t i = 0; i < MIGRATION_COUNT; i++) {
        if (strcmp(migration_texts[i].engine, "sqlite") == 0) {
            cr_assert_eq(sqlite3_exec(db, migration_texts[i].text, NULL, NULL, NULL), SQLITE_OK);
        }
    }
    return db;
}

static const struct query_text *query_named(const char *verb, const char *record)
{
    char name[64];
    (void)snprintf(name, sizeof name, "%s_%s", verb, record);
    for (size_t i = 0; i < QUERY__COUNT; i++) {
        if (strcmp(query_texts[i].name, name) == 0) {
            return &query_texts[i];
        }
    }
    return NULL;
}

static void expect_shape(sqlite3 *db,
                         const struct query_text *query,
                         size_t parameters,
                         const struct record_type *type)
{
    cr_assert(query != NULL);
    sqlite3_stmt *statement = NULL;
    int result = sqlite3_prepare_v2(db, query->text, -1, &statement, NULL);
    cr_assert_eq(result, SQLITE_OK, "%s: %s", query->name, sqlite3_errmsg(db));
    cr_assert_eq(sqlite3_bind_parameter_count(statement), (int)parameters, "%s", query->name);
    size_t columns = type == NULL ? 0 : type->field_count;
    cr_assert_eq(sqlite3_column_count(statement), (int)columns, "%s", query->name);
    for (size_t i = 0; i < columns; i++) {
        cr_assert_str_eq(sqlite3_column_name(statement, (int)i), type->fields[i].name, "%s",
                         query->name);
    }
    (void)sqlite3_finalize(statement);
}

Test(sqlite, statements_have_the_parameters_and_columns_of_their_records)
{
    sqlite3 *db = schema_in_memory();
    for (size_t t = 0; t < RECORD__COUNT; t++) {
        const struct record_type *type = &record_types[t];
        expect_shape(db, query_named("get", type->name), type->key_count, type);
        expect_shape(db, query_named("insert", type->name), type->field_count, NULL);
        const struct query_text *update = query_named("update", type->name);
        cr_assert_eq(update == NULL, type->append_only || type->key_count == type->field_count,
                     "%s", type->name);
        if (update != NULL) {
            expect_shape(db, update, type->field_count, NULL);
        }
        cr_assert_eq(query_named("remove", type->name) == NULL, type->append_only, "%s",
                     type->name);
    }
    for (size_t s = 0; s < SELECT__COUNT; s++) {
        const struct select_type *type = &select_types[s];
        size_t parameters = (size_t)(type->integers + type->texts) + 1;
        expect_shape(db, query_named("select", type->name), parameters,
                     &record_types[type->record]);
    }
    (void)sqlite3_close(db);
}

/* Walks that are meant to be: whole tables, small ones, and the one that the caller bounds. */
static bool may_scan(const char *name)
{
    static const char *const scans[] = {
        "select_nodes",       "select_clusters",       "select_tokens",   "select_migrations",
        "select_holds_by_id", "select_grants_of_root", "select_webhooks",
    };
    for (size_t i = 0; i < ARRAY_LEN(scans); i++) {
        if (strcmp(scans[i], name) == 0) {
            return true;
        }
    }
    return strncmp(name, "select_all_", 11) == 0;
}

/* Orders that no index has, over rows that are few or limited. */
static bool may_sort(const char *name)
{
    return strcmp(name, "select_usage_days") == 0 || strcmp(name, "select_holds_open") == 0;
}

Test(sqlite, statements_find_their_rows_by_an_index_and_in_its_order)
{
    sqlite3 *db = schema_in_memory();
    for (size_t i = 0; i < QUERY__COUNT; i++) {
        const struct query_text *query = &query_texts[i];
        char *sql = sqlite3_mprintf("EXPLAIN QUERY PLAN %s", query->text);
        sqlite3_stmt *statement = NULL;
        cr_assert_eq(sqlite3_prepare_v2(db, sql, -1, &statement, NULL), SQLITE_OK);
        while (!may_scan(query->name) && sqlite3_step(statement) == SQLITE_ROW) {
            const char *step = (const char *)sqlite3_column_text(statement, 3);
            bool walk = strncmp(step, "SCAN", 4) == 0 && strstr(step, "hold_open") == NULL;
            bool sorts = strstr(step, "TEMP B-TREE") != NULL && !may_sort(query->name);
            cr_assert(!walk && !sorts, "%s: %s", query->name, step);
        }
        (void)sqlite3_finalize(statement);
        sqlite3_free(sql);
    }
    (void)sqlite3_close(db);
}

/* ---- durability -------------------------------------------------------------------------------- */

Test(sqlite, the_writer_syncs_every_commit_and_checkpoints_by_itself_alone)
{
    struct engine engine;
    engine_init(&engine, "sqlite");
    close_writer(&engine);
    struct sqlite_connection *writer = NULL;
    OK(sqlite_connection_open(path_of(&engine, "ledger.db"), STORE_WRITE, &writer, err));
    static const struct {
        const char *sql;
        int64_t wanted;
    } settings[] = {
        {"PRAGMA synchronous", 2},
        {"PRAGMA foreign_keys", 1},
        {"PRAGMA wal_autocheckpoint", 0},
        {"PRAGMA secure_delete", 0},
        {"PRAGMA auto_vacuum", 0},
        {"SELECT journal_mode = 'wal' FROM pragma_journal_mode", 1},
    };
    for (size_t i = 0; i < ARRAY_LEN(settings); i++) {
        int64_t number = -1;
        OK(sqlite_connection_number(writer, settings[i].sql, &number, err));
        cr_assert_eq(number, settings[i].wanted, "%s is %d", settings[i].sql, (int)number);
    }
    sqlite_connection_close(writer);
    engine_fini(&engine);
}

Test(sqlite, a_reader_cannot_write_and_leaves_the_wal_where_it_is)
{
    struct engine engine;
    engine_init(&engine, "sqlite");
    put_number(engine.store, 1);
    struct sqlite_connection *reader = NULL;
    OK(sqlite_connection_open(path_of(&engine, "ledger.db"), STORE_READ, &reader, err));
    cr_assert_neq(sqlite3_exec(reader->db, "DELETE FROM sequence", NULL, NULL, NULL), SQLITE_OK);
    int64_t before = bytes_of(&engine, "ledger.db-wal");
    cr_assert_gt(before, 0);
    sqlite_connection_close(reader);
    cr_assert_eq(bytes_of(&engine, "ledger.db-wal"), before);
    engine_fini(&engine);
}

Test(sqlite, a_clean_end_leaves_everything_in_one_file)
{
    struct engine engine;
    engine_init(&engine, "sqlite");
    put_number(engine.store, 7);
    close_writer(&engine);
    cr_assert_leq(bytes_of(&engine, "ledger.db-wal"), 0);
    struct store *reader = NULL;
    OK(store_open(engine.url, STORE_READ, &reader, err));
    cr_assert_eq(number_of(reader), 7);
    store_close(reader);
    engine_fini(&engine);
}

/* A writer that commits 1 to 50, leaves 51 open, and is killed. */
static void be_killed(const char *url)
{
    struct store *store = NULL;
    OK(store_open(url, STORE_WRITE, &store, err));
    for (int64_t i = 1; i <= 50; i++) {
        put_number(store, i);
    }
    struct sequence sequence = {.name = "n", .last = 51};
    OK(store_begin(store, err));
    OK(store_put(store, &record_types[RECORD_SEQUENCE], &sequence, err));
    (void)kill(getpid(), SIGKILL);
}

Test(sqlite, after_a_kill_a_reader_alone_sees_what_was_committed_and_then_a_writer_goes_on)
{
    struct engine engine;
    engine_init(&engine, "sqlite");
    close_writer(&engine);
    pid_t child = fork();
    cr_assert_geq(child, 0);
    if (child == 0) {
        be_killed(engine.url);
        _exit(1);
    }
    int status = 0;
    (void)waitpid(child, &status, 0);
    cr_assert(WIFSIGNALED(status));
    struct store *reader = NULL;
    OK(store_open(engine.url, STORE_READ, &reader, err));
    cr_assert_eq(number_of(reader), 50);
    OK(store_verify(reader, err));
    OK(store_open(engine.url, STORE_WRITE, &engine.store, err));
    cr_assert_eq(number_of(engine.store), 50);
    put_number(engine.store, 52);
    cr_assert_eq(number_of(reader), 52);
    store_close(reader);
    engine_fini(&engine);
}

/* ---- checkpoints ------------------------------------------------------------------------------- */

/* About a megabyte. */
static void write_much(struct store *store, int64_t round)
{
    static struct run run = {.refund_count = RECORD_REFUND_MONTHS};
    memset(run.refunds, 0x7f, sizeof run.refunds);
    OK(store_begin(store, err));
    for (int64_t i = 0; i < 160; i++) {
        run.hold_no = round * 1000 + i;
        OK(store_insert(store, &record_types[RECORD_RUN], &run, err));
    }
    OK(store_commit(store, err));
    OK(store_maintain(store, err));
}

Test(sqlite, the_wal_starts_over_while_the_writer_goes_on_and_readers_come_and_go)
{
    struct engine engine;
    engine_init(&engine, "sqlite");
    struct store *reader = NULL;
    OK(store_open(engine.url, STORE_READ, &reader, err));
    for (int64_t round = 0; round < 60; round++) {
        OK(store_begin(reader, err));
        (void)number_of(reader);
        write_much(engine.store, round);
        store_rollback(reader);
        write_much(engine.store, 100 + round);
    }
    cr_assert_lt(bytes_of(&engine, "ledger.db-wal"), 40 << 20);
    cr_assert_gt(bytes_of(&engine, "ledger.db"), 60 << 20);
    store_close(reader);
    engine_fini(&engine);
}

Test(sqlite, the_wal_shrinks_again_after_a_long_reader)
{
    struct engine engine;
    engine_init(&engine, "sqlite");
    struct store *reader = NULL;
    OK(store_open(engine.url, STORE_READ, &reader, err));
    OK(store_begin(reader, err));
    (void)number_of(reader);
    for (int64_t round = 0; round < 90; round++) {
        write_much(engine.store, round);
    }
    cr_assert_gt(bytes_of(&engine, "ledger.db-wal"), 80 << 20);
    store_rollback(reader);
    for (int64_t round = 100; round < 120; round++) {
        write_much(engine.store, round);
    }
    cr_assert_leq(bytes_of(&engine, "ledger.db-wal"), 64 << 20);
    store_close(reader);
    engine_fini(&engine);
}

struct short_reader {
    struct store *store;
    atomic_bool stop;
};

/* Snapshots of some ms, one after the other. */
static void *read_shortly(void *context)
{
    struct short_reader *reader = context;
    while (!atomic_load(&reader->stop)) {
        OK(store_begin(reader->store, err));
        (void)number_of(reader->store);
        (void)usleep(3000);
        store_rollback(reader->store);
    }
    return NULL;
}

Test(sqlite, the_wal_starts_over_though_some_short_reader_is_always_there)
{
    struct engine engine;
    engine_init(&engine, "sqlite");
    struct short_reader readers[3];
    pthread_t threads[3];
    for (size_t i = 0; i < ARRAY_LEN(readers); i++) {
        OK(store_open(engine.url, STORE_READ, &readers[i].store, err));
        atomic_init(&readers[i].stop, false);
        cr_assert_eq(pthread_create(&threads[i], NULL, read_shortly, &readers[i]), 0);
    }
    for (int64_t round = 0; round < 160; round++) {
        write_much(engine.store, round);
    }
    cr_assert_lt(bytes_of(&engine, "ledger.db-wal"), 90 << 20);
    struct store_stats stats;
    store_get_stats(engine.store, &stats);
    cr_assert_gt(stats.data_bytes, 100 << 20);
    cr_assert_lt(stats.log_bytes, 130 << 20);
    for (size_t i = 0; i < ARRAY_LEN(readers); i++) {
        atomic_store(&readers[i].stop, true);
        (void)pthread_join(threads[i], NULL);
        store_close(readers[i].store);
    }
    engine_fini(&engine);
}

/* ---- backup ------------------------------------------------------------------------------------ */

static void expect_copy(const char *path, int64_t number)
{
    struct store *copy = NULL;
    OK(store_open(path, STORE_READ, &copy, err));
    cr_assert_eq(number_of(copy), number);
    OK(store_verify(copy, err));
    store_close(copy);
    OK(store_open(path, STORE_WRITE, &copy, err));
    put_number(copy, number + 1);
    store_close(copy);
}

Test(sqlite, a_backup_is_a_ledger_of_its_own)
{
    struct engine engine;
    engine_init(&engine, "sqlite");
    put_number(engine.store, 3);
    write_much(engine.store, 1);
    char to[256];
    (void)snprintf(to, sizeof to, "%s/copy.db", engine.folder);
    OK(store_backup(engine.store, to, err));
    put_number(engine.store, 9);
    expect_copy(to, 3);
    struct error refusal = {.code = ERR_OK};
    cr_assert_eq(store_backup(engine.store, to, &refusal), ERR_INVALID_STATE);
    cr_assert_eq(number_of(engine.store), 9);
    cr_assert_eq(bytes_of(&engine, "copy.db.partial"), -1);
    engine_fini(&engine);
}

Test(sqlite, a_reader_can_back_up_beside_a_writer)
{
    struct engine engine;
    engine_init(&engine, "sqlite");
    put_number(engine.store, 3);
    struct store *reader = NULL;
    OK(store_open(engine.url, STORE_READ, &reader, err));
    char to[256];
    (void)snprintf(to, sizeof to, "%s/copy.db", engine.folder);
    OK(store_backup(reader, to, err));
    expect_copy(to, 3);
    store_close(reader);
    engine_fini(&engine);
}

Test(sqlite, a_backup_in_steps_holds_what_was_written_between_them)
{
    struct engine engine;
    engine_init(&engine, "sqlite");
    for (int64_t round = 0; round < 8; round++) {
        write_much(engine.store, round);
    }
    char to[256];
    (void)snprintf(to, sizeof to, "%s/copy.db", engine.folder);
    struct store_backup *backup = NULL;
    OK(store_backup_begin(engine.store, to, &backup, err));
    int64_t steps = 0;
    for (bool done = false; !done; steps++) {
        OK(store_backup_step(backup, &done, err));
        if (!done) {
            put_number(engine.store, steps);
            write_much(engine.store, 100 + steps);
        }
    }
    cr_assert_gt(steps, 3);
    OK(store_backup_end(backup, true, err));
    expect_copy(to, steps - 2);
    engine_fini(&engine);
}

Test(sqlite, a_backup_that_is_given_up_leaves_nothing_behind)
{
    struct engine engine;
    engine_init(&engine, "sqlite");
    write_much(engine.store, 1);
    char to[256];
    (void)snprintf(to, sizeof to, "%s/copy.db", engine.folder);
    struct store_backup *backup = NULL;
    bool done = false;
    OK(store_backup_begin(engine.store, to, &backup, err));
    OK(store_backup_step(backup, &done, err));
    OK(store_backup_end(backup, false, err));
    cr_assert_eq(bytes_of(&engine, "copy.db"), -1);
    cr_assert_eq(bytes_of(&engine, "copy.db.partial"), -1);
    put_number(engine.store, 1);
    engine_fini(&engine);
}

Test(sqlite, a_backup_to_a_folder_that_is_not_there_says_so)
{
    struct engine engine;
    engine_init(&engine, "sqlite");
    struct error refusal = {.code = ERR_OK};
    cr_assert_eq(store_backup(engine.store, "/tmp/corehour-none/copy.db", &refusal),
                 ERR_UNAVAILABLE);
    engine_fini(&engine);
}

/* ---- what is refused --------------------------------------------------------------------------- */

static enum error_code open_again(struct engine *engine,
                                  enum store_access access,
                                  struct error *err)
{
    return store_open(engine->url, access, &engine->store, err);
}

Test(sqlite, a_ledger_of_a_newer_program_is_refused)
{
    struct engine engine;
    engine_init(&engine, "sqlite");
    close_writer(&engine);
    run_sql(&engine, "INSERT INTO schema_migration VALUES (9, 'new', 'x')");
    struct error err = {.code = ERR_OK};
    cr_assert_eq(open_again(&engine, STORE_WRITE, &err), ERR_UNAVAILABLE);
    cr_assert_eq(open_again(&engine, STORE_READ, &err), ERR_UNAVAILABLE);
    engine_fini(&engine);
}

Test(sqlite, a_ledger_of_an_altered_migration_is_refused)
{
    struct engine engine;
    engine_init(&engine, "sqlite");
    close_writer(&engine);
    run_sql(&engine, "UPDATE schema_migration SET checksum = 'other'");
    struct error err = {.code = ERR_OK};
    cr_assert_eq(open_again(&engine, STORE_WRITE, &err), ERR_UNAVAILABLE);
    engine_fini(&engine);
}

Test(sqlite, another_programs_database_is_refused)
{
    struct engine engine;
    engine_init(&engine, "sqlite");
    close_writer(&engine);
    run_sql(&engine, "PRAGMA application_id = 7");
    struct error err = {.code = ERR_OK};
    cr_assert_eq(open_again(&engine, STORE_WRITE, &err), ERR_INVALID_STATE);
    engine_fini(&engine);
}

Test(sqlite, a_file_that_is_no_database_is_refused)
{
    struct engine engine;
    engine_init(&engine, "sqlite");
    close_writer(&engine);
    int fd = open(path_of(&engine, "ledger.db"), O_WRONLY | O_TRUNC);
    cr_assert_eq(write(fd, "this is not a database file, is it? no.", 39), 39);
    (void)close(fd);
    struct error err = {.code = ERR_OK};
    enum error_code code = open_again(&engine, STORE_WRITE, &err);
    cr_assert(code == ERR_INTERNAL || code == ERR_UNAVAILABLE, "%s", err.detail);
    engine_fini(&engine);
}

Test(sqlite, a_creation_that_was_cut_short_can_be_done_again)
{
    struct engine engine;
    engine_init(&engine, "sqlite");
    close_writer(&engine);
    cr_assert_eq(truncate(path_of(&engine, "ledger.db"), 0), 0);
    struct error refusal = {.code = ERR_OK};
    cr_assert_eq(open_again(&engine, STORE_WRITE, &refusal), ERR_NOT_FOUND);
    OK(store_open(engine.url, STORE_CREATE, &engine.store, err));
    engine_fini(&engine);
}

Test(sqlite, the_refusal_of_a_second_writer_names_the_first)
{
    struct engine engine;
    engine_init(&engine, "sqlite");
    struct store *second = NULL;
    struct error err = {.code = ERR_OK};
    cr_assert_eq(store_open(engine.url, STORE_WRITE, &second, &err), ERR_UNAVAILABLE);
    char pid[32];
    (void)snprintf(pid, sizeof pid, "%ld", (long)getpid());
    cr_assert(strstr(err.detail, pid) != NULL && strstr(err.detail, "ledger.lock") != NULL, "%s",
              err.detail);
    engine_fini(&engine);
}

/* ---- damage ------------------------------------------------------------------------------------ */

Test(sqlite, a_row_that_is_no_record_is_reported_and_not_believed)
{
    static const char *const spoilings[] = {
        "UPDATE hold SET draws = '1:x'",
        "UPDATE hold SET draws = '1'",
        "UPDATE hold SET qos = CAST(x'610062' AS TEXT)",
        "UPDATE hold SET id = printf('%.*c', 80, 'a')",
        "UPDATE hold SET content = x'00'",
        "UPDATE hold SET mode = 4294967297",
    };
    for (size_t i = 0; i < ARRAY_LEN(spoilings); i++) {
        struct engine engine;
        engine_init(&engine, "sqlite");
        struct hold hold = {.hold_no = 1};
        OK(store_begin(engine.store, err));
        OK(store_put(engine.store, &record_types[RECORD_HOLD], &hold, err));
        OK(store_commit(engine.store, err));
        close_writer(&engine);
        run_sql(&engine, spoilings[i]);
        OK(store_open(engine.url, STORE_WRITE, &engine.store, err));
        bool found = false;
        struct error damage = {.code = ERR_OK};
        cr_assert_eq(store_get(engine.store, &record_types[RECORD_HOLD], &hold, &found, &damage),
                     ERR_INTERNAL, "%s", spoilings[i]);
        engine_fini(&engine);
    }
}

Test(sqlite, a_check_of_the_schema_stops_what_cannot_be_and_rolls_it_back)
{
    struct engine engine;
    engine_init(&engine, "sqlite");
    struct entry entry = {.root_no = 1, .seq = 1, .amount_mcs = 0};
    OK(store_begin(engine.store, err));
    struct error refusal = {.code = ERR_OK};
    cr_assert_eq(store_insert(engine.store, &record_types[RECORD_ENTRY], &entry, &refusal),
                 ERR_INTERNAL);
    store_rollback(engine.store);
    struct counter counter = {.node_no = 77};
    OK(store_begin(engine.store, err));
    OK(store_put(engine.store, &record_types[RECORD_COUNTER], &counter, err));
    cr_assert_eq(store_commit(engine.store, &refusal), ERR_INTERNAL); /* no such node */
    put_number(engine.store, 1);
    bool found = true;
    OK(store_get(engine.store, &record_types[RECORD_COUNTER], &counter, &found, err));
    cr_assert_not(found);
    engine_fini(&engine);
}

/*
 * A connection to a SQLite ledger: how it is opened, kept, given up and opened again.
 *
 * Debian 12's SQLite 3.40.1 has the WAL-reset bug (fixed in 3.51.3): two connections that write or
 * checkpoint at the same instant can lose commits. Hence, whatever the version: one connection
 * makes every write and every checkpoint, held apart from other processes by a lock file; readers
 * are opened read-only and never checkpoint, not even by being the last to close.
 *
 * After a kill the index of the WAL has to be made anew by whoever comes first. A read-only
 * connection does that as well: it only writes the shared memory file beside the database (and so
 * must run as a user who may), never the database or the WAL.
 *
 * The database file is never opened or closed by hand while a connection has it: close() would drop
 * SQLite's POSIX locks.
 */
#include "ledger/store/sqlite_connection.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ledger/base/cleanup.h"
#include "ledger/store/migrate.h"
#include "ledger/store/sqlite_restart.h"
#include "ledger/store/sqlite_rows.h"
#include "ledger/store/sqlite_vfs.h"

#define APPLICATION_ID 0x43724872 /* "CrHr", in the header of the file */

/* Set before the first page is written; later they do nothing. */
static const char *const creation_pragmas[] = {
    "PRAGMA page_size = 4096",
    "PRAGMA auto_vacuum = NONE",
    "PRAGMA encoding = 'UTF-8'",
};

/* Foreign keys are declared on cold tables only (see 0001_init). Memory-mapped reads are off: they
 * turn I/O errors into signals and have made the WAL-reset bug worse. */
static const char *const pragmas[] = {
    "PRAGMA cache_size = -8192",  "PRAGMA foreign_keys = ON",   "PRAGMA mmap_size = 0",
    "PRAGMA secure_delete = OFF", "PRAGMA temp_store = MEMORY", "PRAGMA trusted_schema = OFF",
};

static const char *const writer_pragmas[] = {
    "PRAGMA journal_mode = WAL",
    "PRAGMA synchronous = FULL",
    "PRAGMA cache_size = -32768",
    "PRAGMA journal_size_limit = 67108864",
};

/* ---- errors --------------------------------------------------------------------------------- */

enum error_code sqlite_connection_fail(struct sqlite_connection *connection,
                                       int result,
                                       const char *doing,
                                       struct error *err)
{
    const char *why =
        connection->db == NULL ? sqlite3_errstr(result) : sqlite3_errmsg(connection->db);
    switch (result & 0xff) {
    case SQLITE_FULL:
        return error_set(err, ERR_UNAVAILABLE, "%s: the disk is full: make room", doing);
    case SQLITE_NOMEM:
        return error_set(err, ERR_UNAVAILABLE, "%s: out of memory", doing);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return error_set(err, ERR_UNAVAILABLE, "%s: another process has it locked", doing);
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN:
    case SQLITE_READONLY:
    case SQLITE_PERM:
        connection->suspect = true;
        return error_set(err, ERR_UNAVAILABLE, "%s: %s (%d): look at the disk and its permissions",
                         doing, why, result);
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        connection->suspect = true;
        return error_set(err, ERR_INTERNAL, "%s: the ledger file is damaged (%s): restore a backup",
                         doing, why);
    default:
        return error_set(err, ERR_INTERNAL, "%s: %s (%d)", doing, why, result);
    }
}

enum error_code sqlite_connection_run(struct sqlite_connection *connection,
                                      const char *sql,
                                      struct error *err)
{
    int result = sqlite3_exec(connection->db, sql, NULL, NULL, NULL);
    return result == SQLITE_OK ? ERR_OK : sqlite_connection_fail(connection, result, sql, err);
}

static enum error_code run_all(struct sqlite_connection *connection,
                               const char *const *statements,
                               size_t count,
                               struct error *err)
{
    enum error_code code = ERR_OK;
    for (size_t i = 0; i < count && code == ERR_OK; i++) {
        code = sqlite_connection_run(connection, statements[i], err);
    }
    return code;
}

enum error_code sqlite_connection_number(struct sqlite_connection *connection,
                                         const char *sql,
                                         int64_t *ret_number,
                                         struct error *err)
{
    sqlite3_stmt *statement = NULL;
    int result = sqlite3_prepare_v2(connection->db, sql, -1, &statement, NULL);
    if (result == SQLITE_OK) {
        result = sqlite3_step(statement);
    }
    if (result == SQLITE_ROW) {
        *ret_number = sqlite3_column_int64(statement, 0);
    }
    (void)sqlite3_finalize(statement);
    return result == SQLITE_ROW ? ERR_OK : sqlite_connection_fail(connection, result, sql, err);
}

/* A pragma must have taken effect: durability hangs on it. */
static enum error_code expect_number(struct sqlite_connection *connection,
                                     const char *sql,
                                     int64_t wanted,
                                     struct error *err)
{
    int64_t number = wanted - 1;
    enum error_code code = sqlite_connection_number(connection, sql, &number, err);
    if (code == ERR_OK && number != wanted) {
        return error_set(err, ERR_UNAVAILABLE,
                         "%s is %lld, needed is %lld: this SQLite cannot be used", sql,
                         (long long)number, (long long)wanted);
    }
    return code;
}

/* ---- migrations ------------------------------------------------------------------------------ */

/* What the ledger went through; SQLite makes the file's user_version 0 and we the last number. */
static enum error_code read_applied(struct sqlite_connection *connection,
                                    struct migrate_applied *applied,
                                    size_t most,
                                    size_t *ret_count,
                                    struct error *err)
{
    const struct query_text *query = &query_texts[QUERY_SELECT_MIGRATIONS];
    sqlite3_stmt *statement = NULL;
    int result = sqlite3_prepare_v2(connection->db, query->text, -1, &statement, NULL);
    size_t count = 0;
    while (result == SQLITE_OK || result == SQLITE_ROW) {
        result = sqlite3_step(statement);
        if (result != SQLITE_ROW) {
            break;
        }
        if (count < most) {
            const char *checksum = (const char *)sqlite3_column_text(statement, 2);
            applied[count].number = sqlite3_column_int64(statement, 0);
            (void)snprintf(applied[count].checksum, sizeof applied[count].checksum, "%s",
                           checksum == NULL ? "" : checksum);
        }
        count++;
    }
    (void)sqlite3_finalize(statement);
    *ret_count = count;
    return result == SQLITE_DONE
               ? ERR_OK
               : sqlite_connection_fail(connection, result, "reading the schema version", err);
}

static enum error_code note_migration(struct sqlite_connection *connection,
                                      const struct migration_text *migration,
                                      struct error *err)
{
    char checksum[DIGEST_TEXT_BYTES];
    migrate_checksum(migration, checksum);
    sqlite3_stmt *statement = NULL;
    int result = sqlite3_prepare_v2(connection->db, query_texts[QUERY_INSERT_MIGRATION].text, -1,
                                    &statement, NULL);
    if (result == SQLITE_OK) {
        (void)sqlite3_bind_int(statement, 1, migration->number);
        (void)sqlite3_bind_text(statement, 2, migration->name, -1, SQLITE_STATIC);
        (void)sqlite3_bind_text(statement, 3, checksum, -1, SQLITE_STATIC);
        result = sqlite3_step(statement);
    }
    (void)sqlite3_finalize(statement);
    if (result != SQLITE_DONE) {
        return sqlite_connection_fail(connection, result, "noting a migration", err);
    }
    char pragma[64];
    (void)snprintf(pragma, sizeof pragma, "PRAGMA user_version = %d", (int)migration->number);
    return sqlite_connection_run(connection, pragma, err);
}

/* One migration is one transaction: all of it or nothing. */
static enum error_code apply_migration(struct sqlite_connection *connection,
                                       const struct migration_text *migration,
                                       struct error *err)
{
    char mark[64];
    (void)snprintf(mark, sizeof mark, "PRAGMA application_id = %d", APPLICATION_ID);
    const char *const steps[] = {"BEGIN IMMEDIATE", mark, migration->text};
    enum error_code code = run_all(connection, steps, ARRAY_LEN(steps), err);
    if (code == ERR_OK) {
        code = note_migration(connection, migration, err);
    }
    if (code == ERR_OK) {
        code = sqlite_connection_run(connection, "COMMIT", err);
    }
    if (sqlite3_get_autocommit(connection->db) == 0) {
        (void)sqlite3_exec(connection->db, "ROLLBACK", NULL, NULL, NULL);
    }
    return code;
}

static enum error_code migrate(struct sqlite_connection *connection, bool fresh, struct error *err)
{
    size_t count = 0;
    const struct migration_text *migrations = migrate_list("sqlite", &count);
    struct migrate_applied applied[MIGRATION_COUNT + 1];
    size_t applied_count = 0;
    size_t first = 0;
    enum error_code code = ERR_OK;
    if (!fresh) {
        code = read_applied(connection, applied, ARRAY_LEN(applied), &applied_count, err);
    }
    if (code == ERR_OK) {
        code = migrate_plan(migrations, count, applied, applied_count, &first, err);
    }
    if (code == ERR_OK && first < count && connection->access == STORE_READ) {
        return error_set(err, ERR_UNAVAILABLE,
                         "the ledger's schema is older than this program: start corehourd once");
    }
    for (size_t i = first; i < count && code == ERR_OK; i++) {
        code = apply_migration(connection, &migrations[i], err);
    }
    return code;
}

/* ---- opening -------------------------------------------------------------------------------- */

/* Is the file empty (to be filled), a ledger, or something else? */
static enum error_code recognise(struct sqlite_connection *connection,
                                 bool *ret_fresh,
                                 struct error *err)
{
    int64_t version = 0;
    int64_t mark = 0;
    int64_t pages = 0;
    enum error_code code =
        sqlite_connection_number(connection, "PRAGMA user_version", &version, err);
    if (code == ERR_OK) {
        code = sqlite_connection_number(connection, "PRAGMA application_id", &mark, err);
    }
    if (code == ERR_OK) {
        code = sqlite_connection_number(connection, "PRAGMA page_count", &pages, err);
    }
    if (code != ERR_OK) {
        return code;
    }
    /* A creation that was cut short leaves a first page without a schema. */
    *ret_fresh = version == 0 && pages <= 1;
    if (!*ret_fresh && mark != APPLICATION_ID) {
        return error_set(err, ERR_INVALID_STATE, "%s is a database, but no ledger",
                         connection->path);
    }
    if (*ret_fresh && connection->access != STORE_CREATE) {
        return error_set(err, ERR_NOT_FOUND, "%s is empty: run corehourd init", connection->path);
    }
    if (!*ret_fresh && connection->access == STORE_CREATE) {
        return error_set(err, ERR_INVALID_STATE, "a ledger is there already: %s", connection->path);
    }
    return ERR_OK;
}

static bool is_write_query(const char *name)
{
    return strncmp(name, "get_", 4) != 0 && strncmp(name, "select_", 7) != 0;
}

static enum error_code prepare_all(struct sqlite_connection *connection, struct error *err)
{
    int result = SQLITE_OK;
    for (size_t i = 0; i < QUERY__COUNT && result == SQLITE_OK; i++) {
        const struct query_text *query = &query_texts[i];
        if (connection->access != STORE_READ || !is_write_query(query->name)) {
            result =
                sqlite3_prepare_v3(connection->db, query->text, (int)query->bytes + 1,
                                   SQLITE_PREPARE_PERSISTENT, &connection->statements[i], NULL);
        }
    }
    for (size_t i = 0; i < RECORD__COUNT && result == SQLITE_OK; i++) {
        if (connection->access != STORE_READ && sqlite_rows_wanted(&record_types[i])) {
            result = sqlite_rows_prepare(connection, &record_types[i]);
        }
    }
    return result == SQLITE_OK
               ? ERR_OK
               : sqlite_connection_fail(connection, result, "preparing the statements", err);
}

/* SQLite calls this after each commit with the number of pages in the WAL. Having a hook of our own
 * also keeps SQLite from checkpointing inside commits. */
static int note_wal(void *context, sqlite3 *db, const char *name, int pages)
{
    (void)db;
    (void)name;
    struct sqlite_connection *connection = context;
    if (pages < connection->wal_pages) {
        connection->wal_kept = 0;
        connection->wal_next = connection->wal_bite;
    }
    connection->wal_pages = pages;
    return SQLITE_OK;
}

static enum error_code set_up_writer(struct sqlite_connection *connection, struct error *err)
{
    enum error_code code = run_all(connection, writer_pragmas, ARRAY_LEN(writer_pragmas), err);
    if (code == ERR_OK) {
        code = expect_number(connection, "PRAGMA synchronous", 2, err);
    }
    if (code == ERR_OK) {
        code = expect_number(connection, "SELECT journal_mode = 'wal' FROM pragma_journal_mode", 1,
                             err);
    }
    (void)sqlite3_wal_hook(connection->db, note_wal, connection);
    return code;
}

/* What a killed writer left in the WAL is copied before there is anyone who waits. A full disk is
 * no reason not to serve; the next checkpoint tries again. */
static enum error_code catch_up(struct sqlite_connection *connection, struct error *err)
{
    int result =
        sqlite3_wal_checkpoint_v2(connection->db, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
    if (result == SQLITE_OK || result == SQLITE_BUSY || (result & 0xff) == SQLITE_FULL) {
        return ERR_OK;
    }
    return sqlite_connection_fail(connection, result, "checkpoint", err);
}

static enum error_code set_up(struct sqlite_connection *connection, struct error *err)
{
    bool writes = connection->access != STORE_READ;
    (void)sqlite3_extended_result_codes(connection->db, 1);
    (void)sqlite3_busy_timeout(connection->db, SQLITE_BUSY_MS);
    (void)sqlite3_db_config(connection->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    (void)sqlite3_db_config(connection->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    (void)sqlite3_wal_autocheckpoint(connection->db, 0);
    bool fresh = false;
    enum error_code code = ERR_OK;
    if (writes) {
        code = run_all(connection, creation_pragmas, ARRAY_LEN(creation_pragmas), err);
    }
    if (code == ERR_OK) {
        code = run_all(connection, pragmas, ARRAY_LEN(pragmas), err);
    }
    if (code == ERR_OK) {
        code = expect_number(connection, "PRAGMA foreign_keys", 1, err);
    }
    if (code == ERR_OK) {
        code = recognise(connection, &fresh, err);
    }
    if (code == ERR_OK && writes) {
        code = set_up_writer(connection, err);
    }
    if (code == ERR_OK) {
        code = migrate(connection, fresh, err);
    }
    if (code == ERR_OK) {
        code = prepare_all(connection, err);
    }
    if (code == ERR_OK && writes) {
        code = catch_up(connection, err);
    }
    return code;
}

static void disconnect(struct sqlite_connection *connection)
{
    for (size_t i = 0; i < QUERY__COUNT; i++) {
        (void)sqlite3_finalize(connection->statements[i]);
        connection->statements[i] = NULL;
        connection->blanks[i] = 0;
    }
    for (size_t i = 0; i < RECORD__COUNT; i++) {
        (void)sqlite3_finalize(connection->rows[i].statement);
        connection->rows[i] = (struct sqlite_rows){.statement = NULL};
    }
    int result = sqlite3_close(connection->db);
    assert(result == SQLITE_OK);
    connection->db = NULL;
    connection->in_transaction = false;
    connection->wal_pages = 0;
    connection->wal_kept = 0;
    connection->wal_next = connection->wal_bite;
}

static const char *writer_vfs;

/* For the whole process, before SQLite's first use: no count of memory, and so no lock around each
 * allocation; connections are not shared between threads. Too late is no harm. */
static void configure_once(void)
{
    (void)sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
    (void)sqlite3_config(SQLITE_CONFIG_MULTITHREAD);
    writer_vfs = sqlite_vfs_name();
}

static enum error_code connect(struct sqlite_connection *connection, struct error *err)
{
    int flags = SQLITE_OPEN_NOMUTEX;
    switch (connection->access) {
    case STORE_CREATE:
        flags |= SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
        break;
    case STORE_WRITE:
        flags |= SQLITE_OPEN_READWRITE;
        break;
    case STORE_READ:
        flags |= SQLITE_OPEN_READONLY;
        break;
    }
    const char *vfs = connection->access == STORE_READ ? NULL : writer_vfs;
    int result = sqlite3_open_v2(connection->path, &connection->db, flags, vfs);
    enum error_code code =
        result == SQLITE_OK ? set_up(connection, err)
                            : sqlite_connection_fail(connection, result, "opening the ledger", err);
    if (code != ERR_OK) {
        disconnect(connection);
        return code;
    }
    if (connection->access == STORE_CREATE) {
        connection->access = STORE_WRITE; /* what a later start over opens */
    }
    return ERR_OK;
}

/* ---- the lock file --------------------------------------------------------------------------- */

/* DIR/ledger.db has DIR/ledger.lock. Not the database itself: see the top of this file. */
static char *lock_path(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *dot = strrchr(path, '.');
    size_t stem =
        dot != NULL && (slash == NULL || dot > slash + 1) ? (size_t)(dot - path) : strlen(path);
    char *text = NULL;
    return asprintf(&text, "%.*s.lock", (int)stem, path) < 0 ? NULL : text;
}

/* Tell others who has the lock; without effect on the lock itself when the disk is full. */
static void note_holder(int fd)
{
    if (ftruncate(fd, 0) == 0) {
        (void)dprintf(fd, "%ld\n", (long)getpid());
    }
}

static enum error_code take_lock(struct sqlite_connection *connection, struct error *err)
{
    CLEANUP(cleanup_free) char *path = lock_path(connection->path);
    if (path == NULL) {
        return error_set(err, ERR_UNAVAILABLE, "out of memory while opening the ledger");
    }
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (fd < 0) {
        return error_set(err, ERR_UNAVAILABLE, "cannot open %s: %s", path, strerrordesc_np(errno));
    }
    if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        char holder[32] = "";
        ssize_t bytes = pread(fd, holder, sizeof holder - 1, 0);
        holder[bytes > 0 ? strcspn(holder, "\n") : 0] = '\0';
        (void)close(fd);
        return error_set(
            err, ERR_UNAVAILABLE,
            "process %s has the ledger open for writing (%s): stop it, or go through it",
            holder[0] == '\0' ? "?" : holder, path);
    }
    note_holder(fd);
    connection->lock_fd = fd;
    return ERR_OK;
}

/* ---- life ----------------------------------------------------------------------------------- */

/* SQLite reads names that begin with "file:" as URIs; ours are paths. */
static char *plain_path(const char *path)
{
    char *text = NULL;
    return asprintf(&text, "%s%s", path[0] == '/' ? "" : "./", path) < 0 ? NULL : text;
}

static enum error_code open_new(struct sqlite_connection *connection, struct error *err)
{
    struct stat status;
    bool there = stat(connection->path, &status) == 0;
    if (!there && connection->access != STORE_CREATE) {
        return error_set(err, ERR_NOT_FOUND, "no ledger is there: %s", connection->path);
    }
    enum error_code code = connection->access == STORE_READ ? ERR_OK : take_lock(connection, err);
    return code == ERR_OK ? connect(connection, err) : code;
}

enum error_code sqlite_connection_open(const char *path,
                                       enum store_access access,
                                       struct sqlite_connection **ret_connection,
                                       struct error *err)
{
    static pthread_once_t configured = PTHREAD_ONCE_INIT;
    (void)pthread_once(&configured, configure_once);
    struct sqlite_connection *connection = calloc(1, sizeof *connection);
    if (connection == NULL) {
        return error_set(err, ERR_UNAVAILABLE, "out of memory while opening the ledger");
    }
    connection->access = access;
    connection->lock_fd = -1;
    connection->wal_bite = SQLITE_BITE_LEAST_PAGES;
    connection->wal_next = SQLITE_BITE_LEAST_PAGES;
    connection->path = plain_path(path);
    enum error_code code =
        connection->path == NULL
            ? error_set(err, ERR_UNAVAILABLE, "out of memory while opening the ledger")
            : open_new(connection, err);
    if (code != ERR_OK) {
        sqlite_connection_close(connection);
        return code;
    }
    *ret_connection = connection;
    return ERR_OK;
}

void sqlite_connection_close(struct sqlite_connection *connection)
{
    if (connection == NULL) {
        return;
    }
    if (connection->db != NULL && connection->access != STORE_READ && !connection->suspect) {
        /* Leave one file behind, when no reader is in the way; else the next writer goes on. */
        (void)sqlite3_busy_timeout(connection->db, 0);
        (void)sqlite3_wal_checkpoint_v2(connection->db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL,
                                        NULL);
    }
    disconnect(connection);
    if (connection->lock_fd >= 0) {
        (void)close(connection->lock_fd);
    }
    free(connection->path);
    free(connection);
}

enum error_code sqlite_connection_ready(struct sqlite_connection *connection, struct error *err)
{
    if (connection->db != NULL && !connection->suspect) {
        return ERR_OK;
    }
    enum error_code code = ERR_OK;
    if (connection->db != NULL && connection->access != STORE_READ) {
        code = sqlite_restart_void(connection, err);
    }
    if (code != ERR_OK) {
        return code;
    }
    disconnect(connection);
    connection->restarts++;
    connection->suspect = false;
    code = connect(connection, err);
    if (code == ERR_OK && connection->access != STORE_READ) {
        code = sqlite_restart_check(connection, err);
    }
    connection->suspect = code != ERR_OK;
    return code;
}

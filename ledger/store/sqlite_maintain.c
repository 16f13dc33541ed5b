/*
 * Keeping a SQLite ledger in shape: checkpoints in bites, backup, integrity check.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ledger/base/cleanup.h"
#include "ledger/store/sqlite_connection.h"

enum {
    BITE_PAGES = 1000, /* new pages in the WAL that make a checkpoint worth its sync */
    BACKUP_STEP_PAGES = 1024,
};

/* ---- checkpoints ----------------------------------------------------------------------------- */

enum error_code sqlite_maintain(void *handle, struct error *err)
{
    struct sqlite_connection *connection = handle;
    if (connection->db == NULL || connection->suspect ||
        connection->wal_pages - connection->wal_tried < BITE_PAGES) {
        return ERR_OK;
    }
    int pages = 0;
    int kept = 0;
    int result =
        sqlite3_wal_checkpoint_v2(connection->db, NULL, SQLITE_CHECKPOINT_PASSIVE, &pages, &kept);
    if (result != SQLITE_OK && result != SQLITE_BUSY) {
        return sqlite_connection_fail(connection, result, "checkpoint", err);
    }
    connection->wal_tried = pages;
    connection->wal_kept = kept;
    return ERR_OK;
}

/* ---- integrity check ------------------------------------------------------------------------- */

/* Run a pragma that reports faults as rows; the text of the first one, unless it is "ok". */
static enum error_code expect_no_fault(struct sqlite_connection *connection,
                                       const char *pragma,
                                       struct error *err)
{
    sqlite3_stmt *statement = NULL;
    int result = sqlite3_prepare_v2(connection->db, pragma, -1, &statement, NULL);
    if (result == SQLITE_OK) {
        result = sqlite3_step(statement);
    }
    enum error_code code = ERR_OK;
    if (result == SQLITE_ROW) {
        const char *text = (const char *)sqlite3_column_text(statement, 0);
        if (text == NULL || strcmp(text, "ok") != 0) {
            code = error_set(err, ERR_INTERNAL, "%s finds: %s", pragma, text == NULL ? "?" : text);
        }
    } else if (result != SQLITE_DONE) {
        code = sqlite_connection_fail(connection, result, pragma, err);
    }
    (void)sqlite3_finalize(statement);
    return code;
}

enum error_code sqlite_verify(void *handle, struct error *err)
{
    struct sqlite_connection *connection = handle;
    enum error_code code = sqlite_connection_ready(connection, err);
    if (code == ERR_OK) {
        code = expect_no_fault(connection, "PRAGMA integrity_check(1)", err);
    }
    if (code == ERR_OK) {
        code = expect_no_fault(connection, "PRAGMA foreign_key_check", err);
    }
    return code;
}

/* ---- backup ---------------------------------------------------------------------------------- */

static enum error_code copy_failed(struct error *err, const char *to, const char *why)
{
    return error_set(err, ERR_UNAVAILABLE, "backup to %s: %s", to, why);
}

/* All pages into the copy. A reader's steps stand in one snapshot (begun by the caller); the
 * writer's own commits in between are carried over by SQLite. */
static int copy_pages(sqlite3 *from, sqlite3 *copy)
{
    sqlite3_backup *backup = sqlite3_backup_init(copy, "main", from, "main");
    if (backup == NULL) {
        return sqlite3_extended_errcode(copy);
    }
    int result = SQLITE_OK;
    while (result == SQLITE_OK) {
        result = sqlite3_backup_step(backup, BACKUP_STEP_PAGES);
    }
    int finished = sqlite3_backup_finish(backup);
    return result == SQLITE_DONE ? finished : result;
}

/* Fill the file at partial: pages, then a rollback-mode header so that it stands alone, then a
 * check of what was written. */
static enum error_code fill_copy(struct sqlite_connection *connection,
                                 const char *partial,
                                 struct error *err)
{
    struct sqlite_connection copy = {.lock_fd = -1};
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
    int result = sqlite3_open_v2(partial, &copy.db, flags, NULL);
    enum error_code code = ERR_OK;
    if (result == SQLITE_OK) {
        result = sqlite3_exec(copy.db, "PRAGMA synchronous = OFF; PRAGMA journal_mode = OFF", NULL,
                              NULL, NULL);
    }
    if (result == SQLITE_OK) {
        result = copy_pages(connection->db, copy.db);
    }
    if (result == SQLITE_OK) {
        result = sqlite3_exec(copy.db, "PRAGMA journal_mode = DELETE", NULL, NULL, NULL);
    }
    if (result != SQLITE_OK) {
        code = copy_failed(err, partial, sqlite3_errmsg(copy.db));
    } else {
        code = expect_no_fault(&copy, "PRAGMA integrity_check(1)", err);
    }
    (void)sqlite3_close(copy.db);
    return code;
}

static enum error_code sync_path(const char *path, int flags, struct error *err)
{
    CLEANUP(cleanup_close) int fd = open(path, flags | O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fsync(fd) != 0) {
        return copy_failed(err, path, strerrordesc_np(errno));
    }
    return ERR_OK;
}

/* Give the finished copy its name, durably. link() and not rename(): never over another file. */
static enum error_code put_in_place(const char *partial, const char *to, struct error *err)
{
    enum error_code code = sync_path(partial, 0, err);
    if (code != ERR_OK) {
        return code;
    }
    if (link(partial, to) != 0) {
        return copy_failed(err, to, strerrordesc_np(errno));
    }
    CLEANUP(cleanup_free) char *folder = NULL;
    const char *slash = strrchr(to, '/');
    if (asprintf(&folder, "%.*s", slash == NULL ? 1 : (int)(slash - to) + 1,
                 slash == NULL ? "." : to) < 0) {
        folder = NULL;
        return copy_failed(err, to, "out of memory");
    }
    return sync_path(folder, O_DIRECTORY, err);
}

enum error_code sqlite_backup(void *handle, const char *to, struct error *err)
{
    struct sqlite_connection *connection = handle;
    struct stat status;
    if (stat(to, &status) == 0) {
        return error_set(err, ERR_INVALID_STATE, "%s is there already: give a new name", to);
    }
    CLEANUP(cleanup_free) char *partial = NULL;
    if (asprintf(&partial, "%s.partial", to) < 0) {
        partial = NULL;
        return copy_failed(err, to, "out of memory");
    }
    (void)unlink(partial);
    enum error_code code = sqlite_connection_ready(connection, err);
    bool reads = code == ERR_OK && connection->access == STORE_READ;
    if (reads) {
        /* A read within the transaction fixes the snapshot for all steps. */
        code = sqlite_connection_run(connection, "BEGIN; PRAGMA user_version", err);
    }
    if (code == ERR_OK) {
        code = fill_copy(connection, partial, err);
    }
    if (reads) {
        (void)sqlite3_exec(connection->db, "ROLLBACK", NULL, NULL, NULL);
    }
    if (code == ERR_OK) {
        code = put_in_place(partial, to, err);
    }
    (void)unlink(partial);
    return code;
}

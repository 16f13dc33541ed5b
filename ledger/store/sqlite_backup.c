/*
 * Copies of a SQLite ledger, page by page.
 *
 * The copy grows in TO.partial and gets its name only when it is whole, synced and checked. It is
 * left in rollback mode, so that it is one file that stands alone; the writer that opens it turns
 * it back into a WAL ledger.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ledger/base/cleanup.h"
#include "ledger/store/sqlite_connection.h"

enum { STEP_PAGES = 512 };

struct sqlite_copy {
    struct sqlite_connection *source;
    struct sqlite_connection target; /* only its db is used */
    sqlite3_backup *steps;           /* NULL once all is copied */
    char *to;
    char *partial;
    bool snapshot; /* a transaction of the source is open for it */
};

static enum error_code copy_failed(struct error *err, const char *path, const char *why)
{
    return error_set(err, ERR_UNAVAILABLE, "backup to %s: %s", path, why);
}

static void end_steps(struct sqlite_copy *copy)
{
    (void)sqlite3_backup_finish(copy->steps);
    copy->steps = NULL;
    if (copy->snapshot) {
        (void)sqlite3_exec(copy->source->db, "ROLLBACK", NULL, NULL, NULL);
        copy->snapshot = false;
    }
}

static void copy_destroy(struct sqlite_copy *copy)
{
    end_steps(copy);
    (void)sqlite3_close(copy->target.db);
    if (copy->partial != NULL) {
        (void)unlink(copy->partial);
    }
    free(copy->partial);
    free(copy->to);
    free(copy);
}

/* Open the target and tie it to the source. The syncing of the target is ours, at the end. */
static enum error_code copy_open(struct sqlite_copy *copy, struct error *err)
{
    struct sqlite_connection *source = copy->source;
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
    (void)unlink(copy->partial);
    int result = sqlite3_open_v2(copy->partial, &copy->target.db, flags, NULL);
    if (result == SQLITE_OK) {
        result =
            sqlite3_exec(copy->target.db, "PRAGMA synchronous = OFF; PRAGMA journal_mode = OFF",
                         NULL, NULL, NULL);
    }
    if (result == SQLITE_OK) {
        copy->steps = sqlite3_backup_init(copy->target.db, "main", source->db, "main");
    }
    if (copy->steps == NULL) {
        return copy_failed(err, copy->partial, sqlite3_errmsg(copy->target.db));
    }
    if (source->access == STORE_READ) {
        /* A read within the transaction fixes the snapshot for all steps. */
        copy->snapshot = true;
        return sqlite_connection_run(source, "BEGIN; PRAGMA user_version", err);
    }
    return ERR_OK;
}

enum error_code sqlite_backup_begin(void *handle,
                                    const char *to,
                                    void **ret_backup,
                                    struct error *err)
{
    struct sqlite_connection *source = handle;
    enum error_code code = sqlite_connection_ready(source, err);
    if (code != ERR_OK) {
        return code;
    }
    struct stat status;
    if (stat(to, &status) == 0) {
        return error_set(err, ERR_INVALID_STATE, "%s is there already: give a new name", to);
    }
    struct sqlite_copy *copy = calloc(1, sizeof *copy);
    if (copy == NULL) {
        return copy_failed(err, to, "out of memory");
    }
    copy->source = source;
    copy->to = strdup(to);
    if (asprintf(&copy->partial, "%s%s.partial", to[0] == '/' ? "" : "./", to) < 0) {
        copy->partial = NULL;
    }
    code = copy->to == NULL || copy->partial == NULL ? copy_failed(err, to, "out of memory")
                                                     : copy_open(copy, err);
    if (code != ERR_OK) {
        copy_destroy(copy);
        return code;
    }
    *ret_backup = copy;
    return ERR_OK;
}

enum error_code sqlite_backup_step(void *backup, bool *ret_done, struct error *err)
{
    struct sqlite_copy *copy = backup;
    if (copy->source->suspect) {
        return copy_failed(err, copy->to, "the ledger had an I/O error meanwhile: begin again");
    }
    int result = sqlite3_backup_step(copy->steps, STEP_PAGES);
    *ret_done = result == SQLITE_DONE;
    if (result == SQLITE_DONE) {
        end_steps(copy);
        return ERR_OK;
    }
    /* Busy: another process recovers the WAL; the next step goes on. */
    bool goes_on = result == SQLITE_OK || result == SQLITE_BUSY || result == SQLITE_LOCKED;
    return goes_on ? ERR_OK : copy_failed(err, copy->to, sqlite3_errstr(result));
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
static enum error_code put_in_place(const struct sqlite_copy *copy, struct error *err)
{
    enum error_code code = sync_path(copy->partial, 0, err);
    if (code != ERR_OK) {
        return code;
    }
    if (link(copy->partial, copy->to) != 0) {
        return copy_failed(err, copy->to, strerrordesc_np(errno));
    }
    const char *slash = strrchr(copy->partial, '/');
    CLEANUP(cleanup_free)
    char *folder = strndup(copy->partial, (size_t)(slash - copy->partial) + 1);
    if (folder == NULL) {
        return copy_failed(err, copy->to, "out of memory");
    }
    return sync_path(folder, O_DIRECTORY, err);
}

enum error_code sqlite_backup_end(void *backup, bool keep, struct error *err)
{
    struct sqlite_copy *copy = backup;
    enum error_code code = ERR_OK;
    if (keep) {
        code = sqlite_connection_run(&copy->target, "PRAGMA journal_mode = DELETE", err);
        if (code == ERR_OK) {
            code =
                sqlite_connection_expect_no_fault(&copy->target, "PRAGMA integrity_check(1)", err);
        }
        (void)sqlite3_close(copy->target.db);
        copy->target.db = NULL;
        if (code == ERR_OK) {
            code = put_in_place(copy, err);
        }
    }
    copy_destroy(copy);
    return code;
}

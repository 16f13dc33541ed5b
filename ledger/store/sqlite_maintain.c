/*
 * Keeping a SQLite ledger in shape: checkpoints in bites, integrity check, sizes.
 *
 * A checkpoint copies pages from the WAL into the database file, on the writer's connection and
 * thread, between two transactions: nothing is committed meanwhile, so it must be short. It is made
 * whenever the WAL has grown by BITE_PAGES. Once all of the WAL is copied, the next commit starts it
 * over from its beginning, and the file is written over and over without growing.
 *
 * A reader's snapshot keeps what is newer than it from being copied. Short readers delay that to
 * the next bite. If the WAL has become LARGE_PAGES long all the same, because some snapshot was
 * always there, the checkpoint waits up to READER_WAIT_MS for those to end, during which nothing is
 * committed, so that newer ones are no hindrance. One long snapshot cannot be helped: the WAL grows
 * until it ends, and is then copied in one go.
 */
#include <string.h>

#include "ledger/store/sqlite_connection.h"

enum {
    BITE_PAGES = 1000,
    LARGE_PAGES = 12 * BITE_PAGES,
    READER_WAIT_MS = 20,
};

/* ---- checkpoints ----------------------------------------------------------------------------- */

static int checkpoint(struct sqlite_connection *connection, int mode)
{
    int pages = 0;
    int kept = 0;
    int result = sqlite3_wal_checkpoint_v2(connection->db, NULL, mode, &pages, &kept);
    if (pages >= 0) {
        connection->wal_pages = pages;
        connection->wal_kept = kept;
    }
    return result;
}

enum error_code sqlite_maintain(void *handle, struct error *err)
{
    struct sqlite_connection *connection = handle;
    if (connection->db == NULL || connection->suspect ||
        connection->wal_pages < connection->wal_next + BITE_PAGES) {
        return ERR_OK;
    }
    bool large = connection->wal_pages >= LARGE_PAGES;
    int result = checkpoint(connection, SQLITE_CHECKPOINT_PASSIVE);
    if (result == SQLITE_OK && large && connection->wal_kept < connection->wal_pages) {
        (void)sqlite3_busy_timeout(connection->db, READER_WAIT_MS);
        result = checkpoint(connection, SQLITE_CHECKPOINT_RESTART);
        (void)sqlite3_busy_timeout(connection->db, SQLITE_BUSY_MS);
    }
    if (result != SQLITE_OK && result != SQLITE_BUSY) {
        return sqlite_connection_fail(connection, result, "checkpoint", err);
    }
    /* After waiting in vain, not again soon. */
    connection->wal_next =
        connection->wal_pages + (result == SQLITE_BUSY ? LARGE_PAGES / 4 - BITE_PAGES : 0);
    return ERR_OK;
}

void sqlite_stats(void *handle, struct store_stats *ret_stats)
{
    struct sqlite_connection *connection = handle;
    int64_t pages = 0;
    int64_t page_bytes = 0;
    if (connection->db == NULL || connection->suspect ||
        sqlite_connection_number(connection, "PRAGMA page_count", &pages, NULL) != ERR_OK ||
        sqlite_connection_number(connection, "PRAGMA page_size", &page_bytes, NULL) != ERR_OK) {
        return;
    }
    *ret_stats = (struct store_stats){
        .data_bytes = pages * page_bytes,
        .log_bytes = connection->wal_pages * page_bytes,
        .log_done_bytes = connection->wal_kept * page_bytes,
        .restarts = connection->restarts,
    };
}

/* ---- integrity check ------------------------------------------------------------------------- */

enum error_code sqlite_connection_expect_no_fault(struct sqlite_connection *connection,
                                                  const char *pragma,
                                                  struct error *err)
{
    sqlite3_stmt *statement = NULL;
    int result = sqlite3_prepare_v2(connection->db, pragma, -1, &statement, NULL);
    if (result == SQLITE_OK) {
        result = sqlite3_step(statement);
    }
    if (result != SQLITE_ROW && result != SQLITE_DONE) {
        (void)sqlite3_finalize(statement);
        return sqlite_connection_fail(connection, result, pragma, err);
    }
    const char *text =
        result == SQLITE_DONE ? "ok" : (const char *)sqlite3_column_text(statement, 0);
    enum error_code code = ERR_OK;
    if (text == NULL || strcmp(text, "ok") != 0) {
        code = error_set(err, ERR_INTERNAL, "%s finds: %s", pragma, text == NULL ? "?" : text);
    }
    (void)sqlite3_finalize(statement);
    return code;
}

enum error_code sqlite_verify(void *handle, struct error *err)
{
    struct sqlite_connection *connection = handle;
    enum error_code code = sqlite_connection_ready(connection, err);
    if (code == ERR_OK) {
        code = sqlite_connection_expect_no_fault(connection, "PRAGMA integrity_check(1)", err);
    }
    if (code == ERR_OK) {
        code = sqlite_connection_expect_no_fault(connection, "PRAGMA foreign_key_check", err);
    }
    return code;
}

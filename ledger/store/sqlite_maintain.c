/*
 * Keeping a SQLite ledger in shape: checkpoints in bites, integrity check, sizes.
 *
 * A checkpoint copies pages from the WAL into the database file, on the writer's connection and
 * thread, between two transactions: nothing is committed meanwhile, so it must be short. It is made
 * whenever the WAL has grown by a bite. The larger the bite, the more often a page in it was written
 * twice and is copied once; so bites grow as long as they take less than BITE_SHORT_MS, and shrink
 * when one takes more than BITE_LONG_MS. Once all of the WAL is copied, the next commit starts it
 * over from its beginning, and the file is written over and over without growing.
 *
 * A reader's snapshot keeps what is newer than it from being copied. Short readers delay that to
 * the next bite. If the WAL has become LARGE_PAGES long all the same, because some snapshot was
 * always there, the checkpoint waits up to READER_WAIT_MS for those to end, during which nothing is
 * committed, so that newer ones are no hindrance. One long snapshot cannot be helped: the WAL grows
 * until it ends, and is then copied in one go.
 */
#include <string.h>

#include "ledger/base/clock.h"
#include "ledger/store/sqlite_connection.h"

enum {
    BITE_LEAST_PAGES = SQLITE_BITE_LEAST_PAGES,
    BITE_MOST_PAGES = 6 * BITE_LEAST_PAGES,
    RETRY_PAGES = BITE_LEAST_PAGES / 4, /* after a reader kept a checkpoint from its end */
    BITE_SHORT_MS = 10,
    BITE_LONG_MS = 30,
    LARGE_PAGES = 10 * BITE_LEAST_PAGES,
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

static int64_t next_bite(int64_t bite_pages, int64_t took_ms)
{
    if (took_ms > BITE_LONG_MS) {
        bite_pages /= 2;
    } else if (took_ms < BITE_SHORT_MS) {
        bite_pages += bite_pages / 4;
    }
    bite_pages = bite_pages < BITE_LEAST_PAGES ? BITE_LEAST_PAGES : bite_pages;
    return bite_pages > BITE_MOST_PAGES ? BITE_MOST_PAGES : bite_pages;
}

/* A plain bite; and when the WAL has become large all the same, one that waits for readers. */
static int take_bite(struct sqlite_connection *connection)
{
    bool large = connection->wal_pages >= LARGE_PAGES;
    int64_t began_ms = clock_mono_ms();
    int result = checkpoint(connection, SQLITE_CHECKPOINT_PASSIVE);
    connection->wal_bite = next_bite(connection->wal_bite, clock_mono_ms() - began_ms);
    if (result == SQLITE_OK && large && connection->wal_kept < connection->wal_pages) {
        (void)sqlite3_busy_timeout(connection->db, READER_WAIT_MS);
        result = checkpoint(connection, SQLITE_CHECKPOINT_RESTART);
        (void)sqlite3_busy_timeout(connection->db, SQLITE_BUSY_MS);
    }
    return result;
}

enum error_code sqlite_maintain(void *handle, struct error *err)
{
    struct sqlite_connection *connection = handle;
    if (connection->db == NULL || connection->suspect ||
        connection->wal_pages < connection->wal_next) {
        return ERR_OK;
    }
    int result = take_bite(connection);
    if (result != SQLITE_OK && result != SQLITE_BUSY) {
        return sqlite_connection_fail(connection, result, "checkpoint", err);
    }
    int64_t wait_pages = connection->wal_bite;
    if (result == SQLITE_BUSY) {
        wait_pages = LARGE_PAGES / 4; /* waited in vain */
    } else if (connection->wal_kept < connection->wal_pages) {
        wait_pages = RETRY_PAGES;
    }
    connection->wal_next = connection->wal_pages + wait_pages;
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

/*
 * Inside the SQLite engine: one connection, what its files share.
 *
 *   sqlite.c             the engine: transactions, get, put, insert, remove, select
 *   sqlite_connection.c  open, pragmas, statement catalogue, starting over after an I/O error
 *   sqlite_record.c      records to parameters and columns to records
 *   sqlite_restart.c     what is done around that
 *   sqlite_maintain.c    checkpoints, integrity check
 *   sqlite_backup.c      copies
 *   sqlite_vfs.c         joins the writes of a commit
 */
#ifndef LEDGER_STORE_SQLITE_CONNECTION_H
#define LEDGER_STORE_SQLITE_CONNECTION_H

#include <sqlite3.h>

#include "ledger/store/record_value.h"
#include "ledger/store/store.h"
#include "schema/sql.h"

enum {
    /* Lists of one record as text while they are bound: no record has more lists than this. */
    SQLITE_LISTS = 5,
    /* Records that one statement inserts where many are given, and the most fields that such
     * records have: with more the statement costs more than it saves. */
    SQLITE_ROWS = 16,
    SQLITE_ROW_FIELDS = 16,
    SQLITE_BITE_LEAST_PAGES = 1000, /* new pages in the WAL that make a checkpoint worth it */
    SQLITE_BUSY_MS = 5000,          /* wait for another process that recovers the WAL */
};

struct sqlite_connection {
    sqlite3 *db; /* NULL: starting over failed */
    char *path;
    enum store_access access;
    int lock_fd; /* of the writer's lock file; -1 for readers */
    bool in_transaction;
    bool suspect;      /* an I/O error: to be closed and opened again before the next use */
    int64_t wal_pages; /* in the WAL after the last commit */
    int64_t wal_kept;  /* of them, already copied to the database file */
    int64_t wal_next;  /* wal_pages at which the next checkpoint is made */
    int64_t wal_bite;  /* pages, as sqlite_maintain.c finds good */
    int64_t restarts;  /* after I/O errors */
    sqlite3_stmt *statements[QUERY__COUNT]; /* NULL: not for this access */
    uint64_t blanks[QUERY__COUNT];          /* bit i: parameter i + 1 is bound to 0 or '' */
    struct sqlite_rows {
        sqlite3_stmt *statement; /* inserts SQLITE_ROWS records; NULL until first wanted */
        uint64_t blanks[SQLITE_ROWS];
    } rows[RECORD__COUNT];
    char list_text[SQLITE_LISTS][RECORD_LIST_TEXT_BYTES];
};

/* Open a connection as store_open() says; ret_connection is owned: sqlite_connection_close(). */
enum error_code sqlite_connection_open(const char *path,
                                       enum store_access access,
                                       struct sqlite_connection **ret_connection,
                                       struct error *err);
void sqlite_connection_close(struct sqlite_connection *connection);

/* Before use: start over if an I/O error has made the connection suspect. ERR_UNAVAILABLE while
 * that fails. */
enum error_code sqlite_connection_ready(struct sqlite_connection *connection, struct error *err);

/*
 * Describe a failed call: ERR_UNAVAILABLE for what may pass (disk, memory, locks), ERR_INTERNAL for
 * damage and bugs. Marks the connection suspect where SQLite's own state can no longer be trusted.
 */
enum error_code sqlite_connection_fail(struct sqlite_connection *connection,
                                       int result,
                                       const char *doing,
                                       struct error *err);

/* Run SQL without parameters or rows: the engine's own BEGIN, PRAGMA and the like. */
enum error_code sqlite_connection_run(struct sqlite_connection *connection,
                                      const char *sql,
                                      struct error *err);

/* The number that a pragma or query of one row and column gives. */
enum error_code sqlite_connection_number(struct sqlite_connection *connection,
                                         const char *sql,
                                         int64_t *ret_number,
                                         struct error *err);

/* Where the fields of a record are to be bound. */
struct sqlite_parameters {
    sqlite3_stmt *statement;
    int first;                                 /* parameter of the first field, from 1 */
    uint64_t *blanks;                          /* bit i: field i is bound to 0 or '' already */
    char (*list_text)[RECORD_LIST_TEXT_BYTES]; /* SQLITE_LISTS of them, left alone until the step;
                                                  NULL for records without lists */
};

/* The parameters of one of the connection's statements. */
struct sqlite_parameters sqlite_connection_parameters(struct sqlite_connection *connection,
                                                      enum query query);

/* Bind the first fields of a record. SQLITE_OK or SQLite's error. Texts are bound where they are:
 * the record must live until the step. */
int sqlite_record_bind(const struct sqlite_parameters *parameters,
                       const struct record_type *type,
                       size_t field_count,
                       const void *record);

/* The columns of the current row into a record. ERR_INTERNAL: what is stored is no such record. */
enum error_code sqlite_record_read(sqlite3_stmt *statement,
                                   const struct record_type *type,
                                   void *ret_record,
                                   struct error *err);

/* The vtable's maintain, verify and stats (sqlite_maintain.c), and backup (sqlite_backup.c). */
enum error_code sqlite_maintain(void *handle, struct error *err);
enum error_code sqlite_verify(void *handle, struct error *err);
void sqlite_stats(void *handle, struct store_stats *ret_stats);
enum error_code sqlite_backup_begin(void *handle,
                                    const char *to,
                                    void **ret_backup,
                                    struct error *err);
enum error_code sqlite_backup_step(void *backup, bool *ret_done, struct error *err);
enum error_code sqlite_backup_end(void *backup, bool keep, struct error *err);

/* Run a pragma that reports faults as rows; ERR_INTERNAL with the text of the first, unless it is
 * "ok". */
enum error_code sqlite_connection_expect_no_fault(struct sqlite_connection *connection,
                                                  const char *pragma,
                                                  struct error *err);

#endif

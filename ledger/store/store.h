/*
 * Engines: they keep records, and decide nothing.
 *
 * An engine knows records only through struct record_type (store/record_type.h): get by key, put,
 * insert, remove, and the named selections of schema/queries. One handle is one connection, for one
 * thread at a time. The writer's handle makes every write and every checkpoint; readers are read
 * only. Within a transaction a handle sees its own writes; readers never see what is not committed.
 * Bytes, keys and order are the same on every engine: tests/ledger/store runs one contract on all.
 */
#ifndef LEDGER_STORE_STORE_H
#define LEDGER_STORE_STORE_H

#include <stdbool.h>

#include "ledger/base/error.h"
#include "ledger/store/record_type.h"
#include "ledger/store/select.h"

/*
 * STORE_CREATE makes a ledger, which must not be there yet, and opens it as STORE_WRITE does.
 * STORE_WRITE brings the schema up to date. STORE_READ changes nothing.
 */
enum store_access { STORE_CREATE, STORE_WRITE, STORE_READ };

/*
 * Called once a row; the record is borrowed until it returns. Return false to stop early (not an
 * error). It may get and select from the same store, but not write to it.
 */
typedef bool (*store_row_fn)(void *context, const void *record);

/* Sizes for people and metrics; 0 where an engine has no such thing. */
struct store_stats {
    int64_t data_bytes;     /* of the file */
    int64_t log_bytes;      /* of the write-ahead log; grows while a reader keeps a snapshot */
    int64_t log_done_bytes; /* of them, copied into the data already */
    int64_t restarts;       /* how often the engine started over after an I/O error */
};

struct store_engine {
    int version;                              /* 1 */
    const char *scheme;                       /* of its URLs: "sqlite", "memory" */
    enum error_code (*open)(const char *path, /* the URL behind its scheme */
                            enum store_access access,
                            void **ret_handle,
                            struct error *err);
    void (*close)(void *handle);
    enum error_code (*begin)(void *handle, struct error *err);
    enum error_code (*commit)(void *handle, struct error *err);
    void (*rollback)(void *handle);
    enum error_code (*get)(void *handle,
                           const struct record_type *type,
                           void *record,
                           bool *ret_found,
                           struct error *err);
    enum error_code (*put)(void *handle,
                           const struct record_type *type,
                           const void *record,
                           struct error *err);
    enum error_code (*insert)(void *handle,
                              const struct record_type *type,
                              const void *const *records,
                              size_t count,
                              struct error *err);
    enum error_code (*remove)(void *handle,
                              const struct record_type *type,
                              const void *record,
                              struct error *err);
    enum error_code (*select)(void *handle,
                              enum select_kind select,
                              const struct select_args *args,
                              store_row_fn row,
                              void *context,
                              struct error *err);
    enum error_code (*maintain)(void *handle, struct error *err);
    enum error_code (*backup_begin)(void *handle,
                                    const char *to,
                                    void **ret_backup,
                                    struct error *err);
    enum error_code (*backup_step)(void *backup, bool *ret_done, struct error *err);
    enum error_code (*backup_end)(void *backup, bool keep, struct error *err);
    enum error_code (*verify)(void *handle, struct error *err);
    void (*stats)(void *handle, struct store_stats *ret_stats);
};

/* An open store: an engine and its handle. */
struct store;

/*
 * Open a ledger.
 *
 * @url        "sqlite:PATH", a bare PATH (sqlite), "memory:NAME" (lives as long as a handle of this
 *             process does; "memory:" alone is private to its handle)
 * @ret_store  owned by the caller: store_close()
 *
 * Errors: ERR_NOT_FOUND when nothing is there (STORE_WRITE, STORE_READ), ERR_INVALID_STATE when a
 * ledger is there already (STORE_CREATE), ERR_UNAVAILABLE with what to do: another process has it
 * open for writing, its schema is newer, the disk fails.
 */
enum error_code store_open(const char *url,
                           enum store_access access,
                           struct store **ret_store,
                           struct error *err);

/* Close; an open transaction is rolled back. NULL is allowed. */
void store_close(struct store *store);

/*
 * Begin a transaction: the writer's, or one snapshot for a reader. After an I/O error this is where
 * the engine starts over; ERR_UNAVAILABLE as long as it cannot.
 */
enum error_code store_begin(struct store *store, struct error *err);

/*
 * Commit: when it returns ERR_OK, all is on disk. On failure nothing is, and the transaction is
 * over. A reader's snapshot ends.
 */
enum error_code store_commit(struct store *store, struct error *err);

/* Give up the transaction, if there is one. After any error within a transaction this is all that
 * is left to do. */
void store_rollback(struct store *store);

/*
 * Look a record up by its key.
 *
 * @record     key fields set by the caller; when found all other fields are filled in (what lies
 *             behind the NUL of a text or the count of a list is not touched)
 * @ret_found  false: not there, record unchanged
 */
enum error_code store_get(struct store *store,
                          const struct record_type *type,
                          void *record,
                          bool *ret_found,
                          struct error *err);

/* Insert or replace; fixed fields of a record that is there must be the same. Not for append-only
 * types. */
enum error_code store_put(struct store *store,
                          const struct record_type *type,
                          const void *record,
                          struct error *err);

/* Insert; the key must be new (else ERR_INTERNAL: a bug of the caller). Cheaper than put. */
enum error_code store_insert(struct store *store,
                             const struct record_type *type,
                             const void *record,
                             struct error *err);

/* The same for many records of a type, cheaper still. After an error some may be in the transaction
 * and some not. */
enum error_code store_insert_many(struct store *store,
                                  const struct record_type *type,
                                  const void *const *records,
                                  size_t count,
                                  struct error *err);

/* Remove by key; none there is no error. Not for append-only types. */
enum error_code store_remove(struct store *store,
                             const struct record_type *type,
                             const void *record,
                             struct error *err);

/* Pass the rows of a selection to row, in its order. */
enum error_code store_select(struct store *store,
                             enum select_kind select,
                             const struct select_args *args,
                             store_row_fn row,
                             void *context,
                             struct error *err);

/*
 * The writer's housekeeping (checkpoints): call between transactions, after every commit; it does
 * nothing until there is enough to do, and then a bite that takes some ms.
 */
enum error_code store_maintain(struct store *store, struct error *err);

/* The store's sizes. The writer's handle knows all of them, without asking the disk. */
void store_get_stats(struct store *store, struct store_stats *ret_stats);

/*
 * Write a consistent copy to the file `to`, which must not be there, sync and check it: all steps
 * below at once. Errors: ERR_INVALID_STATE (something is there), ERR_UNAVAILABLE (disk).
 */
enum error_code store_backup(struct store *store, const char *to, struct error *err);

/*
 * The same in steps of some ms. From the writer's handle it goes on between transactions, holds
 * nobody up, and the copy is of the moment of the last step; from a reader's handle it is of the
 * moment it began, and its snapshot keeps the log growing meanwhile.
 *
 * @ret_backup  owned: store_backup_end(), before the store is closed
 */
struct store_backup;
enum error_code store_backup_begin(struct store *store,
                                   const char *to,
                                   struct store_backup **ret_backup,
                                   struct error *err);
enum error_code store_backup_step(struct store_backup *backup, bool *ret_done, struct error *err);

/*
 * Finish: check and sync the copy and give it its name; or, with keep false, throw away what there
 * is of it. With keep only after a step said that all is copied. It reads the whole copy, and may
 * do so on another thread than the store's. NULL is allowed.
 */
enum error_code store_backup_end(struct store_backup *backup, bool keep, struct error *err);

/* The engine's own integrity check of all that is stored; reads everything. ERR_INTERNAL with the
 * first fault. */
enum error_code store_verify(struct store *store, struct error *err);

#endif

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
                              const void *record,
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
    enum error_code (*backup)(void *handle, const char *to, struct error *err);
    enum error_code (*verify)(void *handle, struct error *err);
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

/*
 * Write a consistent copy to the file `to`, which must not be there, sync and check it. From a
 * reader's handle it stands beside a live writer and holds nobody up; from the writer's it blocks
 * its thread.
 */
enum error_code store_backup(struct store *store, const char *to, struct error *err);

/* The engine's own integrity check of all that is stored; reads everything. ERR_INTERNAL with the
 * first fault. */
enum error_code store_verify(struct store *store, struct error *err);

#endif

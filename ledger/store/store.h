/*
 * Engines: they keep records, and decide nothing.
 *
 * An engine knows records only through struct record_type (store/record_type.h): get by key, put,
 * insert, remove, and the named selections of schema/queries. One handle is one connection. The
 * writer's handle makes every write and every checkpoint; readers are read only. Within a
 * transaction a handle sees its own writes. Bytes, keys and order are the same on every engine:
 * tests/ledger/store runs one contract on all.
 */
#ifndef LEDGER_STORE_STORE_H
#define LEDGER_STORE_STORE_H

#include <stdbool.h>

#include "ledger/base/error.h"
#include "ledger/store/record_type.h"
#include "ledger/store/select.h"

enum store_access { STORE_CREATE, STORE_WRITE, STORE_READ };

/* Called once a row; the record is borrowed until it returns. Return false to stop early (not an
 * error). */
typedef bool (*store_row_fn)(void *context, const void *record);

struct store_engine {
    int version;        /* 1 */
    const char *scheme; /* of its URLs: "sqlite", "memory" */
    enum error_code (*open)(const char *url,
                            enum store_access access,
                            void **ret_handle,
                            struct error *err);
    void (*close)(void *handle);
    enum error_code (*begin)(void *handle, struct error *err);
    enum error_code (*commit)(void *handle, struct error *err); /* returns when it is on disk */
    void (*rollback)(void *handle);
    /* key fields of record set; the others are filled when found */
    enum error_code (*get)(void *handle,
                           const struct record_type *type,
                           void *record,
                           bool *ret_found,
                           struct error *err);
    enum error_code (*put)(void *handle,
                           const struct record_type *type,
                           const void *record,
                           struct error *err); /* insert or replace */
    enum error_code (*insert)(void *handle,
                              const struct record_type *type,
                              const void *record,
                              struct error *err); /* the key is new */
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
    enum error_code (*maintain)(
        void *handle,
        struct error *err); /* between transactions: checkpoints and the like, in small bites */
    enum error_code (*backup)(void *handle, const char *to, struct error *err);
    enum error_code (*verify)(void *handle,
                              struct error *err); /* the engine's own integrity check */
};

/* An open store: an engine and its handle. The functions are thin: they check arguments and pass
 * on. */
struct store;

/* url: "sqlite:PATH", a bare PATH (sqlite), "memory:". Errors: ERR_UNAVAILABLE with what to do,
 * ERR_NOT_FOUND when it is to be there. */
enum error_code
store_open(const char *url, enum store_access access, struct store **ret_store, struct error *err);
void store_close(struct store *store);
enum error_code store_begin(struct store *store, struct error *err);
enum error_code store_commit(struct store *store, struct error *err);
void store_rollback(struct store *store);
enum error_code store_get(struct store *store,
                          const struct record_type *type,
                          void *record,
                          bool *ret_found,
                          struct error *err);
enum error_code store_put(struct store *store,
                          const struct record_type *type,
                          const void *record,
                          struct error *err);
enum error_code store_insert(struct store *store,
                             const struct record_type *type,
                             const void *record,
                             struct error *err);
enum error_code store_remove(struct store *store,
                             const struct record_type *type,
                             const void *record,
                             struct error *err);
enum error_code store_select(struct store *store,
                             enum select_kind select,
                             const struct select_args *args,
                             store_row_fn row,
                             void *context,
                             struct error *err);
enum error_code store_maintain(struct store *store, struct error *err);
enum error_code store_backup(struct store *store, const char *to, struct error *err);
enum error_code store_verify(struct store *store, struct error *err);

#endif

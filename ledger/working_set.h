/*
 * The working set: the records that a transaction reads and changes, in memory, each read from the
 * store once and written once.
 *
 * A record lives in a cell, found by its type and key; a cell may also say that the record is known
 * not to exist. Changes stay in the cells until commit, which writes the changed ones and only then
 * asks the store to commit. Types that most commands touch (nodes, names, counters, grants, ...) stay
 * in memory between transactions, since the ledger is the only writer; all others are forgotten
 * after each one.
 *
 *   begin -> find / change / make / remove / append, mark ... rollback or release -> commit
 *                                                                                or abort
 *
 * Failures of the store and of memory stick (working_set_failure()): functions go on giving cells
 * that may be written to, and commit refuses. So a caller looks once, at the end of a command.
 *
 * Invariants: a cell never moves until the set drops it, which `generation` tells; after an abort
 * nothing is remembered. One thread at a time.
 */
#ifndef LEDGER_WORKING_SET_H
#define LEDGER_WORKING_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ledger/base/check.h"
#include "ledger/base/error.h"
#include "ledger/store/record_type.h"
#include "ledger/store/select.h"
#include "ledger/store/store.h"

struct working_set;
struct cell;

/**
 * Make an empty set over an open store.
 *
 * @store        borrowed, outlives the set
 * @cache_bytes  how much may stay in memory between transactions, above 0
 *
 * ERR_UNAVAILABLE when out of memory.
 */
MUST_USE enum error_code working_set_create(struct store *store,
                                            int64_t cache_bytes,
                                            struct working_set **ret_set,
                                            struct error *err);

/** Forget everything and free it. NULL is allowed; no transaction may be open. */
void working_set_destroy(struct working_set *set);

/** Open a transaction in the store. Errors of store_begin(). */
MUST_USE enum error_code working_set_begin(struct working_set *set, struct error *err);

/**
 * Write all changes and commit. On any failure, sticky ones included, everything is rolled back and
 * forgotten. Errors of the store.
 */
MUST_USE enum error_code working_set_commit(struct working_set *set, struct error *err);

/** Roll the store back and forget every cell. */
void working_set_abort(struct working_set *set);

/** The first failure since begin, described in *err where given; ERR_OK when there is none. */
enum error_code working_set_failure(const struct working_set *set, struct error *err);

/** Make the transaction fail for want of memory; @what for. */
void working_set_fail_memory(struct working_set *set, const char *what);

/** Make the transaction fail, for a reason that a caller found (damaged data). The first one stays.
 */
void working_set_fail(struct working_set *set, const struct error *err);

/**
 * The cell of a record, read from the store when it is not in memory. Never NULL.
 *
 * @key  the key fields of the type as they stand at the start of its struct; nothing after them is
 *       read, so a shorter object will do; borrowed
 */
struct cell *working_set_find(struct working_set *set, enum record_id type, const void *key);

/**
 * The same for a record that the caller knows not to be in the store (its number has just been given
 * out; nothing has happened to the task yet): what is not in memory does not exist, and the store is
 * not asked. A caller who is wrong makes the commit fail.
 */
struct cell *working_set_find_new(struct working_set *set, enum record_id type, const void *key);

/** Whether the record exists (now, in this transaction). */
bool cell_exists(const struct cell *cell);

/** The record, to read; only its key when it does not exist. Borrowed until the cell is dropped. */
const void *cell_record(const struct cell *cell);

/** The existing record, to change in place; it will be written at commit. */
void *working_set_change(struct working_set *set, struct cell *cell);

/** Let a record exist that did not: zeroed but for its key. */
void *working_set_make(struct working_set *set, struct cell *cell);

/** change() or make(), whichever applies. */
void *working_set_put(struct working_set *set, struct cell *cell);

/** The same for a caller that writes all of the record that counts: a new one is not zeroed. */
void *working_set_write(struct working_set *set, struct cell *cell);

/** Let an existing record cease to exist. */
void working_set_remove(struct working_set *set, struct cell *cell);

/**
 * A new record of a type that is only ever inserted and not looked up in the same transaction
 * (entries, feed events, hosts, links): zeroed, written at commit after all others, in order.
 */
void *working_set_append(struct working_set *set, enum record_id type);

/** Walk over the appended records of a type, oldest first. Returns the next after *position, which
 * starts at NULL; NULL at the end. */
const void *working_set_appended(const struct working_set *set,
                                 enum record_id type,
                                 const struct cell **position);

/**
 * Begin a part that may be undone. Marks nest: each is ended by exactly one rollback or release, the
 * innermost first.
 */
void working_set_mark(struct working_set *set);
void working_set_rollback(struct working_set *set); /* as if it had never happened */
void working_set_release(struct working_set *set);  /* keep what was done */

/**
 * A selection of the store that sees the changes of this transaction: writes them first where the
 * selection reads that type. A failure sticks and the callback is not called any more. The callback
 * must not use the set.
 */
void working_set_select(struct working_set *set,
                        enum select_kind select,
                        const struct select_args *args,
                        store_row_fn row,
                        void *context);

/**
 * Counts up whenever a pointer to a cell, or a conclusion drawn from names, nodes, clusters, rates or
 * the list of a payer's grants, may have become stale: after an abort, a rollback and a dropped
 * cache by itself, and when a caller that changes such things says so.
 */
uint64_t working_set_generation(const struct working_set *set);
void working_set_touch(struct working_set *set);

/** Bytes held by cells that stay between transactions. */
int64_t working_set_cached_bytes(const struct working_set *set);

#endif

/*
 * The one ledger thread and its bounded queue: whatever is queued is one batch, one transaction, one commit
 * (SPEC 9.3, 11.4).
 *
 * A lone command does not wait for company: the batch is what arrived while the last one was being committed.
 * Timers (ttl, grant ends, month turns) are commands that the thread puts into the same batches. Between batches
 * it does the engine's housekeeping. Nothing else calls the writing half of ledger/ledger.h.
 */
#ifndef SERVER_BATCHER_H
#define SERVER_BATCHER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ledger/base/error.h"
#include "ledger/ledger.h"

struct batcher;
struct metrics;

/** Commands that belong together, queued by their owner, who keeps them alive until done. */
struct batch_item {
    struct batch_item *next;
    struct ledger_work work;
    int64_t queued_ns; /* set by batcher_submit() */
    /* On the ledger thread, after the commit: every result is filled in. May free the item. Short. */
    void (*done)(struct batch_item *item);
};

struct batcher_options {
    struct ledger *ledger;   /* borrowed; used by the thread alone while it runs */
    struct metrics *metrics; /* borrowed */
    int64_t queue_max;       /* commands that wait; beyond it ERR_OVERLOADED */
    int64_t batch_max;       /* commands of one transaction, single larger works aside */
    int64_t timer_period_ms;
    /* Called on the ledger thread after commits that made feed events, with their clusters. */
    void (*feed_changed)(void *context, const int64_t *cluster_nos, size_t count);
    /* Called on the ledger thread after commits that made deliveries of alerts. */
    void (*alerts_made)(void *context);
    /* Called on the ledger thread when every item of a batch is done: wake whom they wait for, once. */
    void (*batch_done)(void *context);
    void *context;
};

/** Start the thread. ERR_UNAVAILABLE when there are no threads or memory. */
enum error_code batcher_create(const struct batcher_options *options,
                               struct batcher **ret_batcher,
                               struct error *err);

/** Take the limits that a reloaded configuration changed. Any thread. */
void batcher_set_limits(struct batcher *batcher, int64_t queue_max, int64_t batch_max);

/**
 * Queue an item. Any thread but the ledger's.
 *
 * Returns ERR_OK; ERR_OVERLOADED when queue_max commands wait; ERR_UNAVAILABLE once stopping. Then the item was
 * not taken.
 */
MUST_USE enum error_code batcher_submit(struct batcher *batcher,
                                        struct batch_item *item,
                                        struct error *err);

/**
 * Carry out a work and wait until it is done. Any thread but the ledger's and the HTTP loop. Errors of batcher_submit().
 */
MUST_USE enum error_code batcher_run(struct batcher *batcher,
                                     const struct ledger_work *work,
                                     struct error *err);

/** Did the last commit work? The answer of /readyz. Any thread. */
bool batcher_is_healthy(const struct batcher *batcher);

/** Commands that wait now. Any thread. */
int64_t batcher_queued(const struct batcher *batcher);

/** Carry out what is queued, end the thread. From then on submitting is refused, still without harm. NULL is allowed. */
void batcher_stop(struct batcher *batcher);

/** The same, and free it: nobody may submit any more. NULL is allowed. */
void batcher_destroy(struct batcher *batcher);

#endif

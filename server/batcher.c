/*
 * The ledger thread. Invariants: items are taken in the order of their arrival; an item's commands are executed in
 * one transaction; done() is called exactly once for each item that batcher_submit() took.
 */
#include "server/batcher.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ledger/base/clock.h"
#include "ledger/base/limits.h"
#include "ledger/base/log.h"
#include "server/metrics.h"

enum {
    DUE_COMMANDS = 128,       /* clockwork commands of one batch */
    FEED_CLUSTERS = 64,       /* clusters told of at once */
    MAINTAIN_EVERY = 16,      /* batches in a row without housekeeping at most */
    UNHEALTHY_RETRY_MS = 900, /* how often a ledger that cannot commit is tried, with the timer */
};

struct batcher {
    struct batcher_options options;
    pthread_t thread;
    bool is_joined; /* of whoever stops it */
    pthread_mutex_t lock;
    pthread_cond_t wake;

    /* under the lock */
    struct batch_item *head;
    struct batch_item **tail;
    int64_t queue_max;
    int64_t batch_max;
    bool is_stopping;

    atomic_int_fast64_t queued;
    atomic_bool is_healthy;

    /* the thread's own */
    struct ledger_work *works;
    size_t works_capacity;
    int64_t next_tick_ms;
    int64_t next_probe_ms; /* while it cannot commit */
    int64_t unmaintained;
    struct command due[DUE_COMMANDS];
    const struct command *due_commands[DUE_COMMANDS];
    struct ledger_result due_results[DUE_COMMANDS];
    size_t due_count;
};

/* ---- the queue */

static int64_t item_weight(const struct batch_item *item)
{
    return (int64_t)item->work.count;
}

enum error_code batcher_submit(struct batcher *batcher, struct batch_item *item, struct error *err)
{
    item->next = NULL;
    item->queued_ns = clock_mono_ns();
    enum error_code code = ERR_OK;
    int64_t queued = atomic_load_explicit(&batcher->queued, memory_order_relaxed);
    pthread_mutex_lock(&batcher->lock);
    const bool was_empty = batcher->head == NULL;
    if (batcher->is_stopping) {
        code = ERR_UNAVAILABLE;
    } else if (queued >= batcher->queue_max) {
        code = ERR_OVERLOADED;
    } else {
        *batcher->tail = item;
        batcher->tail = &item->next;
        atomic_fetch_add_explicit(&batcher->queued, item_weight(item), memory_order_relaxed);
    }
    if (code == ERR_OK && was_empty) {
        pthread_cond_signal(&batcher->wake);
    }
    pthread_mutex_unlock(&batcher->lock);
    if (code == ERR_UNAVAILABLE) {
        return error_set(err, code, "the service is stopping");
    }
    if (code == ERR_OVERLOADED) {
        return error_set(err, code, "%lld commands wait already", (long long)queued);
    }
    return ERR_OK;
}

/* A work that someone waits for. */
struct waited {
    struct batch_item item; /* first */
    pthread_mutex_t lock;
    pthread_cond_t wake;
    bool is_done;
};

static void waited_done(struct batch_item *item)
{
    struct waited *waited = (struct waited *)(void *)item;
    pthread_mutex_lock(&waited->lock);
    waited->is_done = true;
    pthread_cond_signal(&waited->wake);
    pthread_mutex_unlock(&waited->lock);
}

enum error_code batcher_run(struct batcher *batcher,
                            const struct ledger_work *work,
                            struct error *err)
{
    struct waited waited = {
        .item = {.work = *work, .done = waited_done},
        .lock = PTHREAD_MUTEX_INITIALIZER,
        .wake = PTHREAD_COND_INITIALIZER,
    };
    const enum error_code code = batcher_submit(batcher, &waited.item, err);
    pthread_mutex_lock(&waited.lock);
    while (code == ERR_OK && !waited.is_done) {
        pthread_cond_wait(&waited.wake, &waited.lock);
    }
    pthread_mutex_unlock(&waited.lock);
    (void)pthread_cond_destroy(&waited.wake);
    (void)pthread_mutex_destroy(&waited.lock);
    return code;
}

/* Unlink the first items, at most batch_max commands and at least one item. Under the lock. */
static struct batch_item *take(struct batcher *batcher)
{
    struct batch_item *first = batcher->head;
    struct batch_item *last = NULL;
    int64_t commands = 0;
    for (struct batch_item *item = first; item != NULL; item = item->next) {
        if (last != NULL && commands + item_weight(item) > batcher->batch_max) {
            break;
        }
        commands += item_weight(item);
        last = item;
    }
    if (last != NULL) {
        batcher->head = last->next;
        batcher->tail = last->next == NULL ? &batcher->head : batcher->tail;
        last->next = NULL;
        atomic_fetch_sub_explicit(&batcher->queued, commands, memory_order_relaxed);
    }
    return first;
}

static struct timespec timespec_of_ms(int64_t ms)
{
    return (struct timespec){.tv_sec = ms / 1000, .tv_nsec = (ms % 1000) * 1000000};
}

/* Wait for items or the next tick. False when all is done and the thread shall end. */
static bool wait_for_items(struct batcher *batcher, struct batch_item **ret_items)
{
    pthread_mutex_lock(&batcher->lock);
    while (batcher->head == NULL && !batcher->is_stopping &&
           clock_mono_ms() < batcher->next_tick_ms) {
        const struct timespec until = timespec_of_ms(batcher->next_tick_ms);
        (void)pthread_cond_timedwait(&batcher->wake, &batcher->lock, &until);
    }
    *ret_items = take(batcher);
    const bool goes_on = *ret_items != NULL || !batcher->is_stopping;
    pthread_mutex_unlock(&batcher->lock);
    return goes_on;
}

/* ---- one batch */

/* What time has made due, asked once a tick, or at once again while there is more. */
static void collect_due(struct batcher *batcher, int64_t now_ms)
{
    batcher->due_count = 0;
    const int64_t mono_ms = clock_mono_ms();
    if (mono_ms < batcher->next_tick_ms) {
        return;
    }
    batcher->next_tick_ms = mono_ms + batcher->options.timer_period_ms;
    struct error err;
    size_t count = 0;
    if (ledger_due(batcher->options.ledger, now_ms, batcher->due, DUE_COMMANDS, &count, &err) !=
        ERR_OK) {
        log_event(LOG_ERROR, "due_failed", log_text("detail", err.detail));
        return;
    }
    batcher->due_count = count;
    if (count == DUE_COMMANDS) {
        batcher->next_tick_ms = mono_ms;
    }
    memset(batcher->due_results, 0, count * sizeof(batcher->due_results[0]));
}

/* Room for the works of a batch. False when out of memory: then one item at a time fits. */
static bool reserve_works(struct batcher *batcher, size_t count)
{
    if (count <= batcher->works_capacity) {
        return true;
    }
    struct ledger_work *works = realloc(batcher->works, 2 * count * sizeof(works[0]));
    if (works == NULL) {
        return false;
    }
    batcher->works = works;
    batcher->works_capacity = 2 * count;
    return true;
}

static size_t collect_works(struct batcher *batcher, const struct batch_item *items)
{
    size_t count = 0;
    for (const struct batch_item *item = items; item != NULL; item = item->next) {
        batcher->works[count++] = item->work;
    }
    if (batcher->due_count > 0) {
        const struct ledger_work due = {
            .commands = batcher->due_commands,
            .results = batcher->due_results,
            .count = batcher->due_count,
        };
        batcher->works[count++] = due;
    }
    return count;
}

static void note_health(struct batcher *batcher, enum error_code code, const struct error *err)
{
    const bool is_healthy = code == ERR_OK;
    const bool was_healthy = atomic_exchange(&batcher->is_healthy, is_healthy);
    if (!is_healthy) {
        batcher->next_probe_ms = clock_mono_ms() + UNHEALTHY_RETRY_MS;
        log_event(LOG_ERROR, "commit_failed", log_text("detail", err->detail));
    } else if (!was_healthy) {
        log_event(LOG_INFO, "commit_works_again", log_int("queued", batcher_queued(batcher)));
    }
}

static void fail_items(struct batch_item *items, enum error_code code, const char *detail)
{
    for (struct batch_item *item = items; item != NULL; item = item->next) {
        for (size_t i = 0; i < item->work.count; i++) {
            (void)error_set(&item->work.results[i].error, code, "%s", detail);
        }
    }
}

static void finish_items(struct batcher *batcher, struct batch_item *items)
{
    const int64_t now_ns = clock_mono_ns();
    while (items != NULL) {
        struct batch_item *next = items->next; /* done() may free the item */
        metrics_observe(batcher->options.metrics, METRIC_QUEUE_SECONDS, now_ns - items->queued_ns);
        items->done(items);
        items = next;
    }
}

static void log_due_failures(const struct batcher *batcher)
{
    for (size_t i = 0; i < batcher->due_count; i++) {
        const struct error *error = &batcher->due_results[i].error;
        if (error->code != ERR_OK) {
            log_event(LOG_WARNING, "timer_refused", log_int("command", batcher->due[i].kind),
                      log_text("code", error_slug(error->code)), log_text("detail", error->detail));
        }
    }
}

/* Did a month turn, or get nearer to it? Then there may be more behind it: after a long absence all
 * months are made up at once, with others' commands in between. It ends: each step leads on. */
static bool has_turned(const struct batcher *batcher)
{
    for (size_t i = 0; i < batcher->due_count; i++) {
        const enum command_kind kind = batcher->due[i].kind;
        if ((kind == COMMAND_TURN_MONTH || kind == COMMAND_TURN_RUN) &&
            batcher->due_results[i].error.code == ERR_OK) {
            return true;
        }
    }
    return false;
}

static void tell_feed(struct batcher *batcher)
{
    int64_t cluster_nos[FEED_CLUSTERS];
    size_t count = 0;
    while (ledger_feed_changed(batcher->options.ledger, cluster_nos, FEED_CLUSTERS, &count)) {
        batcher->options.feed_changed(batcher->options.context, cluster_nos, count);
    }
}

static void tell_alerts(struct batcher *batcher)
{
    if (ledger_alerts_made(batcher->options.ledger)) {
        batcher->options.alerts_made(batcher->options.context);
    }
}

static void execute(struct batcher *batcher, size_t works, int64_t now_ms)
{
    struct error err = {0};
    const int64_t began_ns = clock_mono_ns();
    const enum error_code code =
        ledger_execute(batcher->options.ledger, batcher->works, works, now_ms, &err);
    metrics_observe(batcher->options.metrics, METRIC_COMMIT_SECONDS, clock_mono_ns() - began_ns);
    size_t commands = 0;
    for (size_t i = 0; i < works; i++) {
        commands += batcher->works[i].count;
    }
    metrics_observe_count(batcher->options.metrics, METRIC_BATCH_COMMANDS, (int64_t)commands);
    note_health(batcher, code, &err);
}

static void run_batch(struct batcher *batcher, struct batch_item *items)
{
    const int64_t now_ms = clock_wall_ms();
    collect_due(batcher, now_ms);
    size_t count = batcher->due_count > 0;
    for (const struct batch_item *item = items; item != NULL; item = item->next) {
        count++;
    }
    if (count == 0) {
        return;
    }
    if (reserve_works(batcher, count)) {
        execute(batcher, collect_works(batcher, items), now_ms);
        log_due_failures(batcher);
        if (has_turned(batcher)) {
            batcher->next_tick_ms = clock_mono_ms();
        }
    } else {
        fail_items(items, ERR_UNAVAILABLE, "out of memory");
    }
    if (items != NULL) {
        finish_items(batcher, items);
        batcher->options.batch_done(batcher->options.context);
    }
    for (size_t i = 0; i < batcher->due_count; i++) {
        ledger_result_fini(&batcher->due_results[i]);
    }
    tell_feed(batcher);
    tell_alerts(batcher);
}

/* After a failure, and with nothing to commit: try once a second whether the ledger can again. */
static void probe(struct batcher *batcher)
{
    struct error err = {0};
    if (batcher_is_healthy(batcher) || batcher->next_probe_ms > clock_mono_ms()) {
        return;
    }
    const enum error_code code = ledger_probe(batcher->options.ledger, clock_wall_ms(), &err);
    note_health(batcher, code, &err);
}

/* Checkpoints and the like, when idle, and now and then when not. */
static void maintain(struct batcher *batcher)
{
    const bool is_idle = batcher_queued(batcher) == 0;
    if (!is_idle && ++batcher->unmaintained < MAINTAIN_EVERY) {
        return;
    }
    batcher->unmaintained = 0;
    struct error err;
    if (ledger_maintain(batcher->options.ledger, &err) != ERR_OK) {
        log_event(LOG_WARNING, "maintain_failed", log_text("detail", err.detail));
    }
}

static void *run(void *context)
{
    struct batcher *batcher = context;
    struct batch_item *items;
    while (wait_for_items(batcher, &items)) {
        run_batch(batcher, items);
        probe(batcher);
        maintain(batcher);
    }
    return NULL;
}

/* ---- life */

static bool init_lock(struct batcher *batcher)
{
    pthread_condattr_t attributes;
    if (pthread_condattr_init(&attributes) != 0) {
        return false;
    }
    const bool ok = pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC) == 0 &&
                    pthread_cond_init(&batcher->wake, &attributes) == 0 &&
                    pthread_mutex_init(&batcher->lock, NULL) == 0;
    (void)pthread_condattr_destroy(&attributes);
    return ok;
}

enum error_code batcher_create(const struct batcher_options *options,
                               struct batcher **ret_batcher,
                               struct error *err)
{
    struct batcher *batcher = calloc(1, sizeof(*batcher));
    if (batcher == NULL || !init_lock(batcher)) {
        free(batcher);
        return error_set(err, ERR_UNAVAILABLE, "no memory for the ledger thread");
    }
    batcher->options = *options;
    batcher->tail = &batcher->head;
    batcher->queue_max = options->queue_max;
    batcher->batch_max = options->batch_max;
    for (size_t i = 0; i < DUE_COMMANDS; i++) {
        batcher->due_commands[i] = &batcher->due[i];
    }
    atomic_init(&batcher->queued, 0);
    atomic_init(&batcher->is_healthy, true);
    if (pthread_create(&batcher->thread, NULL, run, batcher) != 0) {
        free(batcher);
        return error_set(err, ERR_UNAVAILABLE, "the ledger thread does not start");
    }
    *ret_batcher = batcher;
    return ERR_OK;
}

void batcher_set_limits(struct batcher *batcher, int64_t queue_max, int64_t batch_max)
{
    pthread_mutex_lock(&batcher->lock);
    batcher->queue_max = queue_max;
    batcher->batch_max = batch_max;
    pthread_mutex_unlock(&batcher->lock);
}

bool batcher_is_healthy(const struct batcher *batcher)
{
    return atomic_load(&batcher->is_healthy);
}

int64_t batcher_queued(const struct batcher *batcher)
{
    return atomic_load_explicit(&batcher->queued, memory_order_relaxed);
}

void batcher_stop(struct batcher *batcher)
{
    if (batcher == NULL || batcher->is_joined) {
        return;
    }
    pthread_mutex_lock(&batcher->lock);
    batcher->is_stopping = true;
    pthread_cond_signal(&batcher->wake);
    pthread_mutex_unlock(&batcher->lock);
    (void)pthread_join(batcher->thread, NULL);
    batcher->is_joined = true;
}

void batcher_destroy(struct batcher *batcher)
{
    if (batcher == NULL) {
        return;
    }
    batcher_stop(batcher);
    (void)pthread_mutex_destroy(&batcher->lock);
    (void)pthread_cond_destroy(&batcher->wake);
    free(batcher->works);
    free(batcher);
}

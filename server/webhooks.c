/*
 * See webhooks.h. Webhooks take turns: each has a few deliveries in a round, and a round begins behind the webhook at which
 * the last one ended. So a backlog of one delays the others by a few messages, however long it is.
 */
#include "server/webhooks.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include <curl/curl.h>

#include "ledger/base/clock.h"
#include "ledger/base/log.h"
#include "server/webhook_event.h"
#include "server/webhook_send.h"
#include "server/webhook_sign.h"

enum {
    ROUND = 32,     /* deliveries under way at once */
    OF_ONE = 8,     /* of them, those of one webhook: a slow receiver leaves room for others */
    COMMANDS = 128, /* alerts found in one look */
    BODY_BYTES = 65536,
    SLEEP_MS = 60000, /* with nothing to do */
    DAY_MS = 86400000,
    DAY_S = 86400,
    RETRY_FACTOR = 4,
    STATUS_GONE = 410,
};

struct due {
    struct delivery delivery;
    struct webhook webhook;
    struct alert alert;
    bool is_dropped; /* its webhook is no more */
    const char *why; /* it is not sent; static; NULL: it is */
    struct buffer body;
    char id[WEBHOOK_ID_BYTES];
    char signature[WEBHOOK_SIGNATURE_BYTES];
};

struct webhooks {
    struct service *service;
    struct ledger_reader *reader;
    pthread_t thread;
    bool has_thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    bool is_woken; /* under the lock */
    bool is_stopping;

    /* the thread's own */
    int64_t next_watch_ms; /* monotonic */
    int64_t next_due_ms;   /* wall clock; 0: nothing waits */
    int64_t paused_ms;     /* monotonic: until then nothing is sent; what was could not be stored */
    int64_t last_webhook_no; /* of the last round */
    size_t gathered_count;
    size_t gathered_most;
    struct delivery gathered[OF_ONE];
    size_t due_count;
    struct due due[ROUND];
    struct webhook_post posts[ROUND];
    struct command commands[COMMANDS];
    const struct command *pointers[COMMANDS];
    struct ledger_result results[COMMANDS];
};

/* ---- through the ledger */

/* True when all of them are on disk. */
static bool run_commands(struct webhooks *webhooks, size_t count)
{
    struct error err;
    bool is_stored = true;
    if (count == 0) {
        return true;
    }
    memset(webhooks->results, 0, count * sizeof(webhooks->results[0]));
    struct ledger_work work = {
        .commands = webhooks->pointers,
        .results = webhooks->results,
        .count = count,
    };
    if (batcher_run(webhooks->service->batcher, &work, &err) != ERR_OK) {
        log_event(LOG_WARNING, "webhooks_not_stored", log_text("detail", err.detail));
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        if (webhooks->results[i].error.code != ERR_OK) {
            log_event(LOG_WARNING, "webhooks_refused",
                      log_text("detail", webhooks->results[i].error.detail));
            is_stored = false;
        }
        ledger_result_fini(&webhooks->results[i]);
    }
    return is_stored;
}

/* ---- alerts that time brings */

/* True when there may be more at once. */
static bool look_for_alerts(struct webhooks *webhooks)
{
    struct error err;
    size_t count = 0;
    enum error_code code = ledger_reader_begin(webhooks->reader, &err);
    if (code == ERR_OK) {
        code = ledger_watch(webhooks->reader, clock_wall_ms(), webhooks->commands, COMMANDS, &count,
                            &err);
        ledger_reader_end(webhooks->reader);
    }
    if (code != ERR_OK) {
        log_event(LOG_WARNING, "alerts_not_looked_for", log_text("detail", err.detail));
        return false;
    }
    return run_commands(webhooks, count) && count == COMMANDS;
}

static bool note_any(void *context, const void *record)
{
    (void)record;
    *(bool *)context = true;
    return false;
}

/* What has been over for long is forgotten. A reader looks first: mostly there is nothing. True when there may be more. */
static bool prune(struct webhooks *webhooks)
{
    const struct config *config = &webhooks->service->config;
    const int64_t now_ms = clock_wall_ms();
    struct command *command = &webhooks->commands[0];
    struct error err;
    bool any = false;
    memset(command, 0, sizeof(*command));
    command->kind = COMMAND_PRUNE;
    command->role = ROLE_ADMIN;
    command->prune.deliveries_ms = now_ms - config->webhook_keep_days * DAY_MS;
    command->prune.tokens_s = now_ms / 1000 - config->token_keep_days * DAY_S;
    const struct select_args deliveries = {.n = {command->prune.deliveries_ms}, .limit = 1};
    const struct select_args tokens = {.n = {command->prune.tokens_s}, .limit = 1};
    enum error_code code = ledger_reader_begin(webhooks->reader, &err);
    if (code == ERR_OK) {
        code = ledger_read_list(webhooks->reader, SELECT_DELIVERIES_DONE, &deliveries, note_any,
                                &any, &err);
        if (code == ERR_OK && !any) {
            code = ledger_read_list(webhooks->reader, SELECT_TOKENS_OVER, &tokens, note_any, &any,
                                    &err);
        }
        ledger_reader_end(webhooks->reader);
    }
    if (code != ERR_OK) {
        log_event(LOG_WARNING, "not_pruned", log_text("detail", err.detail));
    }
    return code == ERR_OK && any && run_commands(webhooks, 1);
}

static void watch(struct webhooks *webhooks)
{
    const int64_t mono_ms = clock_mono_ms();
    if (mono_ms < webhooks->next_watch_ms) {
        return;
    }
    const bool has_more = look_for_alerts(webhooks);
    const bool is_pruning = prune(webhooks);
    webhooks->next_watch_ms =
        has_more || is_pruning ? mono_ms : mono_ms + webhooks->service->config.alert_period_ms;
}

/* ---- what is due */

static bool gather(void *context, const void *record)
{
    struct webhooks *webhooks = context;
    webhooks->gathered[webhooks->gathered_count++] = *(const struct delivery *)record;
    return webhooks->gathered_count < webhooks->gathered_most;
}

/* One that can never be written (its webhook or its subject is gone) is dropped; another fault is tried again later. */
static void prepare(struct webhooks *webhooks, const struct delivery *delivery)
{
    struct error err;
    struct due *due = &webhooks->due[webhooks->due_count++];
    due->delivery = *delivery;
    (void)webhook_event_id(delivery, due->id);
    buffer_init(&due->body, BODY_BYTES);
    memset(&due->webhook, 0, sizeof(due->webhook));
    enum error_code code =
        ledger_read_webhook_no(webhooks->reader, delivery->webhook_no, &due->webhook, &err);
    if (code == ERR_OK) {
        code = ledger_read_alert(webhooks->reader, delivery->alert_no, &due->alert, &err);
    }
    if (code == ERR_OK) {
        code =
            webhook_event_write(webhooks->reader, &due->alert, due->webhook.name, &due->body, &err);
    }
    due->is_dropped = code == ERR_NOT_FOUND || (code == ERR_OK && due->webhook.disabled != 0);
    due->why = due->is_dropped  ? "the webhook is gone or disabled"
               : code != ERR_OK ? "it could not be written"
                                : NULL;
    if (code != ERR_OK && code != ERR_NOT_FOUND) {
        log_event(LOG_WARNING, "webhook_not_written", log_text("detail", err.detail));
    }
}

static enum error_code gather_some(struct webhooks *webhooks,
                                   enum select_kind select,
                                   struct select_args args,
                                   struct error *err)
{
    webhooks->gathered_count = 0;
    webhooks->gathered_most = (size_t)args.limit;
    return ledger_read_list(webhooks->reader, select, &args, gather, webhooks, err);
}

/* Those of one webhook, as many as it may have in this round. */
static enum error_code collect_of(struct webhooks *webhooks,
                                  int64_t webhook_no,
                                  int64_t now_ms,
                                  struct error *err)
{
    const size_t room = ROUND - webhooks->due_count;
    const struct select_args args = {
        .n = {webhook_no, now_ms},
        .limit = room < OF_ONE ? (int64_t)room : OF_ONE,
    };
    const enum error_code code = gather_some(webhooks, SELECT_DELIVERIES_DUE, args, err);
    for (size_t i = 0; code == ERR_OK && i < webhooks->gathered_count; i++) {
        prepare(webhooks, &webhooks->gathered[i]);
    }
    webhooks->last_webhook_no = webhook_no;
    return code;
}

/* One look-up a webhook for which anything waits. */
static enum error_code collect(struct webhooks *webhooks, int64_t now_ms, struct error *err)
{
    const int64_t end_no = webhooks->last_webhook_no;
    int64_t after_no = end_no;
    bool is_second_half = false;
    webhooks->due_count = 0;
    webhooks->next_due_ms = 0;
    while (webhooks->due_count < ROUND) {
        const struct select_args args = {.n = {after_no}, .limit = 1};
        enum error_code code = gather_some(webhooks, SELECT_DELIVERIES_PENDING, args, err);
        if (code != ERR_OK) {
            return code;
        }
        const struct delivery first = webhooks->gathered[0];
        const bool found = webhooks->gathered_count > 0;
        if (is_second_half && (!found || first.webhook_no > end_no)) {
            return ERR_OK;
        }
        if (!found) {
            is_second_half = true;
            after_no = 0;
            continue;
        }
        after_no = first.webhook_no;
        if (first.next_ms <= now_ms) {
            code = collect_of(webhooks, first.webhook_no, now_ms, err);
        } else if (webhooks->next_due_ms == 0 || first.next_ms < webhooks->next_due_ms) {
            webhooks->next_due_ms = first.next_ms;
        }
        if (code != ERR_OK) {
            return code;
        }
    }
    return ERR_OK;
}

/* ---- sending */

static enum webhook_reach reach_of(const char *text)
{
    return strcmp(text, "public") == 0 ? WEBHOOK_REACH_PUBLIC
           : strcmp(text, "any") == 0  ? WEBHOOK_REACH_ANY
                                       : WEBHOOK_REACH_PRIVATE;
}

static bool sign(struct due *due, struct webhook_post *post, int64_t now_ms)
{
    struct error err;
    const struct webhook *webhook = &due->webhook;
    *post = (struct webhook_post){
        .url = webhook->url,
        .id = due->id,
        .timestamp_s = now_ms / 1000,
        .signature = due->signature,
        .body = buffer_text(&due->body),
        .body_bytes = due->body.length_bytes,
    };
    const struct webhook_message message = {post->id, post->timestamp_s, post->body,
                                            post->body_bytes};
    const char *old = webhook->old_until_ms > now_ms ? webhook->old_secret : "";
    const bool is_signed =
        webhook_sign(&message, webhook->secret, old, due->signature, &err) == ERR_OK;
    if (!is_signed) {
        log_event(LOG_ERROR, "webhook_not_signed", log_text("detail", err.detail));
    }
    return is_signed;
}

/* When a failed one is tried again: four times as long as before, at most a day. */
static int64_t pause_ms(int64_t first_ms, int64_t tries)
{
    int64_t pause = first_ms;
    for (int64_t i = 0; i < tries && pause < DAY_MS; i++) {
        pause *= RETRY_FACTOR;
    }
    return pause < DAY_MS ? pause : DAY_MS;
}

/* @post: how it went; NULL: it was not sent. */
static void conclude(struct webhooks *webhooks,
                     const struct due *due,
                     const struct webhook_post *post,
                     struct command *command)
{
    const struct config *config = &webhooks->service->config;
    struct command_delivered *told = &command->delivered;
    memset(command, 0, sizeof(*command));
    command->kind = COMMAND_DELIVERED;
    command->role = ROLE_ADMIN;
    told->delivery_no = due->delivery.delivery_no;
    told->status = post != NULL ? post->status : 0;
    told->gone = told->status == STATUS_GONE;
    const bool is_done = told->status >= 200 && told->status <= 299;
    const bool is_last = due->delivery.tries + 1 >= config->webhook_tries_max;
    told->state = is_done                                    ? DELIVERY_DELIVERED
                  : due->is_dropped || told->gone || is_last ? DELIVERY_DEAD
                                                             : DELIVERY_PENDING;
    told->next_ms = clock_wall_ms() + pause_ms(config->webhook_retry_first_ms, due->delivery.tries);
    const char *error = post != NULL       ? post->error
                        : due->why != NULL ? due->why
                                           : "it could not be signed";
    memcpy(told->error, error, strlen(error) + 1);
    if (told->state == DELIVERY_DEAD) {
        log_event(LOG_WARNING, "webhook_dead", log_text("webhook", due->webhook.name),
                  log_text("id", due->id), log_text("detail", error));
    }
}

/* False when what became of them could not be stored. */
static bool send_due(struct webhooks *webhooks)
{
    const struct config *config = &webhooks->service->config;
    const struct webhook_limits limits = {
        .reach = reach_of(config->webhook_addresses.text),
        .timeout_ms = config->webhook_timeout_ms,
    };
    struct error err;
    const struct webhook_post *post_of[ROUND] = {NULL};
    size_t count = 0;
    const int64_t now_ms = clock_wall_ms();
    for (size_t i = 0; i < webhooks->due_count; i++) {
        struct due *due = &webhooks->due[i];
        if (due->why == NULL && sign(due, &webhooks->posts[count], now_ms)) {
            post_of[i] = &webhooks->posts[count++];
        }
    }
    if (count > 0 && webhook_send(webhooks->posts, count, &limits, &err) != ERR_OK) {
        log_event(LOG_WARNING, "webhooks_not_sent", log_text("detail", err.detail));
    }
    for (size_t i = 0; i < webhooks->due_count; i++) {
        conclude(webhooks, &webhooks->due[i], post_of[i], &webhooks->commands[i]);
    }
    return run_commands(webhooks, webhooks->due_count);
}

/* True when there may be more at once. */
static bool deliver(struct webhooks *webhooks)
{
    struct error err;
    if (clock_mono_ms() < webhooks->paused_ms) {
        return false;
    }
    enum error_code code = ledger_reader_begin(webhooks->reader, &err);
    if (code == ERR_OK) {
        code = collect(webhooks, clock_wall_ms(), &err);
        ledger_reader_end(webhooks->reader);
    }
    if (code != ERR_OK) {
        log_event(LOG_WARNING, "deliveries_not_read", log_text("detail", err.detail));
        return false;
    }
    const bool any = webhooks->due_count > 0;
    const bool is_stored = !any || send_due(webhooks);
    if (!is_stored) {
        /* The same would be sent again at once, and for as long as the disk is full. */
        webhooks->paused_ms = clock_mono_ms() + webhooks->service->config.webhook_retry_first_ms;
    }
    for (size_t i = 0; i < webhooks->due_count; i++) {
        buffer_fini(&webhooks->due[i].body);
    }
    return any && is_stored;
}

/* ---- the thread */

static int64_t sleep_ms(const struct webhooks *webhooks)
{
    int64_t ms = webhooks->next_watch_ms - clock_mono_ms();
    const int64_t paused_ms = webhooks->paused_ms - clock_mono_ms();
    if (paused_ms > 0) {
        ms = paused_ms < ms ? paused_ms : ms;
    } else if (webhooks->next_due_ms > 0) {
        const int64_t due_ms = webhooks->next_due_ms - clock_wall_ms();
        ms = due_ms < ms ? due_ms : ms;
    }
    ms = ms < SLEEP_MS ? ms : SLEEP_MS;
    return ms > 1 ? ms : 1;
}

/* False when it is to end. */
static bool wait_for_work(struct webhooks *webhooks, bool has_more)
{
    const int64_t until_ms = clock_mono_ms() + (has_more ? 0 : sleep_ms(webhooks));
    const struct timespec until = {.tv_sec = until_ms / 1000, .tv_nsec = until_ms % 1000 * 1000000};
    pthread_mutex_lock(&webhooks->lock);
    while (!webhooks->is_woken && !webhooks->is_stopping && clock_mono_ms() < until_ms) {
        (void)pthread_cond_timedwait(&webhooks->wake, &webhooks->lock, &until);
    }
    webhooks->is_woken = false;
    const bool goes_on = !webhooks->is_stopping;
    pthread_mutex_unlock(&webhooks->lock);
    return goes_on;
}

static void *run(void *context)
{
    struct webhooks *webhooks = context;
    bool has_more = true;
    while (wait_for_work(webhooks, has_more)) {
        watch(webhooks);
        has_more = deliver(webhooks);
    }
    return NULL;
}

void webhooks_wake(struct webhooks *webhooks)
{
    if (webhooks != NULL) {
        pthread_mutex_lock(&webhooks->lock);
        webhooks->is_woken = true;
        pthread_cond_signal(&webhooks->wake);
        pthread_mutex_unlock(&webhooks->lock);
    }
}

static bool init_lock(struct webhooks *webhooks)
{
    pthread_condattr_t attributes;
    if (pthread_condattr_init(&attributes) != 0) {
        return false;
    }
    const bool ok = pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC) == 0 &&
                    pthread_cond_init(&webhooks->wake, &attributes) == 0 &&
                    pthread_mutex_init(&webhooks->lock, NULL) == 0;
    (void)pthread_condattr_destroy(&attributes);
    return ok;
}

enum error_code webhooks_create(struct service *service,
                                struct webhooks **ret_webhooks,
                                struct error *err)
{
    struct webhooks *webhooks = calloc(1, sizeof(*webhooks));
    if (webhooks == NULL || !init_lock(webhooks) || curl_global_init(CURL_GLOBAL_ALL) != CURLE_OK) {
        free(webhooks);
        return error_set(err, ERR_UNAVAILABLE, "no memory for webhooks");
    }
    webhooks->service = service;
    for (size_t i = 0; i < COMMANDS; i++) {
        webhooks->pointers[i] = &webhooks->commands[i];
    }
    *ret_webhooks = webhooks;
    return ledger_reader_open(service->url, &webhooks->reader, err);
}

enum error_code webhooks_start(struct webhooks *webhooks, struct error *err)
{
    webhooks->has_thread = pthread_create(&webhooks->thread, NULL, run, webhooks) == 0;
    return webhooks->has_thread
               ? ERR_OK
               : error_set(err, ERR_UNAVAILABLE, "the webhook thread does not start");
}

void webhooks_stop(struct webhooks *webhooks)
{
    if (webhooks == NULL || !webhooks->has_thread) {
        return;
    }
    pthread_mutex_lock(&webhooks->lock);
    webhooks->is_stopping = true;
    pthread_cond_signal(&webhooks->wake);
    pthread_mutex_unlock(&webhooks->lock);
    (void)pthread_join(webhooks->thread, NULL);
    webhooks->has_thread = false;
}

void webhooks_destroy(struct webhooks *webhooks)
{
    if (webhooks == NULL) {
        return;
    }
    webhooks_stop(webhooks);
    ledger_reader_close(webhooks->reader);
    (void)pthread_mutex_destroy(&webhooks->lock);
    (void)pthread_cond_destroy(&webhooks->wake);
    free(webhooks);
    curl_global_cleanup();
}

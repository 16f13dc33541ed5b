/* The parts of the daemon, started in order and stopped in the opposite one. */
#include "server/service.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "ledger/base/clock.h"
#include "ledger/base/log.h"
#include "server/api.h"
#include "server/api_feed.h"
#include "server/bulk.h"
#include "server/feed.h"
#include "server/json_arena.h"
#include "server/notify.h"
#include "server/oidc.h"
#include "server/tls.h"
#include "server/webhooks.h"

enum {
    REPORTS_QUEUED_MAX = 64,
    REPORT_NICENESS = 10,    /* a report takes what freezes leave */
    READS_QUEUED_MAX = 4096, /* reads that wait; beyond it 503 */
    DESCRIPTORS_SPARE = 128, /* beside connections: files of the ledger, the log, ... */
};

static void tell_feed(void *context, const int64_t *cluster_nos, size_t count)
{
    struct service *service = context;
    feed_tell(service->feed, cluster_nos, count);
    http_wake(service->http);
}

static void tell_alerts(void *context)
{
    const struct service *service = context;
    webhooks_wake(service->webhooks);
}

static void tick(struct service *service, int64_t mono_ms)
{
    feed_turn(service->feed, mono_ms, http_is_stopping(service->http), api_feed_again);
}

static struct http_options http_options_of(struct service *service)
{
    const struct config *config = &service->config;
    return (struct http_options){
        .listen = config->listen.text,
        .tls = service->tls,
        .tls_priorities = config->tls_priorities.text,
        .proxy_address = config->proxy_address.text,
        .connections_max = config->connections_max,
        .connections_per_address_max = config->connections_per_address_max,
        .idle_timeout_s = config->idle_timeout_s,
        .request_timeout_s = config->request_timeout_s,
        .bodies_max_bytes = config->bodies_max_bytes,
        .stop_timeout_s = config->stop_timeout_s,
        .service = service,
        .metrics = service->metrics,
        .begin = api_begin,
        .handle = NULL,
        .tick = tick,
    };
}

/* A renewed certificate is taken by new connections; a broken one leaves what there was. */
static void reload_certificate(struct service *service)
{
    struct error err;
    const struct config *config = &service->config;
    if (service->tls == NULL) {
        return;
    }
    if (tls_reload(service->tls, config->tls_cert.text, config->tls_key.text, clock_mono_ms(),
                   &err) != ERR_OK) {
        log_event(LOG_ERROR, "certificate_not_reloaded", log_text("key", err.field),
                  log_text("detail", err.detail));
        return;
    }
    log_event(LOG_INFO, "certificate_reloaded", log_text("file", config->tls_cert.text));
}

/* Take the keys that may change without a restart. */
static void reload(struct service *service)
{
    struct config fresh;
    struct error err;
    if (service->config_path == NULL) {
        log_event(LOG_INFO, "nothing_to_reload", log_text("reason", "no --config"));
        return;
    }
    notify_send("RELOADING=1");
    config_init(&fresh);
    /* What the command line set is not the file's to change. */
    fresh.listen = service->config.listen;
    fresh.engine = service->config.engine;
    if (config_read(service->config_path, &fresh, &err) != ERR_OK) {
        log_event(LOG_ERROR, "reload_failed", log_text("detail", err.detail));
    } else {
        config_reload(&service->config, &fresh);
        const struct http_options options = http_options_of(service);
        log_set_level(service->config.log_level);
        http_set_limits(service->http, &options);
        batcher_set_limits(service->batcher, service->config.queue_max,
                           service->config.batch_max_commands);
        auth_set_failures(service->auth, service->config.token_failures_per_minute);
        feed_set_waiters(service->feed, service->config.feed_waiters_max);
        log_event(LOG_INFO, "reloaded", log_text("config", service->config_path));
    }
    notify_send("READY=1");
}

static void signalled(struct service *service, int number)
{
    if (number == SIGHUP) {
        reload_certificate(service);
        if (service->oidc != NULL) {
            oidc_reload(service->oidc);
        }
        reload(service);
        return;
    }
    if (!http_is_stopping(service->http)) {
        log_event(LOG_INFO, "stopping", log_int("signal", number));
        notify_send("STOPPING=1");
        http_stop(service->http);
    }
}

/* Tokens are read by a reader of their own, before there are threads. */
static enum error_code load_tokens(struct service *service, struct error *err)
{
    struct ledger_reader *reader;
    enum error_code code = ledger_reader_open(service->url, &reader, err);
    if (code != ERR_OK) {
        return code;
    }
    code = auth_reload(service->auth, reader, clock_wall_ms(), err);
    ledger_reader_close(reader);
    return code;
}

static enum error_code start_oidc(struct service *service, struct error *err)
{
    const struct config *config = &service->config;
    const struct oidc_settings settings = {
        .issuer = config->oidc_issuer.text,
        .audience = config->oidc_audience.text,
        .jwks = config->oidc_jwks.text,
        .name_claim = config->oidc_name_claim.text,
        .groups_claim = config->oidc_groups_claim.text,
        .roles = config->oidc_roles.text,
    };
    return settings.issuer[0] != '\0' ? oidc_create(&settings, &service->oidc, err) : ERR_OK;
}

static enum error_code start_ledger(struct service *service, struct error *err)
{
    const struct config *config = &service->config;
    const struct ledger_options options = {.cache_bytes = config->cache_bytes};
    enum error_code code = ledger_open(service->url, &options, &service->ledger, err);
    if (code == ERR_OK) {
        code = readers_create(service->url, (size_t)config->reader_threads, 0, READS_QUEUED_MAX,
                              &service->readers, err);
    }
    if (code == ERR_OK) {
        code = readers_create(service->url, 1, REPORT_NICENESS, REPORTS_QUEUED_MAX,
                              &service->reports, err);
    }
    if (code == ERR_OK) {
        code = auth_create(config->token_failures_per_minute, &service->auth, err);
    }
    if (code == ERR_OK) {
        code = start_oidc(service, err);
    }
    return code == ERR_OK ? load_tokens(service, err) : code;
}

/* Only after items of requests, so that the loop is there. */
static void wake_loop(void *context)
{
    const struct service *service = context;
    http_wake(service->http);
}

static enum error_code start_threads(struct service *service, struct error *err)
{
    const struct config *config = &service->config;
    const struct batcher_options options = {
        .ledger = service->ledger,
        .metrics = service->metrics,
        .queue_max = config->queue_max,
        .batch_max = config->batch_max_commands,
        .timer_period_ms = config->timer_period_ms,
        .feed_changed = tell_feed,
        .alerts_made = tell_alerts,
        .batch_done = wake_loop,
        .context = service,
    };
    enum error_code code = webhooks_create(service, &service->webhooks, err);
    if (code == ERR_OK) {
        code = batcher_create(&options, &service->batcher, err);
    }
    if (code == ERR_OK) {
        code = bulk_create(service, &service->bulk, err);
    }
    return code == ERR_OK ? webhooks_start(service->webhooks, err) : code;
}

static enum error_code start_http(struct service *service, struct error *err)
{
    const struct config *config = &service->config;
    if (config->tls_cert.text[0] != '\0' || config->tls_key.text[0] != '\0') {
        const enum error_code code =
            tls_create(config->tls_cert.text, config->tls_key.text, &service->tls, err);
        if (code != ERR_OK) {
            return code;
        }
    }
    struct http_options options = http_options_of(service);
    options.handle = api_handle;
    options.signalled = signalled;
    return http_create(&options, &service->http, err);
}

/* As many descriptors as connections need, if the system lets us. */
static void raise_descriptors(struct service *service)
{
    struct rlimit limit;
    const rlim_t wanted = (rlim_t)service->config.connections_max + DESCRIPTORS_SPARE;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= wanted) {
        return;
    }
    limit.rlim_cur = limit.rlim_max < wanted ? limit.rlim_max : wanted;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_cur < wanted) {
        service->config.connections_max = (int64_t)limit.rlim_cur - DESCRIPTORS_SPARE;
        log_event(LOG_WARNING, "fewer_connections",
                  log_int("connections_max", service->config.connections_max),
                  log_text("reason", "RLIMIT_NOFILE"));
    }
}

enum error_code service_start(struct service *service, struct error *err)
{
    log_set_level(service->config.log_level);
    http_block_signals();
    json_arena_install();
    raise_descriptors(service);
    enum error_code code = metrics_create(&service->metrics, err);
    if (code == ERR_OK) {
        code = feed_create(service->config.feed_waiters_max, &service->feed, err);
    }
    if (code == ERR_OK) {
        code = idempotency_create(&service->idempotency, err);
    }
    /* The socket before the threads that wake its loop; nobody is answered before service_run(). */
    if (code == ERR_OK) {
        code = start_ledger(service, err);
    }
    if (code == ERR_OK) {
        code = start_http(service, err);
    }
    return code == ERR_OK ? start_threads(service, err) : code;
}

bool service_run(struct service *service)
{
    char status[64];
    (void)snprintf(status, sizeof(status), "READY=1\nSTATUS=port %u", http_port(service->http));
    log_event(LOG_INFO, "listening", log_text("address", service->config.listen.text),
              log_int("port", http_port(service->http)));
    notify_send(status);
    return http_run(service->http);
}

/*
 * Threads first, and nothing is freed before all have ended: jobs of clients that have gone are still under way. What
 * the ledger thread finishes may go on to a reader; what a reader then wants of the ledger is refused.
 */
static void stop_threads(struct service *service)
{
    webhooks_stop(service->webhooks);
    bulk_stop(service->bulk);
    batcher_stop(service->batcher);
    readers_stop(service->readers);
    readers_stop(service->reports);
}

void service_fini(struct service *service)
{
    stop_threads(service);
    bulk_destroy(service->bulk);
    batcher_destroy(service->batcher);
    webhooks_destroy(service->webhooks);
    readers_destroy(service->readers);
    readers_destroy(service->reports);
    http_destroy(service->http);
    tls_destroy(service->tls);
    while (service->free_slots != NULL) {
        struct command_slot *next = service->free_slots->next;
        free(service->free_slots);
        service->free_slots = next;
    }
    feed_destroy(service->feed);
    idempotency_destroy(service->idempotency);
    auth_destroy(service->auth);
    oidc_destroy(service->oidc);
    metrics_destroy(service->metrics);
    ledger_close(service->ledger);
}

/*
 * The daemon as one struct: its parts, how they start, and how they stop.
 *
 * Starting: ledger, readers, tokens, batcher, bulk thread, then the socket, so that whoever connects is answered.
 * Stopping is the same backwards: no new connections, answer what was accepted, commit what is queued, close.
 */
#ifndef SERVER_SERVICE_H
#define SERVER_SERVICE_H

#include <stdbool.h>

#include "ledger/base/error.h"
#include "ledger/ledger.h"
#include "server/auth.h"
#include "server/batcher.h"
#include "server/config.h"
#include "server/http.h"
#include "server/metrics.h"
#include "server/reader.h"

struct bulk;
struct command_slot;
struct feed;
struct idempotency;
struct oidc;
struct tls;
struct webhooks;

enum { SERVICE_URL_BYTES = 1280 };

struct service {
    struct config config;
    const char *config_path; /* borrowed; NULL: none to reload */
    char url[SERVICE_URL_BYTES];
    struct ledger *ledger;
    struct readers *readers;
    struct readers *reports; /* one thread for what may take long */
    struct auth *auth;
    struct oidc *oidc; /* NULL: no identity provider */
    struct metrics *metrics;
    struct batcher *batcher;
    struct bulk *bulk;
    struct webhooks *webhooks;
    struct feed *feed;
    struct idempotency *idempotency;
    struct tls *tls; /* NULL: plain HTTP */
    struct http *http;
    struct command_slot *free_slots; /* for reuse; HTTP loop */
    size_t free_slot_count;
};

/**
 * Open the ledger at @url and start all parts of the daemon; nothing is served before service_run().
 *
 * @service  zeroed, with config and url set; stays where it is
 *
 * Errors are those of the parts, each with what to do about it. service_fini() afterwards in any case.
 */
enum error_code service_start(struct service *service, struct error *err);

/** Serve until SIGTERM or SIGINT. False when accepted requests were left unanswered. */
bool service_run(struct service *service);

/** Stop and close what was started. */
void service_fini(struct service *service);

#endif

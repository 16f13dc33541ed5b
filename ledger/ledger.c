/*
 * Opening and closing a ledger, and its housekeeping. See ledger.h.
 */
#include "ledger/ledger.h"

#include <stdlib.h>
#include <string.h>

#include "ledger/alerts.h"
#include "ledger/lists.h"
#include "ledger/shell.h"
#include "ledger/wait.h"

enum { CACHE_BYTES_DEFAULT = 64 * 1024 * 1024 };

enum error_code ledger_open(const char *url,
                            const struct ledger_options *options,
                            struct ledger **ret_ledger,
                            struct error *err)
{
    bool create = options != NULL && options->create;
    int64_t cache_bytes = options == NULL ? 0 : options->cache_bytes;
    struct ledger *ledger = calloc(1, sizeof *ledger);
    if (ledger == NULL) {
        return error_set(err, ERR_UNAVAILABLE, "out of memory for the ledger");
    }
    map_init(&ledger->times, free);
    map_init(&ledger->payers, payer_rows_destroy);
    map_init(&ledger->cards, card_versions_destroy);
    map_init(&ledger->waiting, waiting_root_destroy);
    enum error_code code =
        store_open(url, create ? STORE_CREATE : STORE_WRITE, &ledger->store, err);
    if (code == ERR_OK) {
        code = working_set_create(
            ledger->store, cache_bytes > 0 ? cache_bytes : CACHE_BYTES_DEFAULT, &ledger->set, err);
    }
    if (code != ERR_OK) {
        ledger_close(ledger);
        return code;
    }
    *ret_ledger = ledger;
    return ERR_OK;
}

void ledger_close(struct ledger *ledger)
{
    if (ledger == NULL) {
        return;
    }
    map_fini(&ledger->times);
    map_fini(&ledger->waiting);
    lists_fini(ledger);
    alerts_fini(ledger);
    working_set_destroy(ledger->set);
    store_close(ledger->store);
    free(ledger);
}

bool ledger_feed_changed(struct ledger *ledger,
                         int64_t *cluster_nos,
                         size_t most,
                         size_t *ret_count)
{
    size_t count = ledger->feed_count < most ? ledger->feed_count : most;
    bool changed = ledger->feed_count > 0;
    memcpy(cluster_nos, ledger->feed_clusters, count * sizeof cluster_nos[0]);
    memmove(ledger->feed_clusters, ledger->feed_clusters + count,
            (ledger->feed_count - count) * sizeof cluster_nos[0]);
    ledger->feed_count -= count;
    *ret_count = count;
    return changed;
}

bool ledger_alerts_made(struct ledger *ledger)
{
    const bool made = ledger->alerts.made;
    ledger->alerts.made = false;
    return made;
}

enum error_code ledger_probe(struct ledger *ledger, int64_t now_ms, struct error *err)
{
    const struct sequence probe = {.name = "probe", .last = now_ms};
    enum error_code code = store_begin(ledger->store, err);
    if (code != ERR_OK) {
        return code;
    }
    code = store_put(ledger->store, &record_types[RECORD_SEQUENCE], &probe, err);
    if (code == ERR_OK) {
        return store_commit(ledger->store, err);
    }
    store_rollback(ledger->store);
    return code;
}

enum error_code ledger_maintain(struct ledger *ledger, struct error *err)
{
    return store_maintain(ledger->store, err);
}

enum error_code ledger_backup(struct ledger *ledger, const char *to, struct error *err)
{
    return store_backup(ledger->store, to, err);
}

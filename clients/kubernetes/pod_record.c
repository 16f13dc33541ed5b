/*
 * Steps and the table of pods: see pod_record.h.
 *
 *   unknown --bind--> waiting --(feed: frozen)--> frozen --lift--> frozen --start--> running --settle--> settled
 *      |    freeze       |                          |
 *      |                 +------- release ----------+------------------------------------------------> freed
 *      +--bind: 404--> none ------------------------------------ charge ----------------------------> settled
 */
#include "clients/kubernetes/pod_record.h"

#include <stdlib.h>
#include <string.h>

#include "clients/kubernetes/object.h"

enum { CHAINS_FIRST = 1024 };

static bool wants_freeze(const struct pod_record *record)
{
    return record->rules.mode == NAMESPACE_GATE && record->facts.gated && !record->frozen_here;
}

/* Of a pod without a hold. */
static enum pod_step step_unheld(const struct pod_record *record)
{
    const struct pod_facts *facts = &record->facts;
    if (facts->end.at_s == 0) {
        return wants_freeze(record) ? POD_STEP_FREEZE : POD_STEP_NONE;
    }
    /* What ended before its namespace took part is nobody's business. */
    return facts->placed && facts->end.at_s >= record->rules.since_s ? POD_STEP_CHARGE
                                                                     : POD_STEP_NONE;
}

/* Of a pod with a hold that has not started. */
static enum pod_step step_held(const struct pod_record *record)
{
    const struct pod_facts *facts = &record->facts;
    if (facts->end.at_s > 0) {
        return facts->placed ? POD_STEP_SETTLE : POD_STEP_RELEASE;
    }
    if (facts->placed) {
        return POD_STEP_START;
    }
    return record->hold == POD_HOLD_FROZEN && facts->gated ? POD_STEP_LIFT : POD_STEP_NONE;
}

enum pod_step pod_record_step(const struct pod_record *record)
{
    const bool ended = record->facts.end.at_s > 0;
    switch (record->hold) {
    case POD_HOLD_UNKNOWN:
        return !ended && wants_freeze(record) ? POD_STEP_FREEZE : POD_STEP_BIND;
    case POD_HOLD_NONE:
        return step_unheld(record);
    case POD_HOLD_WAITING:
    case POD_HOLD_FROZEN:
        return step_held(record);
    case POD_HOLD_RUNNING:
        if (!ended) {
            return POD_STEP_NONE;
        }
        return record->conflict ? POD_STEP_CORRECT : POD_STEP_SETTLE;
    case POD_HOLD_SETTLED:
    case POD_HOLD_FREED:
        return POD_STEP_NONE;
    }
    return POD_STEP_NONE;
}

bool pod_record_is_done(const struct pod_record *record)
{
    const bool nothing_to_tell =
        record->hold == POD_HOLD_NONE && pod_record_step(record) == POD_STEP_NONE;
    return record->gone &&
           (record->hold == POD_HOLD_SETTLED || record->hold == POD_HOLD_FREED || nothing_to_tell);
}

/* ---- the table */

bool pod_store_init(struct pod_store *store)
{
    *store = (struct pod_store){.chains_count = CHAINS_FIRST};
    store->chains = calloc(CHAINS_FIRST, sizeof(struct pod_record *));
    return store->chains != NULL;
}

static void record_destroy(struct pod_record *record)
{
    json_decref(record->resources);
    json_decref(record->allocated);
    json_decref(record->relations);
    free(record->gang);
    free(record);
}

void pod_store_fini(struct pod_store *store)
{
    for (size_t i = 0; store->chains != NULL && i < store->chains_count; i++) {
        while (store->chains[i] != NULL) {
            struct pod_record *record = store->chains[i];
            store->chains[i] = record->next;
            record_destroy(record);
        }
    }
    free(store->chains);
    *store = (struct pod_store){.chains = NULL};
}

static size_t chain_of(const struct pod_store *store, const char *uid)
{
    uint32_t hash = 2166136261u;
    for (; *uid != '\0'; uid++) {
        hash = (hash ^ (unsigned char)*uid) * 16777619u;
    }
    return hash & (store->chains_count - 1);
}

struct pod_record *pod_store_find(const struct pod_store *store, const char *uid)
{
    struct pod_record *record = store->chains[chain_of(store, uid)];
    while (record != NULL && strcmp(record->facts.uid, uid) != 0) {
        record = record->next;
    }
    return record;
}

/* Doubles the chains. Without memory they only get longer. */
static void grow(struct pod_store *store)
{
    struct pod_store larger = {.chains_count = store->chains_count * 2, .count = store->count};
    larger.chains = calloc(larger.chains_count, sizeof(struct pod_record *));
    if (larger.chains == NULL) {
        return;
    }
    for (size_t i = 0; i < store->chains_count; i++) {
        while (store->chains[i] != NULL) {
            struct pod_record *record = store->chains[i];
            struct pod_record **place = &larger.chains[chain_of(&larger, record->facts.uid)];
            store->chains[i] = record->next;
            record->next = *place;
            *place = record;
        }
    }
    free(store->chains);
    *store = larger;
}

struct pod_record *pod_store_add(struct pod_store *store, const char *uid)
{
    struct pod_record *record = calloc(1, sizeof *record);
    if (record == NULL) {
        return NULL;
    }
    if (store->count >= 2 * store->chains_count) {
        grow(store);
    }
    object_copy(record->facts.uid, uid, sizeof record->facts.uid);
    struct pod_record **place = &store->chains[chain_of(store, uid)];
    record->next = *place;
    *place = record;
    store->count++;
    return record;
}

void pod_store_remove(struct pod_store *store, struct pod_record *record)
{
    struct pod_record **place = &store->chains[chain_of(store, record->facts.uid)];
    while (*place != record) {
        place = &(*place)->next;
    }
    *place = record->next;
    store->count--;
    record_destroy(record);
}

struct pod_record *pod_store_next(const struct pod_store *store, const struct pod_record *record)
{
    if (record != NULL && record->next != NULL) {
        return record->next;
    }
    size_t chain = record == NULL ? 0 : chain_of(store, record->facts.uid) + 1;
    while (chain < store->chains_count && store->chains[chain] == NULL) {
        chain++;
    }
    return chain < store->chains_count ? store->chains[chain] : NULL;
}

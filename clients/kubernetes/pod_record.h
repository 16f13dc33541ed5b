/*
 * A pod that is followed, what the ledger knows of it, and what is to be done next. The next step depends on nothing but the
 * record: a lost answer, a second list or a new agent come to the same step again, and every step can be repeated.
 */
#ifndef COREHOUR_CLIENTS_KUBERNETES_POD_RECORD_H
#define COREHOUR_CLIENTS_KUBERNETES_POD_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

#include "clients/kubernetes/gang.h"
#include "clients/kubernetes/namespaces.h"
#include "clients/kubernetes/people.h"
#include "clients/kubernetes/pod_facts.h"

/* What the ledger is known to have. */
enum pod_hold {
    POD_HOLD_UNKNOWN, /* it was not asked since something changed */
    POD_HOLD_NONE,    /* no hold: charged when it ends */
    POD_HOLD_WAITING, /* in the queue for room */
    POD_HOLD_FROZEN,
    POD_HOLD_RUNNING,
    POD_HOLD_SETTLED, /* the ledger has the end */
    POD_HOLD_FREED,   /* released before it started, or nothing to tell */
};

enum pod_step {
    POD_STEP_NONE,
    POD_STEP_FREEZE,
    POD_STEP_BIND,
    POD_STEP_START,
    POD_STEP_SETTLE,
    POD_STEP_CORRECT,
    POD_STEP_RELEASE,
    POD_STEP_CHARGE,
    POD_STEP_LIFT, /* the scheduling gate: the only step that is the API server's */
};

struct pod_record {
    struct pod_record *next; /* in its chain of the store */
    struct pod_facts facts;
    struct namespace_rules rules; /* as they were when the pod was first seen */
    char user[PEOPLE_NAME_BYTES]; /* "" until it was needed */
    char qos[65];
    json_t *resources; /* as asked; owned */
    json_t *allocated; /* as given where that is not as asked; owned, or NULL */
    json_t *relations; /* of the Pod: what people_find needs; owned, or NULL */
    struct gang *gang; /* where the namespace freezes gangs together; owned, or NULL */
    enum pod_hold hold;
    bool frozen_here;  /* the controller has sent the freeze: what follows is a bind */
    bool conflict;     /* the ledger has another end: correct it */
    bool start_known;  /* settle has to say the start: the ledger has none */
    bool gone;         /* the API server has it no more */
    bool listed;       /* by the list that is coming in */
    bool spooled;      /* has a file in the spool */
    int64_t seen_s;    /* when it was last known to exist, in seconds since 1970 */
    int64_t retry_ms;  /* monotonic: nothing is tried before */
    unsigned failures; /* of the same step in a row */
    int64_t check_ms;  /* monotonic: its node is not asked for before */
    int64_t stop_ms;   /* monotonic: when it is deleted for want of core-hours; 0: never */
    uint32_t said;     /* hash of the last Event: none is said twice */
};

/* What to do now, whatever retry_ms says. Pure. */
enum pod_step pod_record_step(const struct pod_record *record);

/* Whether the record can be forgotten: the pod is gone and the ledger has all of it. */
bool pod_record_is_done(const struct pod_record *record);

/* Pods by uid. Not thread-safe: the controller's lock is around it. */
struct pod_store {
    struct pod_record **chains;
    size_t chains_count; /* a power of two; grows */
    size_t count;
};

bool pod_store_init(struct pod_store *store);
void pod_store_fini(struct pod_store *store);

/* NULL when unknown. */
struct pod_record *pod_store_find(const struct pod_store *store, const char *uid);

/* A new zeroed record with its uid set; NULL when memory is out. The uid is not there yet. */
struct pod_record *pod_store_add(struct pod_store *store, const char *uid);
void pod_store_remove(struct pod_store *store, struct pod_record *record);

/*
 * Walks: for (r = pod_store_next(s, NULL); r != NULL; r = pod_store_next(s, r)). Nothing may be added or removed meanwhile; to
 * remove while walking, take the next one first.
 */
struct pod_record *pod_store_next(const struct pod_store *store, const struct pod_record *record);

#endif

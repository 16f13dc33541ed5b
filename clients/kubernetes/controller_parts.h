/* What the controller's files share. Nobody else includes this. */
#ifndef COREHOUR_CLIENTS_KUBERNETES_CONTROLLER_PARTS_H
#define COREHOUR_CLIENTS_KUBERNETES_CONTROLLER_PARTS_H

#include <pthread.h>
#include <stdatomic.h>

#include "clients/kubernetes/cluster_writes.h"
#include "clients/kubernetes/controller.h"
#include "clients/kubernetes/pod_record.h"

enum { NODES_MAX = 1024, NODE_FRESH_MS = 60000, TOLD_MAX = 512 };

/* A Node, as it was a moment ago. */
struct node_slot {
    char name[POD_NAME_BYTES];
    json_t *object; /* NULL: there is none, or no answer */
    int64_t asked_ms;
};

/* An Event that people should see. */
struct controller_told {
    struct pod_facts facts;
    const char *type; /* NULL: nothing is to be told */
    const char *reason;
    char message[640];
};

struct controller {
    const struct admission *parts;
    const struct agent_config *config;
    const struct api_server *server;
    int wake_fd; /* eventfd: the worker waits for it */
    struct watch *watch;
    bool watching; /* of the loop's thread */

    pthread_mutex_t lock; /* around what follows */
    struct pod_store store;
    bool leads;
    bool listed;     /* a whole list has come in since it leads */
    bool sweep;      /* compare holds with pods soon */
    bool beat;       /* report running pods soon */
    int64_t alive_s; /* when the stream of pods was last heard, in seconds since 1970; 0: never */

    /* of the watch's thread */
    struct api_caller intake_caller;
    struct node_slot *nodes;

    /* of the worker */
    struct api_caller caller;
    struct corehour_client *client;
    int64_t down_until_ms; /* the ledger is not asked before */
    unsigned ledger_failures;
    int64_t heartbeat_ms; /* when the next is due */
    int64_t sweep_ms;
    struct controller_told *told; /* TOLD_MAX Events that are still to be made; more are dropped */
    unsigned told_count;

    struct corehour_client *feed_client; /* these two of the feed's thread */
    struct api_caller feed_caller;
    pthread_t worker;
    pthread_t feed;
    bool worker_runs;
    bool feed_runs;
    atomic_bool stopping;
};

/* ---- controller.c */

/* Ends the worker's wait. Any thread. */
void controller_wake(const struct controller *controller);

/* ---- controller_intake.c */

/* What the watch tells; context is the controller. */
extern const struct watch_events controller_pod_events;

/*
 * Takes a pod in. The lock is held. adopt: also in a namespace that does not take part (any more), because the ledger has a
 * hold of it.
 */
void controller_pod_take(struct controller *controller,
                         const json_t *pod,
                         bool deleted,
                         bool adopt);

/* The record's pod is not in the API server any more, and nobody saw it go. The lock is held. */
void controller_pod_vanished(struct controller *controller,
                             struct pod_record *record,
                             int64_t seen_s);

/* Forgets a record that is done. The lock is held. Returns the record's successor in a walk. */
struct pod_record *controller_forget(struct controller *controller, struct pod_record *record);

/* ---- controller_work.c */

void *controller_work(void *context);

/* Keeps an Event for when there is time; one whose type is NULL is none. Of the worker. */
void controller_tell_later(struct controller *controller, const struct controller_told *told);

/* ---- controller_results.c */

/*
 * Takes an answer of the ledger over into the record. The lock is held.
 * status: HTTP status of the line. body: its answer; borrowed. ret_told: the Event that people should see.
 */
void controller_result(struct controller *controller,
                       struct pod_record *record,
                       enum pod_step step,
                       int status,
                       const json_t *body,
                       struct controller_told *ret_told);

/* The same step again, later and later. */
void controller_retry(struct pod_record *record, int64_t first_ms, int64_t last_ms);

/* Fills ret_told unless the same was said last. */
void controller_tell(struct pod_record *record,
                     const char *type,
                     const char *reason,
                     const char *message,
                     struct controller_told *ret_told);

/* ---- controller_sweep.c */

/* Compares the ledger's open holds with the pods that exist. Of the worker. */
void controller_sweep(struct controller *controller);

/* Reports running pods, and ends those that have to. Of the worker. */
void controller_heartbeat(struct controller *controller);

/* Whether a pod was deleted long ago and is still there: its node may be lost. */
bool controller_is_overdue(const struct controller *controller, const struct pod_record *record);

/* Ends pods on lost nodes, deletes those whose grace is over. Of the worker. */
void controller_check_pods(struct controller *controller);

/* ---- controller_gang.c */

/* Freezes one gang that is due. Of the worker. */
void controller_gangs(struct controller *controller);

/* ---- controller_feed.c */

void *controller_follow_feed(void *context);

#endif

/*
 * What a pod says about its life: when it was scheduled, whether and how it ended, and by which evidence. Pure functions over
 * the objects of the API server; they keep what an earlier state of the same pod said where a later one has forgotten it.
 *
 * The clock runs from the moment at which the pod was scheduled to the end of its last container with an accelerator: the
 * device belongs to the pod meanwhile, whether its containers work, start over or wait for an image.
 */
#ifndef COREHOUR_CLIENTS_KUBERNETES_POD_FACTS_H
#define COREHOUR_CLIENTS_KUBERNETES_POD_FACTS_H

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

#include "clients/kubernetes/resource_table.h"

/* How the end became known, the best first. A later end with better evidence corrects an earlier one. */
enum pod_evidence {
    EVIDENCE_CONTAINERS, /* the last accelerator container's finishedAt */
    EVIDENCE_DISRUPTED,  /* the condition DisruptionTarget */
    EVIDENCE_STATUS,     /* when the terminal status was written (managedFields) */
    EVIDENCE_DELETION,   /* deletionTimestamp of the final deletion */
    EVIDENCE_NODE_LOST,  /* when the lost node's pod was last ready */
    EVIDENCE_LAST_SEEN,  /* when the pod was last known to live; it vanished while nobody looked */
    EVIDENCE_RECEIPT,    /* when the agent was told */
};

enum { POD_UID_BYTES = 64, POD_NAME_BYTES = 254, POD_NAMESPACE_BYTES = 64 };

struct pod_end {
    int64_t at_s;        /* 0: not ended */
    const char *outcome; /* as POST settle takes it; a constant */
    enum pod_evidence evidence;
};

/* Texts are "" and times 0 where nothing is known. */
struct pod_facts {
    char uid[POD_UID_BYTES];
    char namespace[POD_NAMESPACE_BYTES];
    char name[POD_NAME_BYTES];
    char node[POD_NAME_BYTES];
    int64_t created_s;
    int64_t scheduled_s;  /* from the condition PodScheduled, else status.startTime */
    int64_t deletion_s;   /* deletionTimestamp: in the future while the grace lasts */
    int64_t grace_s;      /* deletionGracePeriodSeconds; -1 without */
    int64_t ready_lost_s; /* when the condition Ready turned False; 0 while it is True */
    int64_t time_limit_s; /* activeDeadlineSeconds; 0 without */
    bool gated;           /* our scheduling gate is on */
    bool placed;          /* bound to a node */
    struct pod_end end;
};

/*
 * Reads the facts of a pod.
 *
 * deleted: the object came with a DELETED event. now_s: when it was received, in seconds since 1970.
 * facts: in: what was known of this pod, or zeroed; out: with what this object adds. An end once known by better evidence is
 * kept. Returns false, with nothing changed, for what is no pod (no uid).
 */
bool pod_facts_read(const json_t *pod,
                    const struct resource_table *table,
                    bool deleted,
                    int64_t now_s,
                    struct pod_facts *facts);

/* Whether a container (or init container) asks for an accelerator of the table. */
bool pod_container_is_accelerated(const json_t *container, const struct resource_table *table);

/* "containers finished", ...: one word or two for logs, Events and corrections. */
const char *pod_evidence_name(enum pod_evidence evidence);

/* When the charge begins: scheduled_s, else created_s. */
int64_t pod_started_s(const struct pod_facts *facts);

#endif

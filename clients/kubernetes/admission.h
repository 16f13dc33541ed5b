/*
 * What is answered to the API server before it makes an object (SPEC 5.2, 6.3, 11.1). Three questions, each a path of the webhook:
 *
 *   enforce  validating: may this pod be? Its core-hours are frozen by its uid, or it is refused with the line.
 *   gate     mutating: the pod gets a scheduling gate; the controller freezes later and lifts it.
 *   stamp    mutating: objects get the name of the human who makes them.
 *
 * kube-system, kube-public, kube-node-lease and the agent's own namespace are let through before anything is looked at.
 */
#ifndef COREHOUR_CLIENTS_KUBERNETES_ADMISSION_H
#define COREHOUR_CLIENTS_KUBERNETES_ADMISSION_H

#include "clients/kubernetes/agent_config.h"
#include "clients/kubernetes/ledger_pool.h"
#include "clients/kubernetes/namespaces.h"
#include "clients/kubernetes/people.h"
#include "clients/kubernetes/resource_table.h"
#include "clients/kubernetes/review.h"

/* Everything is borrowed and outlives the webhook; any number of threads. */
struct admission {
    const struct agent_config *config;
    const struct resource_table *table;
    struct namespaces *namespaces;
    struct people *people;
    struct ledger_pool *ledger;
};

/* Answers one review: a new reference, NULL when memory is out. */
typedef json_t *(*admission_fn)(const struct admission *admission, const struct review *review);

json_t *admission_enforce(const struct admission *admission, const struct review *review);
json_t *admission_gate(const struct admission *admission, const struct review *review);
json_t *admission_stamp(const struct admission *admission, const struct review *review);

#endif

/*
 * What the agent tells the ledger about a pod, as the bodies that the API takes. Pure. A pod's hold has the id "pod-<uid>", so
 * every command about it can be sent again at any time, by any agent, and means the same.
 */
#ifndef COREHOUR_CLIENTS_KUBERNETES_COMMANDS_H
#define COREHOUR_CLIENTS_KUBERNETES_COMMANDS_H

#include <jansson.h>

#include "clients/kubernetes/pod_facts.h"

enum { HOLD_ID_BYTES = 65 };

/* What a hold is made of. Borrowed texts. */
struct command_pod {
    const char *cluster;
    const char *account;
    const char *user;
    const char *namespace;
    const char *name;
    const char *uid;
    const char *qos; /* its priority class; "" without */
    const json_t *resources;
    int64_t time_limit_s; /* activeDeadlineSeconds; 0: none */
};

/* ret_hold: HOLD_ID_BYTES. */
void command_hold_id(const char *uid, char *ret_hold);

/*
 * POST /v1/holds: mode full with a time limit, window without.
 * on_insufficient: "reject" or "wait". ttl_s: of the hold while it is not bound; 0: the cluster's.
 * All of these return a new reference, NULL when memory is out.
 */
json_t *command_freeze(const struct command_pod *pod, const char *on_insufficient, int64_t ttl_s);

/* bind: job_id is "<namespace>:<name>" as far as it fits, job_key the uid. */
json_t *command_bind(const struct pod_facts *facts);

json_t *command_start(const struct pod_facts *facts);

/* settle; with_start: whether the facts know the start well enough to overrule the ledger's. allocated: or NULL. Borrowed. */
json_t *command_settle(const struct pod_facts *facts, bool with_start, const json_t *allocated);

/* correct: settle's facts with the evidence as the reason. */
json_t *command_correct(const struct pod_facts *facts, const json_t *allocated);

json_t *command_release(const char *reason);

/* POST /v1/charges for a pod without a hold. */
json_t *command_charge(const struct command_pod *pod, const struct pod_facts *facts);

#endif

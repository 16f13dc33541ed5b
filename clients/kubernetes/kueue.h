/*
 * Kueue: what to tell the ledger about a Workload, and what to tell Kueue about the ledger's answer. Pure functions over
 * kueue.x-k8s.io Workload objects (v1beta1 and v1beta2 alike); any thread.
 *
 * The agent is the controller of AdmissionChecks whose spec.controllerName is KUEUE_CONTROLLER. A Workload for which Kueue has reserved quota
 * gets one hold for each of its pod sets, frozen all together or not at all; the holds start when the Workload is admitted and
 * settle when it is finished, evicted or gone. All that is decided here follows from the object alone, so an agent that
 * starts anew decides the same again, and the ledger answers the same command the same way (SPEC 6.1).
 *
 *   object says                                          step           answer -> state of the check
 *   Finished, or Evicted, or not reserved, or deleted    KUEUE_END
 *   QuotaReserved, check Pending                         KUEUE_FREEZE   frozen: Ready; no quota: Retry; refused: Rejected;
 *                                                                       no answer: Pending
 *   QuotaReserved and Admitted, check Ready              KUEUE_START
 *   never reserved, and anything else                    KUEUE_NOTHING
 */
#ifndef COREHOUR_CLIENTS_KUBERNETES_KUEUE_H
#define COREHOUR_CLIENTS_KUBERNETES_KUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#include "clients/kubernetes/pod_cost.h"

#define KUEUE_CONTROLLER  "corehour.io/admission-check"
#define KUEUE_HOLD_PREFIX "wl-"

enum {
    KUEUE_POD_SETS_MAX = 16, /* Kueue takes 8, with some features 18 */
    KUEUE_PODS_MAX = 4000,   /* of a Workload: its lines fit into one batch */
    KUEUE_NAME_BYTES = 254,  /* of objects */
    KUEUE_UID_BYTES = 48,
    KUEUE_MESSAGE_BYTES = 1024, /* of a check; Kueue takes 32768 */
    KUEUE_RETRY_MIN_S = 10,
    KUEUE_RETRY_MAX_S = 3600,
};

enum kueue_step { KUEUE_NOTHING, KUEUE_FREEZE, KUEUE_START, KUEUE_END };

enum kueue_state { KUEUE_PENDING, KUEUE_READY, KUEUE_RETRY, KUEUE_REJECTED };

struct kueue_pod_set {
    int64_t count;          /* pods: as assigned, else as asked */
    int64_t reclaimable;    /* of them, those that are done */
    const json_t *template; /* within the object */
};

/* A Workload, as far as it concerns the ledger. Pointers and texts of JSON live as long as the object. */
struct kueue_workload {
    char uid[KUEUE_UID_BYTES];
    char namespace[KUEUE_NAME_BYTES];
    char name[KUEUE_NAME_BYTES];
    const char *check; /* the name of our AdmissionCheck on it; NULL: none, it is not ours */
    size_t check_at;   /* its place in status.admissionChecks */
    enum kueue_state state;
    enum kueue_step step;
    int64_t reserved_s; /* since when quota is reserved; 0 when it is not */
    int64_t
        started_s; /* since when it is admitted; 0 when it never was, as far as the object says */
    int64_t
        ended_s; /* when it finished, was evicted or lost its reservation; 0 when it did not, or nobody knows */
    const char *outcome;  /* as settle takes it; "" while it runs */
    int64_t time_limit_s; /* spec.maximumExecutionTimeSeconds; 0 without */
    unsigned pod_set_count;
    struct kueue_pod_set pod_sets[KUEUE_POD_SETS_MAX];
};

/* What was done last for a Workload. Zeroed at first. */
struct kueue_memory {
    enum kueue_step step;
    int64_t reserved_s;
    int64_t reclaimable;
};

/* What the object does not say. */
struct kueue_context {
    const char *cluster;
    const char *account;
    const char *user;
    const struct resource_table *table;
};

/* What the ledger's answer means for the check. */
struct kueue_verdict {
    enum kueue_state state;
    int64_t retry_after_s; /* with KUEUE_RETRY */
    char message[KUEUE_MESSAGE_BYTES];
};

/*
 * Read a Workload and decide the next step.
 *
 * @checks   names of the AdmissionChecks that are ours: a JSON array of strings
 * @deleted  the object came with a DELETED event, at @now_s
 * ret_workload  points into @workload
 *
 * Returns false for what is no Workload, or has more pod sets or pods than there is room for; ret_problem then says so, and a Workload
 * of ours (ret_workload->check set) is to be Rejected with it. ret_problem: KUEUE_MESSAGE_BYTES.
 */
bool kueue_read(const json_t *workload,
                const json_t *checks,
                bool deleted,
                int64_t now_s,
                struct kueue_workload *ret_workload,
                char *ret_problem);

/*
 * Whether the step is still to be done, and remember it as done. Watches tell the same thing many times. An END is news only after a FREEZE or
 * START, or to an agent that knows nothing yet of the Workload. Zero the memory when the step failed or its verdict is KUEUE_PENDING: it is to be
 * done again.
 */
bool kueue_is_news(const struct kueue_workload *workload, struct kueue_memory *memory);

/*
 * The commands of the workload's step, for POST /v1/batch: of KUEUE_FREEZE with ?atomic=true, of the others without. Pod sets
 * that ask for no accelerator have none. Pods that the Workload calls reclaimable are settled when it is said: the first such time counts, so
 * answers of 409 run_conflict are to be passed over, as 404 unknown_hold at an END without a freeze.
 *
 * @now_s       for what is reclaimable
 * ret_problem  KUEUE_MESSAGE_BYTES: why a freeze cannot be asked for, such as a quantity that is none: Rejected
 * Returns a new array of objects, empty when no pod asks for an accelerator (Ready: there is nothing to freeze); NULL with ret_problem,
 * which is "" when memory is out.
 */
json_t *kueue_commands(const struct kueue_workload *workload,
                       const struct kueue_context *context,
                       int64_t now_s,
                       char *ret_problem);

/*
 * What the answers to a freeze mean.
 *
 * @status   of the HTTP answer; 0 when there was none
 * @answers  array of the batch's lines, or the problem of the whole batch
 * @now_s    to turn the ledger's earliest_at into a delay
 */
void kueue_verdict_read(int status,
                        const json_t *answers,
                        int64_t now_s,
                        struct kueue_verdict *ret_verdict);

/*
 * A JSON Patch for the Workload's status subresource that writes the verdict into our check, and fails when the object has changed since it
 * was read. Returns a new array, NULL when memory is out.
 */
json_t *kueue_patch(const json_t *workload,
                    const struct kueue_workload *facts,
                    const struct kueue_verdict *verdict,
                    int64_t now_s);

/* The runs of a started Workload for POST /v1/heartbeats, appended to @runs. Returns false when memory is out. */
bool kueue_runs_append(const struct kueue_workload *workload,
                       const struct resource_table *table,
                       json_t *runs);

/* The patch for an AdmissionCheck's status subresource that says that its controller works. Returns a new object for a merge
 * patch, NULL when memory is out or @check already says it. */
json_t *kueue_active_patch(const json_t *check, int64_t now_s);

#endif

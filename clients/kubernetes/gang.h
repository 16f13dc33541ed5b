/*
 * Pods that belong together: a namespace may ask that they are frozen all at once or not at all. Pure functions over objects of
 * the API server; any thread.
 *
 * A pod names its gang by the first of these that it has:
 *
 *   label pod-group.scheduling.sigs.k8s.io/name, size in label pod-group.scheduling.sigs.k8s.io/min-available
 *   label kueue.x-k8s.io/pod-group-name, size in annotation kueue.x-k8s.io/pod-group-total-count
 *   label leaderworkerset.sigs.k8s.io/group-key, size in annotation leaderworkerset.sigs.k8s.io/size
 *   label scheduling.x-k8s.io/pod-group: the PodGroup of scheduling.x-k8s.io says the size
 *   annotation scheduling.k8s.io/group-name: the PodGroup of Volcano says the size
 *   its controller, a Job: parallelism and completions say the size
 */
#ifndef COREHOUR_CLIENTS_KUBERNETES_GANG_H
#define COREHOUR_CLIENTS_KUBERNETES_GANG_H

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

enum {
    GANG_KEY_BYTES = 400,  /* namespace, kind and name or uid */
    GANG_PATH_BYTES = 700, /* of an object of the API server */
    GANG_SIZE_MAX = 10000, /* pods; a larger gang is none */
};

struct gang {
    char key[GANG_KEY_BYTES]; /* the same for all its pods, for no others */
    int64_t size;             /* 1 to GANG_SIZE_MAX; 0: the object at @path says it */
    char path
        [GANG_PATH_BYTES]; /* "/apis/batch/v1/namespaces/team-a/jobs/train"; "" when the size is known */
};

/*
 * The gang of a pod.
 *
 * @namespace  of the pod, which an object under admission may not say itself
 * ret_gang    untouched when the pod belongs to none: nothing names one, or the name or size is not to be read
 */
bool gang_of_pod(const json_t *pod, const char *namespace, struct gang *ret_gang);

/*
 * The size that the object at a gang's path says: of a Job the smaller of parallelism and the completions that are still to come (an absent
 * one is 1 for parallelism, no bound for completions); of a PodGroup spec.minMember.
 *
 * ret_size  1 to GANG_SIZE_MAX. Returns false for anything else, a suspended Job and a parallelism of 0 included.
 */
bool gang_size_of_object(const json_t *object, int64_t *ret_size);

#endif

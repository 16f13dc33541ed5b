/*
 * Devices of one kind as a short list: so many whole ones, so many with this share. Sums and maxima of such lists make the
 * effective request of a pod. Pure, any thread.
 */
#ifndef COREHOUR_CLIENTS_KUBERNETES_DEVICE_LIST_H
#define COREHOUR_CLIENTS_KUBERNETES_DEVICE_LIST_H

#include <stdbool.h>
#include <stdint.h>

enum { DEVICE_RUNS_MAX = 8 };

/* Devices that are alike; a whole one has no shares. */
struct device_run {
    int64_t count;         /* 1 or more */
    int64_t cores_percent; /* 1 to 99; 0: not asked */
    int64_t memory_mib;    /* 1 or more; 0: not asked */
};

/* Largest first: whole ones, then by cores, then by memory; no two runs are alike. Zeroed is the empty list. */
struct device_list {
    unsigned run_count;
    struct device_run runs[DEVICE_RUNS_MAX];
};

/* Add @run; 100 % of cores and more make whole devices. Returns false, with the list as it was, when there are more kinds of shares than
 * DEVICE_RUNS_MAX or more devices than INT64_MAX. */
bool device_list_add(struct device_list *list, struct device_run run);

/* list = both together. Returns false as above; the list is then of no use. */
bool device_list_add_all(struct device_list *list, const struct device_list *other);

/* list = the k-th largest of one or the other, for each k: cores and memory each the larger; a whole device is larger than any
 * share. Returns false as above; the list is then of no use. */
bool device_list_max(struct device_list *list, const struct device_list *other);

#endif

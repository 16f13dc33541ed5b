/* SPDX-License-Identifier: MIT
 *
 * What a job will occupy, worked out from what it asked for and from what the site's partitions say: cores, memory, GPUs by
 * model, tasks, time limit; and from that the body of a freeze. Pure, safe in any thread, nothing of Slurm's headers.
 *
 * Where a request leaves room the larger outcome counts: -N 2-4 is four nodes, of a list of partitions the one that gives
 * most. What the scheduler really allocates settles it.
 */
#ifndef COREHOUR_CLIENTS_SLURM_REQUEST_H
#define COREHOUR_CLIENTS_SLURM_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#include "clients/slurm/gres.h"

/* A number that was not given (Slurm's NO_VAL in its sizes), and one without a limit (INFINITE). */
#define SLURM_UNSET     INT64_C(-1)
#define SLURM_UNLIMITED INT64_MAX

enum { SLURM_NAME_BYTES = 129 };

/* A partition, as far as it matters for what a job occupies. */
struct slurm_partition {
    char name[SLURM_NAME_BYTES];
    bool is_default;
    bool is_exclusive;          /* whole nodes for every job: OverSubscribe=EXCLUSIVE */
    int64_t default_minutes;    /* or SLURM_UNSET or SLURM_UNLIMITED */
    int64_t max_minutes;        /* or SLURM_UNLIMITED */
    int64_t nodes;              /* it has this many */
    int64_t nodes_max;          /* of one job, or SLURM_UNLIMITED */
    int64_t node_cores;         /* CPUs of its largest node */
    int64_t node_memory_mib;    /* of its largest node */
    int64_t memory_per_cpu_mib; /* DefMemPerCPU, or SLURM_UNSET */
    int64_t memory_per_node_mib;
    struct gres_gpus node_gpus; /* of the node with most GPUs */
};

/* What a site defines; nothing is owned. */
struct slurm_site {
    const struct slurm_partition *partitions;
    size_t partitions_count;
    int64_t memory_per_cpu_mib;  /* the cluster's DefMemPerCPU, or SLURM_UNSET */
    int64_t memory_per_node_mib; /* DefMemPerNode, or SLURM_UNSET */
};

/*
 * A submission. Texts are borrowed, NULL when not given. Numbers are 0 or more, or SLURM_UNSET. `slurm_request_init` sets all
 * to not given.
 */
struct slurm_request {
    const char *account;
    const char *user;
    const char *name;
    const char *partition; /* one or a list with commas */
    const char *qos;
    const char *array; /* indices: "0-15%4" */
    const char *tres_per_job;
    const char *tres_per_node;
    const char *tres_per_socket;
    const char *tres_per_task;
    const char *cpus_per_tres;   /* "gpu:4" */
    const char *memory_per_tres; /* "gpu:1024", MiB */
    int64_t tasks;
    int64_t tasks_per_node;
    int64_t tasks_per_gpu;
    int64_t cpus_per_task;
    int64_t cpus_min;
    int64_t cpus_per_node_min;
    int64_t nodes_min;
    int64_t nodes_max;
    int64_t sockets_per_node;
    int64_t memory_per_cpu_mib;
    int64_t memory_per_node_mib; /* 0: all of the node */
    int64_t minutes;             /* or SLURM_UNLIMITED */
    bool is_exclusive;
    bool is_overcommitted; /* tasks may share CPUs */
};

/* What one task of the job (array element) will occupy, and how many there are. */
struct slurm_shape {
    int64_t nodes;
    int64_t cores;
    int64_t memory_mib; /* 0: unknown */
    struct gres_gpus gpus;
    int64_t tasks;
    int64_t max_running; /* 0: no limit */
    int64_t seconds;     /* 0: without a limit */
};

void slurm_request_init(struct slurm_request *request);

/*
 * Works the shape out. Returns false when a text of the request cannot be read (gres.h); `ret_what` then names it: "array",
 * "gres".
 */
bool slurm_shape_of(const struct slurm_request *request,
                    const struct slurm_site *site,
                    struct slurm_shape *ret_shape,
                    const char **ret_what);

/* The partitions that a request names, or the default one, as text for "job.partition"; NULL when unknown. */
const char *slurm_request_partition(const struct slurm_request *request,
                                    const struct slurm_site *site);

/*
 * {"cores", "memory_mib", "gpus"} of a shape; a new reference, NULL when memory is out. The member "model" is left out for a
 * GPU of any model.
 */
json_t *slurm_shape_resources(const struct slurm_shape *shape);

/*
 * The body of POST /v1/holds. hold, cluster: ids. A new reference, or NULL when memory is out. Names that are not UTF-8 or hold
 * control characters are left out, longer ones cut to 128 bytes; the account and user go as they are.
 */
json_t *slurm_freeze_body(const struct slurm_request *request,
                          const struct slurm_site *site,
                          const struct slurm_shape *shape,
                          const char *hold,
                          const char *cluster);

#endif

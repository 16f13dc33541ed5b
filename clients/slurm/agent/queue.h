/* SPDX-License-Identifier: MIT
 *
 * The jobs that slurmctld knows: pending, running, and those that ended within MinJobAge (squeue). Only columns
 * that no user writes are asked for, so that no job name can pretend to be a column.
 */
#ifndef COREHOUR_CLIENTS_SLURM_AGENT_QUEUE_H
#define COREHOUR_CLIENTS_SLURM_AGENT_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "clients/slurm/agent/fate.h"
#include "clients/slurm/agent/token.h"

enum { QUEUE_NAME_BYTES = 129, QUEUE_STATE_BYTES = 32 };

/* A row: a job, a started array task, or what is left of an array that has not started. */
struct queue_job {
    uint32_t raw_id;   /* Slurm's number of this row; an array's last task has the array's own */
    uint32_t array_id; /* of the whole array; raw_id when it is none */
    bool is_array;
    const char
        *indexes; /* of an array's row: "5,7,9%2", "3"; "" when it is none. In the queue's text */
    char *tres;   /* allocated, or asked for while it pends. In the queue's text */
    char state[QUEUE_STATE_BYTES];
    char reason[QUEUE_STATE_BYTES];
    struct fate fate;
    int64_t submit_s; /* of a requeued job the time of the requeue */
    int64_t start_s;  /* 0: not started. Of a pending job Slurm's plan, if any */
    int64_t restarts;
    int64_t priority;     /* 0: held */
    int64_t time_limit_s; /* 0: none */
    char account[QUEUE_NAME_BYTES];
    char user[QUEUE_NAME_BYTES];
    char partition[QUEUE_NAME_BYTES];
    char qos[QUEUE_NAME_BYTES];
    struct token token;
    bool is_ours; /* `token` is set */
};

struct queue {
    char *text;
    struct queue_job *jobs;
    size_t count;
    size_t strange; /* rows that could not be read: a Slurm that prints otherwise */
};

/*
 * Asks slurmctld. command: squeue's path. ret_queue: to be freed with queue_fini when true is returned.
 * Returns false when squeue failed, with `ret_detail` (PROGRAM_DETAIL_BYTES) saying why.
 */
bool queue_read(const char *command, struct queue *ret_queue, char *ret_detail);

/* The same from squeue's output: text is taken over. */
bool queue_parse(char *text, struct queue *ret_queue);

/* Frees. A zeroed one is legal. */
void queue_fini(struct queue *queue);

/* The columns, as for squeue -O. */
extern const char queue_columns[];

#endif

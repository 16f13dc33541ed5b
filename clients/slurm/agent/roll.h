/* SPDX-License-Identifier: MIT
 *
 * The jobs that the agent follows, in memory only. After a restart it is made again from the queue, Slurm's records
 * and the ledger's open holds: what is said twice is a replay.
 */
#ifndef COREHOUR_CLIENTS_SLURM_AGENT_ROLL_H
#define COREHOUR_CLIENTS_SLURM_AGENT_ROLL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "clients/slurm/agent/indexes.h"
#include "clients/slurm/agent/queue.h"

/* A job, or a task of an array that has a row of its own. */
struct roll_task {
    uint32_t index;      /* the scheduler's; 0 when it is no array */
    uint32_t raw_id;     /* Slurm's; 0: not known yet */
    int64_t attempts;    /* begun, as far as is known: the number of the next one */
    int64_t closed;      /* attempts below this are over and said */
    int64_t started_s;   /* of the newest attempt while it is open; 0: none is */
    int64_t last_run_s;  /* when the open attempt was last seen running */
    int64_t look_ms;     /* when its records are to be asked for again; 0: not */
    int64_t looked;      /* times in a row without an answer */
    enum fate_kind kind; /* in the last queue */
    int64_t queue_start_s;
    int64_t restarts;
    int64_t
        ranked; /* restarts when its records were last read; -1: never. Then `closed` numbers the next attempt */
    bool is_suspended; /* said */
    bool is_done;      /* nothing more is to be said */
    bool is_seen;      /* in this queue */
};

struct roll_job {
    struct token token;
    uint32_t job_id;  /* of the whole array */
    int64_t submit_s; /* of the first submission; 0: not known yet */
    int64_t seen_ms;  /* when it was first seen */
    int64_t time_limit_s;
    int64_t rest_look_ms; /* as look_ms, for tasks without rows of their own; 0: not */
    char account[QUEUE_NAME_BYTES];
    char user[QUEUE_NAME_BYTES];
    char partition[QUEUE_NAME_BYTES];
    char qos[QUEUE_NAME_BYTES];
    struct indexes indexes;  /* all that are known; ranks are right once is_resolved */
    struct roll_task *tasks; /* by index */
    size_t task_count;
    size_t task_room;
    bool is_array;
    bool is_resolved; /* all indexes and the first submission are known */
    bool is_bound;    /* said */
    bool is_seen;     /* in this queue */
    bool has_rest;    /* the array's row of tasks that have not started was in the last queue */
    bool rest_seen;   /* in this queue */
    bool rest_ended;  /* tasks that were cancelled together have been released */
};

struct roll {
    struct roll_job **jobs;
    size_t count;
    size_t room;
    void *tree; /* tsearch, by hold */
};

/* The job of a hold; NULL when it is not followed. */
struct roll_job *roll_find(struct roll *roll, const char *hold);

/* The same, begun when it is not there. NULL when memory is out. */
struct roll_job *roll_add(struct roll *roll, const struct token *token);

/* The task of an index; roll_task_add begins it. NULL: none, or no memory. The pointer lives until the next add. */
struct roll_task *roll_task_find(struct roll_job *job, uint32_t index);
struct roll_task *roll_task_add(struct roll_job *job, uint32_t index);

/* Forgets the i-th job; another takes its place. */
void roll_remove(struct roll *roll, size_t i);

void roll_fini(struct roll *roll);

#endif

/* SPDX-License-Identifier: MIT
 *
 * What slurmdbd recorded about jobs (sacct): the truth about what ran, attempt by attempt. `-D` shows every
 * attempt, by job id also what a window of time leaves out (jobs cancelled while they were held).
 */
#ifndef COREHOUR_CLIENTS_SLURM_AGENT_RECORDS_H
#define COREHOUR_CLIENTS_SLURM_AGENT_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#include "clients/slurm/agent/fate.h"
#include "clients/slurm/agent/queue.h"
#include "clients/slurm/agent/token.h"

/* One attempt of one job or task; or the tasks of an array that never started, in one row. */
struct record {
    uint32_t raw_id;
    uint32_t array_id;
    bool is_array;
    const char *indexes; /* as in struct queue_job */
    char *tres;          /* allocated; "" when it never started */
    char *nodes;         /* "node[1-3]", "None assigned" */
    char *state;         /* whole, "CANCELLED by 1002" */
    struct fate fate;
    int64_t submit_s;
    int64_t start_s; /* 0: unknown */
    int64_t end_s;   /* 0: unknown: still open, whatever the state says */
    int64_t elapsed_s;
    int64_t suspended_s;
    uint64_t db_index; /* the key of the attempt */
    char account[QUEUE_NAME_BYTES];
    char user[QUEUE_NAME_BYTES];
    char partition[QUEUE_NAME_BYTES];
    char qos[QUEUE_NAME_BYTES];
    struct token token;
    bool is_ours;     /* `token` is set */
    bool has_comment; /* the admin_comment is not empty: it is of some job, ours or not */
};

/* Ordered by raw id, then submission, then DBIndex: the attempts of a job follow each other. */
struct records {
    char *text;
    struct record *rows;
    size_t count;
    size_t strange;
};

/*
 * By job id. command: sacct's path. ids: count of them, 1 or more; an array's id finds all of its tasks.
 * ret_records: to be freed with records_fini on true. Returns false when sacct failed (slurmdbd is away), with
 * ret_detail (PROGRAM_DETAIL_BYTES) saying why.
 */
bool records_read_ids(const char *command,
                      const uint32_t *ids,
                      size_t count,
                      struct records *ret_records,
                      char *ret_detail);

/* All that ran or ended since then (seconds since 1970), of everybody. As records_read_ids. */
bool records_read_since(const char *command,
                        int64_t since_s,
                        struct records *ret_records,
                        char *ret_detail);

/* From sacct's output: text is taken over. */
bool records_parse(char *text, struct records *ret_records);

void records_fini(struct records *records);

/* Whether the attempt is over for certain: its end is known and its state is one of the end. */
bool record_has_ended(const struct record *record);

/* Whether it ever occupied anything. */
bool record_has_run(const struct record *record);

/* The columns, as for sacct -o. */
extern const char records_columns[];

#endif

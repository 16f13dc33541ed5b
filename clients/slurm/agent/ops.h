/* SPDX-License-Identifier: MIT
 *
 * Operations of POST /v1/batch about Slurm's jobs, as JSON: what the agent and reconciliation say, in one place, so that
 * both say the same of the same record and a repeat is a replay. Pure but for allocation: each returns a new
 * reference, NULL when memory is out.
 */
#ifndef COREHOUR_CLIENTS_SLURM_AGENT_OPS_H
#define COREHOUR_CLIENTS_SLURM_AGENT_OPS_H

#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#include "clients/ids.h"
#include "clients/slurm/agent/records.h"

/* Which run of which hold. */
struct ops_run {
    const char *hold;
    int64_t task;
    int64_t attempt;
};

/* What a charge needs beside the run's record: kept with each line of the outbox. */
struct ops_job {
    const char *job_key; /* "8@1796058251" */
    const char *account;
    const char *user;
    const char *partition;
    const char *qos;
    uint32_t raw_id;
    bool is_open; /* let through: a hold unknown to the ledger is no surprise */
};

json_t *ops_bind(const char *hold, const char *job_id, const char *job_key);
json_t *ops_start(const struct ops_run *run, int64_t started_s);

/* verb: "suspend" or "resume". */
json_t *ops_pause(const char *verb, const struct ops_run *run, int64_t at_s);

/* The time limit of all tasks is another now. */
json_t *ops_resize(const char *hold, int64_t time_limit_s);

/*
 * An attempt that is over: verb "settle", "requeue" (another attempt follows) or "correct" (the ledger knows it otherwise).
 * record: has ended and has run.
 */
json_t *ops_end(const char *verb, const struct ops_run *run, const struct record *record);

/* tasks: "3-9,12"; NULL for all. reason: a word or a line. */
json_t *ops_release(const char *hold, const char *tasks, const char *reason);

/* The job of a line. */
json_t *ops_job_json(const struct ops_job *job);

/*
 * A charge made of a settle, requeue or correct that met no hold, and its job. cluster: the cluster's id. Returns NULL also
 * when `op` says too little for one (it is about something else).
 */
json_t *ops_charge(const json_t *op, const json_t *job, const char *cluster);

/* The id of that charge: always the same for the same run. ret_id: COREHOUR_ID_BYTES. */
void ops_charge_id(const char *hold, int64_t task, int64_t attempt, char *ret_id);

/* "8@1796058251". ret_key: at least 40 bytes. */
void ops_job_key(uint32_t job_id, int64_t submit_s, char *ret_key, size_t size_bytes);

#endif

/* SPDX-License-Identifier: MIT
 *
 * What the ledger wants done to jobs, done with scontrol and scancel: release a job that waited and is frozen now, tell and
 * after a grace end one whose core-hours are used up, cancel one that can never be frozen any more. Every step may be
 * repeated: after a crash the events are read again.
 */
#ifndef COREHOUR_CLIENTS_SLURM_AGENT_STEER_H
#define COREHOUR_CLIENTS_SLURM_AGENT_STEER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#include "clients/slurm/agent/roll.h"

/* Runs a command of Slurm's; true when it exited 0. argv[0] is "scontrol" or "scancel". */
typedef bool (*steer_run_fn)(void *context, const char *const argv[]);

struct steer {
    json_t *events; /* array of those that are not done yet, by seq */
    int64_t last;   /* seq of the newest that was taken */
    int64_t grace_s;
    const struct roll *roll; /* for the ranks of array tasks */
    steer_run_fn run;
    void *context;
};

/* Takes the events of a feed's answer. */
void steer_take(struct steer *steer, const json_t *events);

/* Does what is due, by the queue as it is now. now_s: seconds since 1970. */
void steer_round(struct steer *steer, const struct queue *queue, int64_t now_s);

/* The seq up to which all is done: reading the feed after it misses nothing. */
int64_t steer_done(const struct steer *steer);

/* Holds a job (as an administrator: its owner cannot release it). */
void steer_hold(struct steer *steer, uint32_t raw_id);

void steer_fini(struct steer *steer);

#endif

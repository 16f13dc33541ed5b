/* SPDX-License-Identifier: MIT
 *
 * What each state of a Slurm job means to the ledger. One table. Pure.
 */
#ifndef COREHOUR_CLIENTS_SLURM_AGENT_FATE_H
#define COREHOUR_CLIENTS_SLURM_AGENT_FATE_H

#include <stdbool.h>

enum fate_kind {
    FATE_PENDING,   /* holds nothing yet, or no more: it will run (again) */
    FATE_RUNNING,   /* occupies its resources */
    FATE_SUSPENDED, /* occupies its place, is not charged */
    FATE_ENDING,    /* over, its nodes are being cleaned up: it may still be requeued */
    FATE_ENDED,     /* this attempt is over */
    FATE_UNKNOWN,   /* a word that this release does not know: left alone, and told */
};

struct fate {
    enum fate_kind kind;
    const char *outcome; /* as the API names it; NULL unless ended */
    bool may_requeue;    /* Slurm itself may run it again */
};

/*
 * By the first word of a state as squeue and sacct print it: "CANCELLED by 1002" is CANCELLED, and a "+" at its end
 * (cut by a narrow column) is passed over. Never fails.
 */
struct fate fate_of(const char *state);

#endif

/* SPDX-License-Identifier: MIT
 *
 * Sends the outbox to the ledger, in order, and does what its answers ask for.
 */
#ifndef COREHOUR_CLIENTS_SLURM_AGENT_DELIVER_H
#define COREHOUR_CLIENTS_SLURM_AGENT_DELIVER_H

#include "clients/slurm/agent/link.h"
#include "clients/slurm/agent/outbox.h"

enum deliver_result {
    DELIVER_EMPTY, /* nothing is left */
    DELIVER_MORE,  /* some went, more is left */
    DELIVER_AWAY,  /* the daemon does not take it now: later */
};

struct deliver {
    struct corehour_client *client;
    struct outbox *outbox;
    const char *cluster;
    const char *spool_dir;
    /* A requeued attempt has no room and waits: the job is to be held. Called with Slurm's number of it. */
    void (*hold_job)(void *context, uint32_t raw_id);
    void *context;
    char detail[LINK_DETAIL_BYTES]; /* why the daemon is away */
};

/* Sends one batch. */
enum deliver_result deliver_some(struct deliver *deliver);

#endif

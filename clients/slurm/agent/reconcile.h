/* SPDX-License-Identifier: MIT
 *
 * Compares the ledger with Slurm's own records and its queue. What has evidence is repaired: ends that were lost, jobs that
 * were let through and never charged, holds of jobs that never came to be, charges that the record contradicts. What has
 * none is listed for a person: jobs without an end (runaways), records that vanished, ends that lie in an outage of the
 * controller. Nothing is ever settled at 0 for want of evidence.
 */
#ifndef COREHOUR_CLIENTS_SLURM_AGENT_RECONCILE_H
#define COREHOUR_CLIENTS_SLURM_AGENT_RECONCILE_H

#include <stdio.h>

#include "clients/slurm/agent/link.h"
#include "clients/slurm/agent/queue.h"

struct reconcile {
    struct corehour_client *client;
    const char *cluster;
    const char *sacct; /* the command */
    const struct queue *queue;
    int64_t now_s;
    int64_t since_s;  /* ended jobs from then on are compared too; 0: open holds only */
    int64_t orphan_s; /* an unbound hold is an orphan after this */
    bool is_dry_run;  /* tell, do nothing */
    bool is_quiet;    /* log lines instead of a table */
    bool (*skip)(void *context, const char *hold); /* holds that somebody else is at; NULL: none */
    void *context;
    json_t *outages; /* [{"from": s, "to": s}] of the controller; borrowed, may be NULL */
    FILE *out;       /* the table; unused when quiet */

    /* the result */
    size_t compared; /* holds */
    size_t repaired;
    size_t listed; /* without evidence, or whose repair was refused */
    char detail[LINK_DETAIL_BYTES];
};

/*
 * One pass. Returns false when Slurm or the ledger did not answer, with detail filled; what was repaired before stays so.
 */
bool reconcile_run(struct reconcile *reconcile);

#endif

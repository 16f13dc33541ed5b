/* SPDX-License-Identifier: MIT
 *
 * One round of looking: the queue as it is now against what has been said, the difference into the outbox. Nothing is
 * derived from having seen a change: a round looks at states, so that what happened between two rounds, or while the
 * agent was down, is found all the same. Ends come from Slurm's accounting records alone.
 */
#ifndef COREHOUR_CLIENTS_SLURM_AGENT_OBSERVE_H
#define COREHOUR_CLIENTS_SLURM_AGENT_OBSERVE_H

#include "clients/slurm/agent/outbox.h"
#include "clients/slurm/agent/records.h"
#include "clients/slurm/agent/roll.h"

/* Asks for records by job id; as records_read_ids without the command. */
typedef bool (*observe_records_fn)(void *context,
                                   const uint32_t *ids,
                                   size_t count,
                                   struct records *ret_records,
                                   char *ret_detail);

struct observer {
    struct roll roll;
    struct outbox *outbox;
    observe_records_fn records_read;
    void *context;
    const char *spool_dir;            /* of what the plugin let through */
    int64_t now_ms;                   /* monotonic */
    int64_t now_s;                    /* since 1970 */
    bool records_failed;              /* in the last round that needed them: slurmdbd is away */
    char detail[OUTBOX_DETAIL_BYTES]; /* why */
};

/*
 * One round. The caller sets now_ms and now_s before. Returns false when a line could not be written (disk full): what was
 * not said is said in a later round. The outbox is synced.
 */
bool observe_round(struct observer *observer, const struct queue *queue);

/* {"cluster", "at", "runs": [...]} of the runs that are running now, from the skip-th on, at most `count`; NULL when there are
 * none. ret_runs: how many. */
json_t *observe_heartbeat(const struct observer *observer,
                          const char *cluster,
                          size_t skip,
                          size_t count,
                          size_t *ret_runs);

#endif

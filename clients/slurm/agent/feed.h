/* SPDX-License-Identifier: MIT
 *
 * Reads the ledger's feed for this cluster in a thread of its own, so that an event is acted on at once and the agent's
 * liveness shows while the main loop works.
 */
#ifndef COREHOUR_CLIENTS_SLURM_AGENT_FEED_H
#define COREHOUR_CLIENTS_SLURM_AGENT_FEED_H

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

#include "clients/slurm/slurm_config.h"

struct feed;

/*
 * Starts following after `after`. config: copied. Returns NULL when memory or threads are out. feed_stop ends it (at most
 * some seconds later, without waiting for a poll that is under way).
 */
struct feed *feed_start(const struct slurm_config *config, int64_t after);

/* NULL is legal. */
void feed_stop(struct feed *feed);

/* Readable when there are events to take. */
int feed_fd(const struct feed *feed);

/* The events since the last call, oldest first: a new array, maybe empty. */
json_t *feed_take(struct feed *feed);

#endif

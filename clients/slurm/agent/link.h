/* SPDX-License-Identifier: MIT
 *
 * The ledger as the agent sees it: operations in batches, and the answers line by line.
 */
#ifndef COREHOUR_CLIENTS_SLURM_AGENT_LINK_H
#define COREHOUR_CLIENTS_SLURM_AGENT_LINK_H

#include <stdbool.h>

#include <jansson.h>

#include "clients/client.h"
#include "clients/slurm/slurm_config.h"

enum { LINK_DETAIL_BYTES = 320, LINK_BATCH = 256 };

/*
 * A client for the configuration's url and token (read anew from token_file). deadline_ms: of a whole call, its tries
 * included; 0: 10 s. Returns false with ret_detail filled.
 */
bool link_open(const struct slurm_config *config,
               int64_t deadline_ms,
               struct corehour_client **ret_client,
               char *ret_detail);

/*
 * POST /v1/batch. ops: array of operations, 1 to LINK_BATCH. dry_run: as ?dry_run=true.
 * Returns a new array of answers, as many, each with `status`; NULL when no whole answer came or the batch itself was
 * refused, with ret_detail filled (503 and the like: try later).
 */
json_t *link_batch(struct corehour_client *client,
                   const json_t *ops,
                   bool dry_run,
                   char *ret_detail);

/* One operation: its answer (new reference), or NULL as link_batch. */
json_t *link_do(struct corehour_client *client, json_t *op, bool dry_run, char *ret_detail);

/* GET: the body of a 200 (new reference); NULL otherwise, with ret_status (0: no answer) and ret_detail filled. */
json_t *link_get(struct corehour_client *client,
                 const char *path,
                 int *ret_status,
                 char *ret_detail);

/* The answer's status and code ("" without). */
int link_status(const json_t *answer);
const char *link_code(const json_t *answer);

/* Whether the same should be sent again later. */
bool link_is_later(int status);

#endif

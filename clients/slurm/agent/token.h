/* SPDX-License-Identifier: MIT
 *
 * What the submit plugin writes into a job's admin_comment, which users cannot change:
 *
 *     corehour:<hold id>        frozen, or waits
 *     corehour:open:<hold id>   let through without an answer; no hold has this id (yet)
 *     corehour:observe          dry run: not ours
 *
 * Pure.
 */
#ifndef COREHOUR_CLIENTS_SLURM_AGENT_TOKEN_H
#define COREHOUR_CLIENTS_SLURM_AGENT_TOKEN_H

#include <stdbool.h>

#include "clients/ids.h"

struct token {
    char hold[COREHOUR_ID_BYTES];
    bool is_open;
};

/* Reads it at the front of an admin_comment; what follows behind a space or comma is somebody else's. Returns false
 * when the job is not ours. */
bool token_parse(const char *admin_comment, struct token *ret_token);

#endif

/* SPDX-License-Identifier: MIT
 *
 * The agent beside slurmctld: one loop that looks at the queue, tells the ledger, does what the feed asks for and compares
 * both sides. Everything it knows it can find again, so that it may be killed at any moment.
 */
#ifndef COREHOUR_CLIENTS_SLURM_AGENT_AGENT_H
#define COREHOUR_CLIENTS_SLURM_AGENT_AGENT_H

#include <jansson.h>

#include "clients/slurm/slurm_config.h"

/*
 * Runs until SIGTERM or SIGINT. Blocks those signals: call it before there are threads. Returns the exit status of the
 * process: 0, or 1 when it cannot begin (no state folder, another agent, no token), with a line in the log.
 */
int agent_run(const struct slurm_config *config);

/* The outages of slurmctld that the agent has seen, [{"from": s, "to": s}]; a new array, empty when there is no file. */
json_t *agent_outages_read(const struct slurm_config *config);

/* A command of Slurm's, in config->slurm_bin_dir where that is given. ret_path: AGENT_PATH_BYTES. */
enum { AGENT_PATH_BYTES = 640 };
void agent_command_path(const struct slurm_config *config, const char *name, char *ret_path);

#endif

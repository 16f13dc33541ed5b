/* SPDX-License-Identifier: MIT
 *
 * What an operator does once: Slurm's accounts and users into the ledger, and a look whether all is there.
 */
#ifndef COREHOUR_CLIENTS_SLURM_AGENT_IMPORT_H
#define COREHOUR_CLIENTS_SLURM_AGENT_IMPORT_H

#include <stdbool.h>

#include "clients/slurm/slurm_config.h"

/*
 * Makes a project in `organization` of every account of the cluster (Slurm's own root aside) and a member of every user of it,
 * and prints each line of what it does. What is there already is left as it is: it may be run again. Needs an admin's token
 * (COREHOUR_TOKEN, else the configuration's). Returns the exit status: 0; 1: something was refused; 3: no answer.
 */
int import_run(const struct slurm_config *config, const char *organization, bool is_dry_run);

/*
 * Prints, line by line, whether daemon, token, cluster, commands, accounting of GPUs, folders and MUNGE are as the agent needs
 * them. Returns 0 when all are, else 1.
 */
int check_run(const struct slurm_config *config);

#endif

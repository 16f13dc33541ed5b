/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What the partitions of the cluster look like, asked for through Slurm's public API: their limits, defaults and largest nodes.
 * Asking takes long and must not happen in the hook; the hook reads the last picture.
 */
#ifndef COREHOUR_CLIENTS_SLURM_SITE_H
#define COREHOUR_CLIENTS_SLURM_SITE_H

#include <stdbool.h>

#include "clients/slurm/request.h"

/* Asks the controller for a new picture. Returns false when it did not answer: the last picture stays. */
bool site_load(struct slurm_site *ret_site);

/* Frees a picture; zeroed is legal. */
void site_free(struct slurm_site *site);

#endif

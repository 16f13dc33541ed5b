/* SPDX-License-Identifier: MIT
 *
 * The door for people: every user of the cluster may ask for a token without any set-up. `corehour` connects and sends a
 * MUNGE credential; the door reads from it who asks, which nobody can forge, has the daemon make a token of role
 * `member` for that person that ends soon, and answers with a credential that only that user can open. So neither the
 * socket nor the network needs to be private. Rights stay the daemon's: the door hands out tokens, it does not proxy.
 *
 * One exchange a connection: a line with the credential in, a line with the answer out ("corehour-door 1 CREDENTIAL" or
 * "corehour-door error TEXT").
 */
#ifndef COREHOUR_CLIENTS_SLURM_AGENT_DOOR_H
#define COREHOUR_CLIENTS_SLURM_AGENT_DOOR_H

#include "clients/slurm/slurm_config.h"

struct door;

/* Opens it in a thread of its own. NULL when there is none to open or it cannot be opened, with a line in the log. */
struct door *door_start(const struct slurm_config *config);

/* NULL is legal. */
void door_stop(struct door *door);

#endif

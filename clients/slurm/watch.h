/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What the hook needs and must not wait for: the gate, made from the configuration file as it is now, and the picture of the
 * site. A thread of its own keeps both fresh: the files are looked at twice a second, the site every half minute. What cannot
 * be read yet (a name that is not known, a token that is not there) is tried again every ten seconds.
 */
#ifndef COREHOUR_CLIENTS_SLURM_WATCH_H
#define COREHOUR_CLIENTS_SLURM_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "clients/slurm/gate.h"
#include "clients/slurm/request.h"

/* Starts the thread, and waits two seconds at most for it to read the configuration. Never fails: without a gate the hook says
 * why. May be called again after watch_stop. */
void watch_start(void);

/* Tells the thread to end, waits for it a second at most, and frees gate and site. No submission may be under way. */
void watch_stop(void);

/*
 * Takes the lock around gate and site. end_ms: of the monotonic clock. ret_gate: NULL when there is no valid configuration;
 * ret_why then says why (borrowed until the unlock). Returns false when the lock was not to be had in time.
 */
bool watch_lock(int64_t end_ms,
                struct gate **ret_gate,
                const struct slurm_site **ret_site,
                const char **ret_why);
void watch_unlock(void);

#endif

/* SPDX-License-Identifier: MIT
 *
 * One line a happening, to standard error, where the journal of the system takes it. Safe in any thread.
 */
#ifndef COREHOUR_CLIENTS_SLURM_AGENT_LOGS_H
#define COREHOUR_CLIENTS_SLURM_AGENT_LOGS_H

/* level: 3 error, 4 warning, 6 information (syslog's); the journal reads it from the front of the line. */
__attribute__((format(printf, 2, 3))) void logs_say(int level, const char *format, ...);

#endif

/* SPDX-License-Identifier: MIT
 *
 * Names of users by their numbers, with a deadline: a directory service that hangs costs a submission its answer, never the
 * controller its time. Names are kept for ten minutes. Safe in any thread.
 */
#ifndef COREHOUR_CLIENTS_SLURM_USER_NAMES_H
#define COREHOUR_CLIENTS_SLURM_USER_NAMES_H

#include <stdbool.h>
#include <stdint.h>

enum { USER_NAME_BYTES = 129 };

/*
 * Finds the name of a user. A name that is not kept is looked up by a thread of its own; at most four look-ups hang at a time.
 *
 * end_ms: of the monotonic clock. ret_name: USER_NAME_BYTES; the number as text for a user whom nobody knows. Returns false when
 * there was no answer in time.
 */
bool user_names_find(uint32_t uid, int64_t end_ms, char *ret_name);

#endif

/* SPDX-License-Identifier: MIT
 *
 * Sets of array indexes ("0-15:4,20%2") and which of the ledger's tasks an index is: tasks are numbered 0 to
 * n-1 in ascending order of the scheduler's index. Pure but for allocation.
 */
#ifndef COREHOUR_CLIENTS_SLURM_AGENT_INDEXES_H
#define COREHOUR_CLIENTS_SLURM_AGENT_INDEXES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { INDEXES_MAX = 100000 }; /* SPEC 1.6 */

/* Ascending, without doubles. Zeroed is empty. */
struct indexes {
    uint32_t *values;
    size_t count;
    size_t room;
};

/*
 * Adds the indexes of an expression: numbers, ranges and ranges with a step, separated by commas; a "%limit" at
 * its end is passed over. text: `bytes` long. Returns false, with nothing added, when it is no such expression, the
 * set would have more than INDEXES_MAX members, or memory is out.
 */
bool indexes_add(struct indexes *indexes, const char *text, size_t bytes);

/* Adds one. Returns false when the set is full or memory is out. */
bool indexes_add_one(struct indexes *indexes, uint32_t value);

/* The number of smaller members; -1 when `value` is none. */
int64_t indexes_rank(const struct indexes *indexes, uint32_t value);

/* Frees and empties. */
void indexes_fini(struct indexes *indexes);

#endif

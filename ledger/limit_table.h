/*
 * How many wait at each limit: counts by (node, kind, model).
 *
 * Embedded by its owner; one thread at a time.
 */
#ifndef LEDGER_LIMIT_TABLE_H
#define LEDGER_LIMIT_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "ledger/base/check.h"
#include "ledger/core/record.h"

struct limit_table {
    struct limit_slot *slots;
    size_t capacity; /* 0 or a power of two */
    size_t used;     /* slots that hold a limit, those with count 0 too */
};

/** Free it; a zeroed one is allowed. It is empty afterwards. */
void limit_table_fini(struct limit_table *table);

/** Empty it, keeping its memory. */
void limit_table_clear(struct limit_table *table);

/** How many wait at a limit. */
int64_t limit_table_count(const struct limit_table *table, const struct limit_ref *limit);

/** Add to the count of a limit (-1 takes one off). False when out of memory. */
MUST_USE bool limit_table_add(struct limit_table *table,
                              const struct limit_ref *limit,
                              int64_t more);

#endif

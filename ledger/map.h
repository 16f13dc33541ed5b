/*
 * A map from numbers to things on the heap, for what the shell concludes and keeps: calendars of
 * roots, rows of payers, and the like.
 *
 * The map owns its values and frees each with one function. One thread at a time.
 */
#ifndef LEDGER_MAP_H
#define LEDGER_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ledger/base/check.h"

/** Embedded by its owner. */
struct map {
    struct map_slot *slots; /* open addressing; value NULL: free */
    size_t capacity;        /* 0 or a power of two */
    size_t count;
    void (*destroy)(void *value);
};

/** Start empty, without allocating. @destroy frees a value; free() will often do. */
void map_init(struct map *map, void (*destroy)(void *value));

/** Free the values and the map. A zeroed map is allowed. */
void map_fini(struct map *map);

/** Free the values; the map is empty afterwards. */
void map_clear(struct map *map);

/** The value of a key, borrowed; NULL when there is none. */
void *map_get(const struct map *map, int64_t key);

/** Add a value under a key that has none. False when out of memory: the caller still owns it. */
MUST_USE bool map_add(struct map *map, int64_t key, void *value);

/** Walk over all values, in no order: *position starts at 0; NULL at the end. */
void *map_next(const struct map *map, size_t *position);

#endif

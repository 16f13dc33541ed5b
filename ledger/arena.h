/*
 * Memory that is given out piece by piece and taken back all at once.
 *
 * Pieces are aligned for any type and never move. One thread at a time.
 */
#ifndef LEDGER_ARENA_H
#define LEDGER_ARENA_H

#include <stddef.h>

#include "ledger/base/check.h"

struct arena_chunk;

/** Embedded by its owner; read used_bytes freely. */
struct arena {
    struct arena_chunk *chunks; /* the one in use first */
    struct arena_chunk *spare;
    size_t used_bytes; /* given out since the last reset */
};

/** Start empty, without allocating. */
void arena_init(struct arena *arena);

/** Free all memory. NULL or a zeroed arena are allowed. */
void arena_fini(struct arena *arena);

/** A piece of memory, not cleared, until the next reset; NULL when out of memory. */
void *arena_alloc(struct arena *arena, size_t bytes);

/** Take back all pieces. Up to 4 MiB are kept for the next ones. */
void arena_reset(struct arena *arena);

#endif

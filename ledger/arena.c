/* Chunks in a list; see arena.h. */
#include "ledger/arena.h"

#include <stdalign.h>
#include <stdlib.h>

enum {
    CHUNK_BYTES = 256 * 1024,
    KEPT_CHUNKS = 16,
};

struct arena_chunk {
    struct arena_chunk *next;
    size_t size_bytes;
    size_t used_bytes;
    alignas(max_align_t) char bytes[];
};

void arena_init(struct arena *arena)
{
    *arena = (struct arena){0};
}

static void free_list(struct arena_chunk *chunk)
{
    while (chunk != NULL) {
        struct arena_chunk *next = chunk->next;
        free(chunk);
        chunk = next;
    }
}

void arena_fini(struct arena *arena)
{
    if (arena != NULL) {
        free_list(arena->chunks);
        free_list(arena->spare);
        arena_init(arena);
    }
}

static struct arena_chunk *chunk_for(struct arena *arena, size_t bytes)
{
    struct arena_chunk *chunk = arena->spare;
    if (chunk != NULL && chunk->size_bytes >= bytes) {
        arena->spare = chunk->next;
        chunk->used_bytes = 0;
        return chunk;
    }
    size_t size_bytes = bytes > CHUNK_BYTES ? bytes : CHUNK_BYTES;
    chunk = malloc(sizeof *chunk + size_bytes);
    if (chunk != NULL) {
        chunk->size_bytes = size_bytes;
        chunk->used_bytes = 0;
    }
    return chunk;
}

void *arena_alloc(struct arena *arena, size_t bytes)
{
    size_t rounded = (bytes + alignof(max_align_t) - 1) & ~(alignof(max_align_t) - 1);
    struct arena_chunk *chunk = arena->chunks;
    if (chunk == NULL || chunk->size_bytes - chunk->used_bytes < rounded) {
        chunk = chunk_for(arena, rounded);
        if (chunk == NULL) {
            return NULL;
        }
        chunk->next = arena->chunks;
        arena->chunks = chunk;
    }
    void *piece = chunk->bytes + chunk->used_bytes;
    chunk->used_bytes += rounded;
    arena->used_bytes += rounded;
    return piece;
}

void arena_reset(struct arena *arena)
{
    size_t kept = 0;
    for (struct arena_chunk *chunk = arena->spare; chunk != NULL; chunk = chunk->next) {
        kept++;
    }
    while (arena->chunks != NULL) {
        struct arena_chunk *chunk = arena->chunks;
        arena->chunks = chunk->next;
        if (kept < KEPT_CHUNKS && chunk->size_bytes == CHUNK_BYTES) {
            chunk->next = arena->spare;
            arena->spare = chunk;
            kept++;
        } else {
            free(chunk);
        }
    }
    arena->used_bytes = 0;
}

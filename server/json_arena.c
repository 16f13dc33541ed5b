/* A bump allocator. Invariant: live counts the pieces of the block that are in use; at 0 nothing points into it. */
#include "server/json_arena.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <jansson.h>

#include "ledger/base/check.h"

enum {
    BLOCK_BYTES = 32 * 1024, /* a freeze takes 4 KiB */
    ALIGN_BYTES = 16,
};

struct arena {
    _Alignas(ALIGN_BYTES) char block[BLOCK_BYTES];
    size_t used;
    size_t live;
};

static _Thread_local struct arena arena;

static void *arena_allocate(size_t bytes)
{
    const size_t rounded = (bytes + ALIGN_BYTES - 1) / ALIGN_BYTES * ALIGN_BYTES;
    if (rounded < bytes || rounded > BLOCK_BYTES - arena.used) {
        return malloc(bytes);
    }
    void *piece = arena.block + arena.used;
    arena.used += rounded;
    arena.live++;
    return piece;
}

static void arena_free(void *piece)
{
    const uintptr_t at = (uintptr_t)piece;
    const uintptr_t block = (uintptr_t)arena.block;
    if (at < block || at >= block + BLOCK_BYTES) {
        free(piece);
        return;
    }
    assert(arena.live > 0);
    if (--arena.live == 0) {
        arena.used = 0;
    }
}

void json_arena_install(void)
{
    json_set_alloc_funcs(arena_allocate, arena_free);
}

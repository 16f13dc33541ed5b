/* Linear probing, at most half full. */
#include "ledger/strings.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void strings_fini(struct strings *strings)
{
    arena_fini(&strings->arena);
    free(strings->slots);
    *strings = (struct strings){0};
}

/* FNV-1a. */
static uint64_t hash_of(const char *text)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (; *text != '\0'; text++) {
        hash = (hash ^ (uint8_t)*text) * UINT64_C(0x100000001b3);
    }
    return hash;
}

static const char **slot_of(const struct strings *strings, const char *text)
{
    size_t mask = strings->capacity - 1;
    size_t i = (size_t)hash_of(text) & mask;
    while (strings->slots[i] != NULL && strcmp(strings->slots[i], text) != 0) {
        i = (i + 1) & mask;
    }
    return &strings->slots[i];
}

static bool grow(struct strings *strings)
{
    struct strings larger = *strings;
    larger.capacity = strings->capacity == 0 ? 64 : strings->capacity * 2;
    larger.slots = calloc(larger.capacity, sizeof *larger.slots);
    if (larger.slots == NULL) {
        return false;
    }
    for (size_t i = 0; i < strings->capacity; i++) {
        if (strings->slots[i] != NULL) {
            *slot_of(&larger, strings->slots[i]) = strings->slots[i];
        }
    }
    free(strings->slots);
    *strings = larger;
    return true;
}

const char *strings_keep(struct strings *strings, const char *text)
{
    if (strings->count * 2 >= strings->capacity && !grow(strings)) {
        return NULL;
    }
    const char **slot = slot_of(strings, text);
    if (*slot == NULL) {
        size_t bytes = strlen(text) + 1;
        char *kept = arena_alloc(&strings->arena, bytes);
        if (kept == NULL) {
            return NULL;
        }
        memcpy(kept, text, bytes);
        *slot = kept;
        strings->count++;
    }
    return *slot;
}

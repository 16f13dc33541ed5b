/* Linear probing over a power of two, at most half full; see map.h. */
#include "ledger/map.h"

#include <stdlib.h>

struct map_slot {
    int64_t key;
    void *value;
};

void map_init(struct map *map, void (*destroy)(void *value))
{
    *map = (struct map){.destroy = destroy};
}

void map_clear(struct map *map)
{
    for (size_t i = 0; i < map->capacity; i++) {
        if (map->slots[i].value != NULL) {
            map->destroy(map->slots[i].value);
            map->slots[i].value = NULL;
        }
    }
    map->count = 0;
}

void map_fini(struct map *map)
{
    map_clear(map);
    free(map->slots);
    map->slots = NULL;
    map->capacity = 0;
}

static size_t slot_of(const struct map *map, int64_t key)
{
    size_t mask = map->capacity - 1;
    size_t i = (size_t)(((uint64_t)key * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & mask;
    while (map->slots[i].value != NULL && map->slots[i].key != key) {
        i = (i + 1) & mask;
    }
    return i;
}

void *map_get(const struct map *map, int64_t key)
{
    return map->count == 0 ? NULL : map->slots[slot_of(map, key)].value;
}

static bool grow(struct map *map)
{
    struct map larger = *map;
    larger.capacity = map->capacity == 0 ? 16 : map->capacity * 2;
    larger.slots = calloc(larger.capacity, sizeof *larger.slots);
    if (larger.slots == NULL) {
        return false;
    }
    for (size_t i = 0; i < map->capacity; i++) {
        if (map->slots[i].value != NULL) {
            larger.slots[slot_of(&larger, map->slots[i].key)] = map->slots[i];
        }
    }
    free(map->slots);
    *map = larger;
    return true;
}

bool map_add(struct map *map, int64_t key, void *value)
{
    assert(value != NULL && map_get(map, key) == NULL);
    if (map->count * 2 >= map->capacity && !grow(map)) {
        return false;
    }
    map->slots[slot_of(map, key)] = (struct map_slot){.key = key, .value = value};
    map->count++;
    return true;
}

void *map_next(const struct map *map, size_t *position)
{
    while (*position < map->capacity) {
        void *value = map->slots[(*position)++].value;
        if (value != NULL) {
            return value;
        }
    }
    return NULL;
}

/* Linear probing, at most half full; limits whose count fell to 0 go when it grows. */
#include "ledger/limit_table.h"

#include <stdlib.h>
#include <string.h>

struct limit_slot {
    struct limit_ref limit; /* node_no 0: free */
    int64_t count;
};

void limit_table_fini(struct limit_table *table)
{
    free(table->slots);
    *table = (struct limit_table){0};
}

void limit_table_clear(struct limit_table *table)
{
    if (table->used > 0) {
        memset(table->slots, 0, table->capacity * sizeof *table->slots);
        table->used = 0;
    }
}

static bool limit_equal(const struct limit_ref *a, const struct limit_ref *b)
{
    return a->node_no == b->node_no && a->kind == b->kind && a->model_no == b->model_no;
}

static struct limit_slot *slot_of(const struct limit_table *table, const struct limit_ref *limit)
{
    uint64_t hash = (uint64_t)limit->node_no * UINT64_C(0x9e3779b97f4a7c15);
    hash = (hash ^ (uint64_t)(limit->kind * 1024 + limit->model_no)) * UINT64_C(0xff51afd7ed558ccd);
    size_t mask = table->capacity - 1;
    size_t i = (size_t)(hash >> 32) & mask;
    while (table->slots[i].limit.node_no != 0 && !limit_equal(&table->slots[i].limit, limit)) {
        i = (i + 1) & mask;
    }
    return &table->slots[i];
}

int64_t limit_table_count(const struct limit_table *table, const struct limit_ref *limit)
{
    return table->used == 0 ? 0 : slot_of(table, limit)->count;
}

static bool grow(struct limit_table *table)
{
    size_t live = 0;
    for (size_t i = 0; i < table->capacity; i++) {
        live += table->slots[i].count != 0 ? 1 : 0;
    }
    struct limit_table larger = {.capacity = 64};
    while (larger.capacity < live * 4) {
        larger.capacity *= 2;
    }
    larger.slots = calloc(larger.capacity, sizeof *larger.slots);
    if (larger.slots == NULL) {
        return false;
    }
    for (size_t i = 0; i < table->capacity; i++) {
        if (table->slots[i].count != 0) {
            *slot_of(&larger, &table->slots[i].limit) = table->slots[i];
            larger.used++;
        }
    }
    free(table->slots);
    *table = larger;
    return true;
}

bool limit_table_add(struct limit_table *table, const struct limit_ref *limit, int64_t more)
{
    assert(limit->node_no != 0);
    if (table->used * 2 >= table->capacity && !grow(table)) {
        return false;
    }
    struct limit_slot *slot = slot_of(table, limit);
    if (slot->limit.node_no == 0) {
        slot->limit = *limit;
        table->used++;
    }
    slot->count += more;
    return true;
}

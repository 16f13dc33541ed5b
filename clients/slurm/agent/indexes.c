/* SPDX-License-Identifier: MIT
 *
 * See indexes.h. */
#include "clients/slurm/agent/indexes.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static bool number_read(const char **at, const char *end, uint32_t *ret_value)
{
    uint64_t value = 0;
    const char *start = *at;
    while (*at < end && isdigit((unsigned char)**at) && *at - start < 10) {
        value = value * 10 + (uint64_t)(**at - '0');
        (*at)++;
    }
    if (*at == start || value > UINT32_MAX - 2) {
        return false;
    }
    *ret_value = (uint32_t)value;
    return true;
}

/* Where `value` is or belongs. */
static size_t place_of(const struct indexes *indexes, uint32_t value)
{
    size_t low = 0;
    size_t high = indexes->count;
    if (high > 0 && indexes->values[high - 1] < value) {
        return high;
    }
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (indexes->values[middle] < value) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

bool indexes_add_one(struct indexes *indexes, uint32_t value)
{
    const size_t place = place_of(indexes, value);
    if (place < indexes->count && indexes->values[place] == value) {
        return true;
    }
    if (indexes->count == INDEXES_MAX) {
        return false;
    }
    if (indexes->count == indexes->room) {
        const size_t room = indexes->room == 0 ? 8 : indexes->room * 2;
        uint32_t *grown = realloc(indexes->values, room * sizeof *grown);
        if (grown == NULL) {
            return false;
        }
        indexes->values = grown;
        indexes->room = room;
    }
    memmove(indexes->values + place + 1, indexes->values + place,
            (indexes->count - place) * sizeof *indexes->values);
    indexes->values[place] = value;
    indexes->count++;
    return true;
}

/* "7", "1-9", "1-9:2". */
static bool item_add(struct indexes *indexes, const char *at, const char *end)
{
    uint32_t first;
    uint32_t last;
    uint32_t step = 1;
    if (!number_read(&at, end, &first)) {
        return false;
    }
    last = first;
    if (at < end && *at == '-') {
        at++;
        if (!number_read(&at, end, &last) || last < first) {
            return false;
        }
    }
    if (at < end && *at == ':') {
        at++;
        if (!number_read(&at, end, &step) || step == 0) {
            return false;
        }
    }
    if (at != end || (last - first) / step >= INDEXES_MAX) {
        return false;
    }
    for (uint64_t value = first; value <= last; value += step) {
        if (!indexes_add_one(indexes, (uint32_t)value)) {
            return false;
        }
    }
    return true;
}

bool indexes_add(struct indexes *indexes, const char *text, size_t bytes)
{
    const char *limit = memchr(text, '%', bytes);
    const char *end = limit == NULL ? text + bytes : limit;
    struct indexes found = {0};
    bool good = text < end;
    for (const char *at = text; good && at < end;) {
        const char *comma = memchr(at, ',', (size_t)(end - at));
        const char *item_end = comma == NULL ? end : comma;
        good = item_add(&found, at, item_end);
        at = comma == NULL ? end : comma + 1;
    }
    for (size_t i = 0; good && i < found.count; i++) {
        good = indexes_add_one(indexes, found.values[i]);
    }
    indexes_fini(&found);
    return good;
}

int64_t indexes_rank(const struct indexes *indexes, uint32_t value)
{
    const size_t place = place_of(indexes, value);
    return place < indexes->count && indexes->values[place] == value ? (int64_t)place : -1;
}

void indexes_fini(struct indexes *indexes)
{
    free(indexes->values);
    *indexes = (struct indexes){0};
}

/* SPDX-License-Identifier: MIT
 *
 * Texts with GPUs and array indices: see gres.h. */
#include "clients/slurm/gres.h"

#include <ctype.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum {
    TEXT_BYTES_MAX = 65536, /* what nobody writes must not keep slurmctld busy */
    ITEM_BYTES_MAX = 1024,
    MARKED_MAX = 200000, /* indices of a list out of order, which are marked one by one */
};

/* A piece of a text. */
struct span {
    const char *at;
    size_t bytes;
};

/* Reads digits to the end of the span; at most 9 of them. */
static bool number_read(struct span span, int64_t *ret_value)
{
    int64_t value = 0;
    if (span.bytes == 0 || span.bytes > 9) {
        return false;
    }
    for (size_t i = 0; i < span.bytes; i++) {
        if (!isdigit((unsigned char)span.at[i])) {
            return false;
        }
        value = value * 10 + (span.at[i] - '0');
    }
    *ret_value = value;
    return true;
}

/* The next piece up to one of `ends`; false at the end of the text. */
static bool piece_next(struct span *rest, const char *ends, struct span *ret_piece)
{
    if (rest->at == NULL) {
        return false;
    }
    size_t bytes = 0;
    while (bytes < rest->bytes && strchr(ends, rest->at[bytes]) == NULL) {
        bytes++;
    }
    *ret_piece = (struct span){rest->at, bytes};
    if (bytes == rest->bytes) {
        *rest = (struct span){NULL, 0};
    } else {
        *rest = (struct span){rest->at + bytes + 1, rest->bytes - bytes - 1};
    }
    return true;
}

/* ---- GPUs ---- */

static bool is_word(struct span span, const char *word)
{
    return span.bytes == strlen(word) && memcmp(span.at, word, span.bytes) == 0;
}

/* "2", "2k": a count with Slurm's multipliers. */
static bool count_read(struct span span, int64_t *ret_count)
{
    const char *last = span.bytes > 1 ? span.at + span.bytes - 1 : "";
    int64_t times = 1;
    if (*last == 'k' || *last == 'K') {
        times = 1024;
    } else if (*last == 'm' || *last == 'M') {
        times = INT64_C(1024) * 1024;
    }
    span.bytes -= times > 1;
    if (!number_read(span, ret_count)) {
        return false;
    }
    *ret_count *= times;
    return true;
}

static bool model_add(struct span model, int64_t count, struct gres_gpus *gpus)
{
    unsigned i = 0;
    if (count == 0) {
        return true;
    }
    if (model.bytes >= GRES_MODEL_BYTES) {
        return false;
    }
    while (i < gpus->count && !is_word(model, gpus->items[i].model)) {
        i++;
    }
    if (i == GRES_MODELS_MAX) {
        return false;
    }
    struct gres_gpu *item = &gpus->items[i];
    if (i == gpus->count) {
        memcpy(item->model, model.at, model.bytes);
        item->model[model.bytes] = '\0';
        item->count = 0;
        gpus->count++;
    }
    item->count += count;
    return item->count <= GRES_COUNT_MAX;
}

/* Takes "(S:0-1)" off the end, and blanks from both ends. */
static struct span item_trim(struct span item)
{
    for (size_t i = 0; i < item.bytes; i++) {
        if (item.at[i] == '(') {
            item.bytes = i;
        }
    }
    while (item.bytes > 0 && isspace((unsigned char)item.at[0])) {
        item = (struct span){item.at + 1, item.bytes - 1};
    }
    while (item.bytes > 0 && isspace((unsigned char)item.at[item.bytes - 1])) {
        item.bytes--;
    }
    return item;
}

/*
 * One item: "gres:gpu:a100:2". Words are parted by ':', '/' or '='; "gres" and "gpu" in front are
 * the kind, a count at the end is how many, what is between is the model.
 */
static bool item_add(struct span item, bool bare, int64_t times, struct gres_gpus *gpus)
{
    struct span words[6];
    size_t n = 0;
    struct span rest = item_trim(item);
    if (rest.bytes == 0) {
        return true;
    }
    while (n < 6 && piece_next(&rest, ":/=", &words[n])) {
        n++;
    }
    size_t first = is_word(words[0], "gres") ? 1 : 0;
    if (first < n && is_word(words[first], "gpu")) {
        first++;
    } else if (!bare || first > 0 || is_word(words[0], "none")) {
        return true; /* a license, a shard, nothing */
    }
    int64_t count = 1;
    if (n > first && isdigit((unsigned char)*words[n - 1].at) && n - first <= 2) {
        /* A MIG profile ("1g.10gb") begins with a digit, too, and is a model. */
        if (count_read(words[n - 1], &count)) {
            n--;
        } else if (n - first == 2) {
            return false;
        }
    }
    if (rest.at != NULL || n - first > 1 || (n > first && words[first].bytes == 0)) {
        return false;
    }
    const struct span model = n > first ? words[first] : (struct span){"", 0};
    if (count > GRES_COUNT_MAX || times > GRES_COUNT_MAX) {
        return false;
    }
    return model_add(model, count * times, gpus);
}

bool gres_gpus_add(const char *text, bool bare, int64_t times, struct gres_gpus *gpus)
{
    struct span rest = {text, text == NULL ? 0 : strlen(text)};
    struct span item;
    if (rest.bytes > TEXT_BYTES_MAX) {
        return false;
    }
    while (piece_next(&rest, ",;", &item)) {
        if (item.bytes > ITEM_BYTES_MAX || !item_add(item, bare, times, gpus)) {
            return false;
        }
    }
    return true;
}

int64_t gres_gpus_total(const struct gres_gpus *gpus)
{
    int64_t total = 0;
    for (unsigned i = 0; i < gpus->count; i++) {
        total += gpus->items[i].count;
    }
    return total;
}

/* ---- arrays ---- */

struct range {
    int64_t first;
    int64_t last;
    int64_t step;
};

/* "4", "0-15" or "0-15:4". */
static bool range_read(struct span item, struct range *ret_range)
{
    struct span rest = item;
    struct span head = {NULL, 0};
    struct span first = {NULL, 0};
    struct range range = {.step = 1};
    piece_next(&rest, ":", &head);
    if (rest.at != NULL && (!number_read(rest, &range.step) || range.step == 0)) {
        return false;
    }
    struct span last = head;
    const bool stepped = rest.at != NULL;
    piece_next(&last, "-", &first);
    if (!number_read(first, &range.first)) {
        return false;
    }
    range.last = range.first;
    if (last.at != NULL ? !number_read(last, &range.last) : stepped) {
        return false;
    }
    *ret_range = range;
    return range.first <= range.last && range.last <= ARRAY_INDEX_MAX;
}

static int64_t range_count(const struct range *range)
{
    return (range->last - range->first) / range->step + 1;
}

/* Marks each index once, in a map of 500 kB; the list has been read before. */
static int64_t list_mark(struct span list, uint8_t *seen)
{
    int64_t tasks = 0;
    struct span item;
    struct range range;
    while (piece_next(&list, ",", &item) && range_read(item, &range)) {
        for (int64_t i = range.first; i <= range.last; i += range.step) {
            const uint8_t bit = (uint8_t)(1U << (i % 8));
            tasks += (seen[i / 8] & bit) == 0;
            seen[i / 8] |= bit;
        }
    }
    return tasks;
}

/* A list in ascending order is added up; one that is not may name an index twice. */
static bool list_count(struct span list, int64_t *ret_tasks)
{
    int64_t tasks = 0;
    int64_t highest = -1;
    bool ascends = true;
    struct span rest = list;
    struct span item;
    struct range range;
    while (piece_next(&rest, ",", &item)) {
        if (!range_read(item, &range)) {
            return false;
        }
        ascends = ascends && range.first > highest;
        highest = range.last;
        tasks += range_count(&range);
    }
    *ret_tasks = tasks;
    if (ascends) {
        return true;
    }
    uint8_t *seen = tasks > MARKED_MAX ? NULL : calloc(ARRAY_INDEX_MAX / 8 + 1, 1);
    if (seen != NULL) {
        *ret_tasks = list_mark(list, seen);
    }
    free(seen);
    return seen != NULL;
}

bool gres_array_count(const char *text, int64_t *ret_tasks, int64_t *ret_max_running)
{
    *ret_tasks = 1;
    *ret_max_running = 0;
    if (text == NULL || *text == '\0') {
        return true;
    }
    struct span limit = {text, strlen(text)};
    struct span list;
    if (limit.bytes > TEXT_BYTES_MAX) {
        return false;
    }
    piece_next(&limit, "%", &list);
    if (list.bytes > 1 && list.at[0] == '[' && list.at[list.bytes - 1] == ']') {
        list = (struct span){list.at + 1, list.bytes - 2};
    }
    if (limit.at != NULL && !number_read(limit, ret_max_running)) {
        return false;
    }
    struct range range;
    if (memchr(list.at, ',', list.bytes) != NULL) {
        return list_count(list, ret_tasks);
    }
    if (!range_read(list, &range)) {
        return false;
    }
    *ret_tasks = range_count(&range);
    return true;
}

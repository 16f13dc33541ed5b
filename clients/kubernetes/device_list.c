/* Devices of one kind: see device_list.h. */
#include "clients/kubernetes/device_list.h"

#include <string.h>

enum { PERCENT = 100 };

static bool is_whole(const struct device_run *run)
{
    return run->cores_percent == 0 && run->memory_mib == 0;
}

/* Below 0 when @a comes before @b, 0 when they are alike. */
static int compare(const struct device_run *a, const struct device_run *b)
{
    if (is_whole(a) || is_whole(b)) {
        return (is_whole(a) ? 0 : 1) - (is_whole(b) ? 0 : 1);
    }
    if (a->cores_percent != b->cores_percent) {
        return a->cores_percent > b->cores_percent ? -1 : 1;
    }
    return a->memory_mib == b->memory_mib ? 0 : a->memory_mib > b->memory_mib ? -1 : 1;
}

bool device_list_add(struct device_list *list, struct device_run run)
{
    if (run.cores_percent >= PERCENT) {
        run.cores_percent = 0;
        run.memory_mib = 0;
    }
    unsigned at = 0;
    while (at < list->run_count && compare(&list->runs[at], &run) < 0) {
        at++;
    }
    if (at < list->run_count && compare(&list->runs[at], &run) == 0) {
        return !__builtin_add_overflow(list->runs[at].count, run.count, &list->runs[at].count);
    }
    if (list->run_count == DEVICE_RUNS_MAX) {
        return false;
    }
    memmove(&list->runs[at + 1], &list->runs[at], (list->run_count - at) * sizeof list->runs[0]);
    list->runs[at] = run;
    list->run_count++;
    return true;
}

bool device_list_add_all(struct device_list *list, const struct device_list *other)
{
    for (unsigned i = 0; i < other->run_count; i++) {
        if (!device_list_add(list, other->runs[i])) {
            return false;
        }
    }
    return true;
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* The larger of two devices, share by share. */
static struct device_run run_max(const struct device_run *a, const struct device_run *b)
{
    if (is_whole(a) || is_whole(b)) {
        return (struct device_run){0};
    }
    return (struct device_run){
        .cores_percent = larger(a->cores_percent, b->cores_percent),
        .memory_mib = larger(a->memory_mib, b->memory_mib),
    };
}

/* Both lists are walked side by side, as far as the shorter of the two runs at hand lasts. */
bool device_list_max(struct device_list *list, const struct device_list *other)
{
    const struct device_list mine = *list;
    struct device_list max = {0};
    unsigned i = 0;
    unsigned j = 0;
    int64_t mine_done = 0; /* of mine.runs[i] */
    int64_t other_done = 0;
    while (i < mine.run_count || j < other->run_count) {
        const bool has_mine = i < mine.run_count;
        const bool has_other = j < other->run_count;
        const int64_t mine_left = has_mine ? mine.runs[i].count - mine_done : INT64_MAX;
        const int64_t other_left = has_other ? other->runs[j].count - other_done : INT64_MAX;
        const int64_t count = mine_left < other_left ? mine_left : other_left;
        struct device_run run = has_mine && has_other ? run_max(&mine.runs[i], &other->runs[j])
                                : has_mine            ? mine.runs[i]
                                                      : other->runs[j];
        run.count = count;
        if (!device_list_add(&max, run)) {
            return false;
        }
        mine_done = count == mine_left ? 0 : mine_done + count;
        other_done = count == other_left ? 0 : other_done + count;
        i += has_mine && count == mine_left ? 1 : 0;
        j += has_other && count == other_left ? 1 : 0;
    }
    *list = max;
    return true;
}

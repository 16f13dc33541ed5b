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

/* A list being walked, and how much of its run at hand is left; INT64_MAX at its end. */
struct walk {
    const struct device_list *list;
    unsigned at;
    int64_t left;
};

static void walk_to(struct walk *walk, unsigned at)
{
    walk->at = at;
    walk->left = at < walk->list->run_count ? walk->list->runs[at].count : INT64_MAX;
}

static const struct device_run *walk_run(const struct walk *walk)
{
    return walk->at < walk->list->run_count ? &walk->list->runs[walk->at] : NULL;
}

static void walk_on(struct walk *walk, int64_t count)
{
    if (walk_run(walk) == NULL) {
        return;
    }
    walk->left -= count;
    if (walk->left == 0) {
        walk_to(walk, walk->at + 1);
    }
}

/* Both lists are walked side by side, as far as the shorter of the two runs at hand lasts. */
bool device_list_max(struct device_list *list, const struct device_list *other)
{
    const struct device_list mine = *list;
    struct device_list max = {0};
    struct walk a = {.list = &mine};
    struct walk b = {.list = other};
    walk_to(&a, 0);
    walk_to(&b, 0);
    while (walk_run(&a) != NULL || walk_run(&b) != NULL) {
        const struct device_run *one = walk_run(&a) != NULL ? walk_run(&a) : walk_run(&b);
        const struct device_run *two = walk_run(&b) != NULL ? walk_run(&b) : one;
        struct device_run run = run_max(one, two);
        run.count = a.left < b.left ? a.left : b.left;
        if (!device_list_add(&max, run)) {
            return false;
        }
        const int64_t count = run.count;
        walk_on(&a, count);
        walk_on(&b, count);
    }
    *list = max;
    return true;
}

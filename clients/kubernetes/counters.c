/* Counters: see counters.h. */
#include "clients/kubernetes/counters.h"

#include <stdatomic.h>
#include <stdio.h>

static const struct row {
    const char *metric;
    const char *kind;
    const char *help;
} rows[] = {
#define COUNTER_ROW(NAME, metric, kind, help) {metric, kind, help},
    COUNTERS(COUNTER_ROW)
#undef COUNTER_ROW
};
#define ROWS (sizeof rows / sizeof rows[0])

static _Atomic int64_t values[ROWS];

void counter_add(enum counter counter, int64_t delta)
{
    atomic_fetch_add(&values[counter], delta);
}

void counter_set(enum counter counter, int64_t value)
{
    atomic_store(&values[counter], value);
}

int64_t counter_get(enum counter counter)
{
    return atomic_load(&values[counter]);
}

size_t counters_write(char *ret_text, size_t bytes)
{
    size_t used = 0;
    for (size_t i = 0; i < ROWS && used < bytes; i++) {
        static const char prefix[] = "corehour_kubernetes_";
        const int more =
            snprintf(ret_text + used, bytes - used, "# HELP %s%s %s\n# TYPE %s%s %s\n%s%s %lld\n",
                     prefix, rows[i].metric, rows[i].help, prefix, rows[i].metric, rows[i].kind,
                     prefix, rows[i].metric, (long long)counter_get((enum counter)i));
        used += more < 0 ? 0 : (size_t)more;
    }
    return used < bytes ? used : bytes - 1;
}

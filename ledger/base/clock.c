/*
 * The only clock of the program.
 */
#include "ledger/base/clock.h"

#include <time.h>

#include "ledger/base/check.h"

enum {
    NS_PER_MS = 1000000,
    MS_PER_S = 1000,
};

static struct timespec read_clock(clockid_t id)
{
    struct timespec now;
    int rc = clock_gettime(id, &now);
    /* Fails only for an unknown clock or a bad address. */
    assert(rc == 0);
    return now;
}

int64_t clock_wall_ms(void)
{
    struct timespec now = read_clock(CLOCK_REALTIME);
    return (int64_t)now.tv_sec * MS_PER_S + now.tv_nsec / NS_PER_MS;
}

int64_t clock_mono_ms(void)
{
    return clock_mono_ns() / NS_PER_MS;
}

int64_t clock_mono_ns(void)
{
    struct timespec now = read_clock(CLOCK_MONOTONIC);
    return (int64_t)now.tv_sec * MS_PER_S * NS_PER_MS + now.tv_nsec;
}

/* The only clock of the clients: see clock.h. */
#include "clients/clock.h"

#include <errno.h>
#include <time.h>

static int64_t read_ms(clockid_t id)
{
    struct timespec now;
    clock_gettime(id, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int64_t client_clock_mono_ms(void)
{
    return read_ms(CLOCK_MONOTONIC);
}

int64_t client_clock_wall_ms(void)
{
    return read_ms(CLOCK_REALTIME);
}

void client_clock_sleep_ms(int64_t wait_ms)
{
    struct timespec left = {.tv_sec = wait_ms / 1000, .tv_nsec = (wait_ms % 1000) * 1000000};
    while (nanosleep(&left, &left) != 0 && errno == EINTR) {
        ;
    }
}

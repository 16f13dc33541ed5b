/* The clock: sane, and the monotonic one never steps back. */
#include <time.h>

#include <criterion/criterion.h>

#include "ledger/base/clock.h"

Test(clock, the_wall_clock_agrees_with_the_system)
{
    int64_t before_s = (int64_t)time(NULL) - 1;
    int64_t now_ms = clock_wall_ms();
    int64_t after_s = (int64_t)time(NULL) + 1;
    cr_expect(now_ms / 1000 >= before_s && now_ms / 1000 <= after_s);
}

Test(clock, the_monotonic_clock_never_steps_back)
{
    int64_t last_ns = clock_mono_ns();
    for (int i = 0; i < 100000; i++) {
        int64_t now_ns = clock_mono_ns();
        cr_assert(now_ns >= last_ns);
        last_ns = now_ns;
    }
}

Test(clock, milliseconds_and_nanoseconds_are_one_clock)
{
    int64_t before_ms = clock_mono_ns() / 1000000;
    int64_t between_ms = clock_mono_ms();
    int64_t after_ms = clock_mono_ns() / 1000000;
    cr_expect(before_ms <= between_ms && between_ms <= after_ms);
}

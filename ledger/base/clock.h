/*
 * The only clock of the program. Nothing else reads the time (checked by tests/layering).
 *
 * The wall clock dates records; it is read once per request and passed down as now_ms. The
 * monotonic clock measures waiting and never dates anything. The pure core never includes this
 * header. Any thread.
 */
#ifndef LEDGER_BASE_CLOCK_H
#define LEDGER_BASE_CLOCK_H

#include <stdint.h>

/** Milliseconds since 1970 UTC. May step backwards with the system's clock: the ledger takes
 * max(clock, last entry). */
int64_t clock_wall_ms(void);

/** Milliseconds since some fixed point; never steps back. */
int64_t clock_mono_ms(void);

/** Nanoseconds since the same fixed point; for latencies. */
int64_t clock_mono_ns(void);

#endif

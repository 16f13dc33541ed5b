/* The only clock of the clients: deadlines by the monotonic one, ids and relative times by the wall's. */
#ifndef COREHOUR_CLIENTS_CLOCK_H
#define COREHOUR_CLIENTS_CLOCK_H

#include <stdint.h>

/* Milliseconds since some fixed point; never steps back. */
int64_t client_clock_mono_ms(void);

/* Milliseconds since 1970 UTC. */
int64_t client_clock_wall_ms(void);

/* Sleeps for that long, through interruptions. wait_ms: 0 or more. */
void client_clock_sleep_ms(int64_t wait_ms);

#endif

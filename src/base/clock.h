/* Monotonic milliseconds for waits, and jitter for back-off. Wall-clock time is the database's. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>

int64_t clock_ms(void);
/*
 * A pseudo-random integer in 0…bound-1 (bound ≥ 1); seeded from the system once; not for secrets.
 * For one thread, the worker's.
 */
uint32_t clock_jitter(uint32_t bound);

#endif

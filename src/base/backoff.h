/* How long to wait before the next try: doubling, bounded, jittered so that a pool spreads out. */
#ifndef BASE_BACKOFF_H
#define BASE_BACKOFF_H

#include <stdint.h>

struct backoff {
        int64_t first_ms; /* ≥ 1 */
        int64_t most_ms;  /* ≥ first_ms */
};

/* tries: how often it failed before, 0 and up. Between half of and all of first·2^tries, ≤ most. */
int backoff_ms(const struct backoff *backoff, unsigned tries);

#endif

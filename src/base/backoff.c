#include "base/backoff.h"

#include "base/clock.h"

int backoff_ms(const struct backoff *backoff, unsigned tries)
{
        int64_t wait_ms = backoff->first_ms;
        for (unsigned i = 0; i < tries && wait_ms < backoff->most_ms; i++)
                wait_ms *= 2;
        if (wait_ms > backoff->most_ms)
                wait_ms = backoff->most_ms;
        int64_t half = wait_ms / 2;
        return (int)(wait_ms - half + clock_jitter((uint32_t)half + 1));
}

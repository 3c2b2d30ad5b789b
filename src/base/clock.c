#include "base/clock.h"

#include <assert.h>
#include <stdbool.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

int64_t clock_ms(void)
{
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* A system without entropy yet still must not make workers of one pool retry in step. */
static uint64_t seed(void)
{
        uint64_t value;
        if (getrandom(&value, sizeof value, GRND_NONBLOCK) == (ssize_t)sizeof value)
                return value;
        struct timespec now;
        clock_gettime(CLOCK_REALTIME, &now);
        return (uint64_t)now.tv_nsec ^ (uint64_t)now.tv_sec << 30 ^ (uint64_t)getpid() << 44;
}

/* SplitMix64, https://prng.di.unimi.it/splitmix64.c: any seed will do, zero too. */
static uint64_t next(uint64_t *state)
{
        *state += 0x9e3779b97f4a7c15u;
        uint64_t z = *state;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        return z ^ (z >> 31);
}

uint32_t clock_jitter(uint32_t bound)
{
        static bool seeded;
        static uint64_t state;
        assert(bound >= 1);
        if (!seeded) {
                state = seed();
                seeded = true;
        }
        return (uint32_t)(((next(&state) >> 32) * bound) >> 32);
}

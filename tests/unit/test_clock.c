#include "unit.h"

#include <time.h>

#include "base/clock.h"

static int64_t monotonic_us(void)
{
        struct timespec now;
        ck_assert_int_eq(clock_gettime(CLOCK_MONOTONIC, &now), 0);
        return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

START_TEST(the_clock_goes_forward_in_milliseconds)
{
        int64_t first_us = monotonic_us(), first_ms = clock_ms(), latest_ms = first_ms;
        while (latest_ms < first_ms + 5) {
                int64_t now_ms = clock_ms();
                ck_assert_int_ge(now_ms, latest_ms);
                latest_ms = now_ms;
        }
        /* What it says has passed, to a millisecond at each end. */
        ck_assert_int_ge(monotonic_us() - first_us, (latest_ms - first_ms - 1) * 1000);
}
END_TEST

START_TEST(jitter_stays_below_its_bound_and_reaches_every_value)
{
        unsigned seen[7] = { 0 };
        for (int i = 0; i < 7000; i++) {
                uint32_t value = clock_jitter(7);
                ck_assert_uint_lt(value, 7);
                seen[value]++;
        }
        for (int i = 0; i < 7; i++)
                ck_assert_uint_gt(seen[i], 700);
        ck_assert_uint_eq(clock_jitter(1), 0);
        for (int i = 0; i < 1000; i++)
                ck_assert_uint_lt(clock_jitter(UINT32_MAX), UINT32_MAX);
}
END_TEST

/* A child takes its seed for itself: workers of one pool must not retry in step. */
START_TEST(two_processes_do_not_jitter_in_step)
{
        uint32_t values[2] = { 0 };
        for (int i = 0; i < 2; i++) {
                int ends[2];
                ck_assert_int_eq(pipe(ends), 0);
                pid_t child = fork();
                if (child == 0) {
                        uint32_t value = clock_jitter(UINT32_MAX);
                        _exit(write(ends[1], &value, sizeof value) != (ssize_t)sizeof value);
                }
                ck_assert_int_eq(read(ends[0], &values[i], sizeof values[i]), sizeof values[i]);
        }
        ck_assert_uint_ne(values[0], values[1]);
}
END_TEST

UNIT_MAIN("clock", the_clock_goes_forward_in_milliseconds,
          jitter_stays_below_its_bound_and_reaches_every_value, two_processes_do_not_jitter_in_step)

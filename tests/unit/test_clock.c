#include "unit.h"

#include <time.h>

#include "base/clock.h"

START_TEST(the_clock_goes_forward_in_milliseconds)
{
        int64_t before_ms = clock_ms();
        struct timespec pause = { .tv_nsec = 20 * 1000 * 1000 };
        nanosleep(&pause, NULL);
        int64_t passed_ms = clock_ms() - before_ms;
        ck_assert_int_ge(passed_ms, 19);
        ck_assert_int_lt(passed_ms, 10000);
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

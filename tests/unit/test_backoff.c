/* Bounds and spread of the waits; the randomness itself is clock.c's. */
#include "unit.h"

#include "base/backoff.h"

enum { DRAWS = 2000 };

/* Every draw stands in least…most, and both halves of that are met. */
static void waits(struct backoff backoff, unsigned tries, int least, int most)
{
        int lowest = most + 1, highest = 0;
        for (int i = 0; i < DRAWS; i++) {
                int wait_ms = backoff_ms(&backoff, tries);
                ck_assert_msg(wait_ms >= least && wait_ms <= most, "tries %u: %d ms", tries,
                              wait_ms);
                lowest = wait_ms < lowest ? wait_ms : lowest;
                highest = wait_ms > highest ? wait_ms : highest;
        }
        int middle = least + (most - least) / 2;
        ck_assert_int_le(lowest, middle);
        ck_assert_int_ge(highest, middle);
}

START_TEST(each_further_try_doubles_the_wait)
{
        const struct backoff backoff = { 100, 30000 };
        waits(backoff, 0, 50, 100);
        waits(backoff, 1, 100, 200);
        waits(backoff, 2, 200, 400);
        waits(backoff, 3, 400, 800);
        waits(backoff, 8, 12800, 25600);
}
END_TEST

START_TEST(no_wait_is_longer_than_the_bound)
{
        const struct backoff backoff = { 100, 30000 };
        waits(backoff, 9, 15000, 30000);
        waits(backoff, 64, 15000, 30000);
        waits(backoff, UINT32_MAX, 15000, 30000);
        waits((struct backoff){ 300, 300 }, 5, 150, 300);
}
END_TEST

START_TEST(the_shortest_wait_is_one_millisecond)
{
        waits((struct backoff){ 1, 1 }, 0, 1, 1);
        waits((struct backoff){ 1, 2 }, 7, 1, 2);
}
END_TEST

UNIT_MAIN("backoff", each_further_try_doubles_the_wait, no_wait_is_longer_than_the_bound,
          the_shortest_wait_is_one_millisecond)

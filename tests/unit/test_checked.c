#include "unit.h"

#include "base/checked.h"

static void adds(int64_t sum, int64_t addend, int64_t expected)
{
        ck_assert(checked_add(&sum, addend));
        ck_assert_int_eq(sum, expected);
}

static void refuses(int64_t sum, int64_t addend)
{
        int64_t before = sum;
        ck_assert(!checked_add(&sum, addend));
        ck_assert_int_eq(sum, before);
}

START_TEST(sums_reach_both_ends_of_64_bits)
{
        adds(0, 0, 0);
        adds(-5, 3, -2);
        adds(INT64_MAX - 1, 1, INT64_MAX);
        adds(INT64_MIN + 1, -1, INT64_MIN);
        adds(INT64_MIN, INT64_MAX, -1);
        adds(INT64_MAX, INT64_MIN, -1);
        adds(0, INT64_MIN, INT64_MIN);
        adds(INT64_MIN, 0, INT64_MIN);
}
END_TEST

START_TEST(a_sum_beyond_64_bits_is_refused_and_changes_nothing)
{
        refuses(INT64_MAX, 1);
        refuses(1, INT64_MAX);
        refuses(INT64_MAX, INT64_MAX);
        refuses(INT64_MIN, -1);
        refuses(-1, INT64_MIN);
        refuses(INT64_MIN, INT64_MIN);
}
END_TEST

UNIT_MAIN("checked", sums_reach_both_ends_of_64_bits,
          a_sum_beyond_64_bits_is_refused_and_changes_nothing)

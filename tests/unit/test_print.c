/* Numbers and times as the C library would print them. */
#include "unit.h"

#include <inttypes.h>
#include <time.h>

#include "base/print.h"

#define DAY_US INT64_C(86400000000)
#define END_US INT64_C(253402300800000000) /* 10000-01-01 */

static void integer_is(int64_t value)
{
        char text[INTEGER_TEXT_BYTES], expected[32];
        int length = snprintf(expected, sizeof expected, "%" PRId64, value);
        ck_assert_uint_eq(integer_print(text, value), (size_t)length);
        ck_assert_str_eq(text, expected);
}

START_TEST(an_integer_is_printed_as_by_printf)
{
        integer_is(0);
        integer_is(INT64_MIN);
        integer_is(INT64_MAX);
        for (int64_t power = 1; power <= INT64_MAX / 10; power *= 10) {
                integer_is(power);
                integer_is(power - 1);
                integer_is(-power);
                integer_is(1 - power);
        }
}
END_TEST

static void time_is(int64_t time_us)
{
        char text[TIME_TEXT_BYTES], date[32], expected[48];
        struct tm parts;
        time_t seconds = (time_t)(time_us / 1000000);
        ck_assert_uint_gt(
                strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%S", gmtime_r(&seconds, &parts)), 0);
        snprintf(expected, sizeof expected, "%s.%06d", date, (int)(time_us % 1000000));
        time_print(text, time_us, 'T');
        ck_assert_str_eq(text, expected);
}

START_TEST(every_day_of_four_centuries_is_that_of_gmtime)
{
        for (int64_t time_us = 0; time_us < 146097 * DAY_US; time_us += DAY_US)
                time_is(time_us);
}
END_TEST

START_TEST(a_time_is_printed_to_the_microsecond)
{
        time_is(1);
        time_is(999999);
        time_is(DAY_US - 1);
        time_is(INT64_C(1768364467231000));
        time_is(END_US - 1);
}
END_TEST

START_TEST(the_separator_is_the_callers)
{
        char text[TIME_TEXT_BYTES];
        time_print(text, 0, ' ');
        ck_assert_str_eq(text, "1970-01-01 00:00:00.000000");
}
END_TEST

UNIT_MAIN("print", an_integer_is_printed_as_by_printf,
          every_day_of_four_centuries_is_that_of_gmtime, a_time_is_printed_to_the_microsecond,
          the_separator_is_the_callers)

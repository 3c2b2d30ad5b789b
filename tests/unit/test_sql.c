#include "unit.h"

#include <inttypes.h>
#include <stdint.h>
#include <time.h>

#include "mysql/sql.h"

static struct sql sql;

static void is(const char *text)
{
        ck_assert(!sql.failed);
        ck_assert_str_eq(sql.text, text);
        ck_assert_uint_eq(sql.length, strlen(text));
        sql_reset(&sql);
}

START_TEST(an_integer_is_written_as_printf_writes_it)
{
        static const int64_t values[] = { 0,
                                          1,
                                          -1,
                                          9,
                                          10,
                                          -10,
                                          99,
                                          100,
                                          42,
                                          -7,
                                          1000000000000,
                                          INT64_MAX,
                                          INT64_MIN + 1,
                                          INT64_MIN };
        for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
                char expected[32];
                snprintf(expected, sizeof expected, "%" PRId64, values[i]);
                sql_integer(&sql, values[i]);
                is(expected);
        }
}
END_TEST

START_TEST(exactly_seven_bytes_of_a_text_are_escaped)
{
        static const char special[] = { '\0', '\n', '\r', '\\', '\'', '"', 0x1a };
        static const char letters[] = { '0', 'n', 'r', '\\', '\'', '"', 'Z' };
        for (int byte = 0; byte < 256; byte++) {
                char text = (char)byte, expected[8] = { '\'', text, '\'', '\0' };
                const char *found = memchr(special, text, sizeof special);
                if (found != NULL)
                        snprintf(expected, sizeof expected, "'\\%c'", letters[found - special]);
                sql_text_bytes(&sql, &text, 1);
                is(expected);
        }
}
END_TEST

START_TEST(a_quote_cannot_end_its_text)
{
        sql_text(&sql, "x' OR '1'='1' -- \\");
        is("'x\\' OR \\'1\\'=\\'1\\' -- \\\\'");
        sql_text(&sql, "\xe4'"); /* half a character of UTF-8 */
        is("'\xe4\\''");
}
END_TEST

START_TEST(a_null_pointer_is_null_and_an_empty_value_is_not)
{
        sql_text(&sql, NULL);
        is("NULL");
        sql_text_bytes(&sql, NULL, 0);
        is("NULL");
        sql_text(&sql, "");
        is("''");
        sql_binary(&sql, NULL, 0);
        is("NULL");
        sql_binary(&sql, "", 0);
        is("X''");
        sql_time(&sql, INT64_MIN);
        is("NULL");
}
END_TEST

START_TEST(every_byte_of_a_binary_is_two_hexadecimal_digits)
{
        for (int byte = 0; byte < 256; byte++) {
                unsigned char value = (unsigned char)byte;
                char expected[8];
                snprintf(expected, sizeof expected, "X'%02X'", byte);
                sql_binary(&sql, &value, 1);
                is(expected);
        }
}
END_TEST

START_TEST(a_time_is_utc_to_the_microsecond)
{
        sql_time(&sql, 0);
        is("'1970-01-01 00:00:00.000000'");
        sql_time(&sql, INT64_C(1768364467231000));
        is("'2026-01-14 04:21:07.231000'");
        sql_time(&sql, INT64_C(951782399999999)); /* 2000 is a leap year */
        is("'2000-02-28 23:59:59.999999'");
        sql_time(&sql, INT64_C(951782400000000));
        is("'2000-02-29 00:00:00.000000'");
        sql_time(&sql, INT64_C(4107542400000000)); /* 2100 is none */
        is("'2100-03-01 00:00:00.000000'");
        sql_time(&sql, INT64_C(253402300799999999));
        is("'9999-12-31 23:59:59.999999'");
}
END_TEST

START_TEST(every_day_of_four_centuries_is_the_one_that_the_c_library_names)
{
        for (int64_t day = 0; day < 146097; day++) {
                time_t seconds = (time_t)(day * 86400 + day % 86400);
                struct tm tm;
                char expected[40];
                ck_assert_ptr_nonnull(gmtime_r(&seconds, &tm));
                strftime(expected, sizeof expected, "'%Y-%m-%d %H:%M:%S.000007'", &tm);
                sql_time(&sql, (int64_t)seconds * 1000000 + 7);
                is(expected);
        }
}
END_TEST

START_TEST(a_time_that_no_column_can_hold_becomes_no_time_at_all)
{
        static const int64_t values[] = { -1, INT64_C(253402300800000000), INT64_MAX,
                                          INT64_MIN + 1 };
        for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
                sql_time(&sql, values[i]);
                is("'no time of 1970-9999'");
        }
}
END_TEST

START_TEST(pieces_follow_one_another)
{
        sql_raw(&sql, "INSERT INTO ");
        sql_name(&sql, "t-1$_A");
        sql_raw(&sql, " VALUES (");
        sql_integer(&sql, 7);
        sql_raw(&sql, ", ");
        sql_text(&sql, "a\nb");
        sql_raw(&sql, ")");
        is("INSERT INTO `t-1$_A` VALUES (7, 'a\\nb')");
}
END_TEST

START_TEST(a_buffer_grows_and_loses_nothing)
{
        enum { COUNT = 100000 };
        for (int i = 0; i < COUNT; i++) {
                sql_integer(&sql, i % 10);
                sql_text(&sql, "'");
        }
        ck_assert(!sql.failed);
        ck_assert_uint_eq(sql.length, COUNT * 5);
        for (int i = 0; i < COUNT; i++) {
                char expected[8];
                snprintf(expected, sizeof expected, "%d'\\''", i % 10);
                ck_assert(memcmp(sql.text + 5 * i, expected, 5) == 0);
        }
        ck_assert_int_eq(sql.text[sql.length], '\0');
        sql_free(&sql);
}
END_TEST

START_TEST(a_buffer_is_kept_by_reset_and_given_back_by_free)
{
        sql_free(&sql);
        sql_free(&sql);
        sql_raw(&sql, "SELECT 1");
        const char *text = sql.text;
        sql_reset(&sql);
        ck_assert_uint_eq(sql.length, 0);
        ck_assert_str_eq(sql.text, "");
        sql_raw(&sql, "SELECT 2");
        ck_assert_ptr_eq(sql.text, text);
        sql_free(&sql);
        ck_assert_ptr_null(sql.text);
        ck_assert_uint_eq(sql.capacity, 0);
}
END_TEST

START_TEST(a_statement_beyond_all_bounds_fails_and_stays_failed)
{
        sql_raw(&sql, "SELECT ");
        sql_text_bytes(&sql, "", SIZE_MAX / 2);
        ck_assert(sql.failed);
        sql_raw(&sql, "1");
        ck_assert(sql.failed);
        ck_assert_str_eq(sql.text, "SELECT ");
        sql_reset(&sql);
        sql_binary(&sql, "", SIZE_MAX / 2);
        ck_assert(sql.failed);
        ck_assert(sql.too_long);
        sql_reset(&sql);
        sql_text_bytes(&sql, "", 512 * 1024 * 1024); /* what its escapes may take is too long */
        ck_assert(sql.failed && sql.too_long);
        sql_reset(&sql);
        sql_raw(&sql, "1");
        ck_assert(!sql.too_long);
        is("1");
}
END_TEST

UNIT_MAIN("sql", an_integer_is_written_as_printf_writes_it,
          exactly_seven_bytes_of_a_text_are_escaped, a_quote_cannot_end_its_text,
          a_null_pointer_is_null_and_an_empty_value_is_not,
          every_byte_of_a_binary_is_two_hexadecimal_digits, a_time_is_utc_to_the_microsecond,
          every_day_of_four_centuries_is_the_one_that_the_c_library_names,
          a_time_that_no_column_can_hold_becomes_no_time_at_all, pieces_follow_one_another,
          a_buffer_grows_and_loses_nothing, a_buffer_is_kept_by_reset_and_given_back_by_free,
          a_statement_beyond_all_bounds_fails_and_stays_failed)

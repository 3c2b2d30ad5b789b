#include "unit.h"

#include "mysql/session.h"

START_TEST(a_server_is_known_by_its_version)
{
        ck_assert_int_eq(session_server_kind("9.7.0"), SERVER_MYSQL);
        ck_assert_int_eq(session_server_kind("8.0.36-0ubuntu0.22.04.1"), SERVER_MYSQL);
        ck_assert_int_eq(session_server_kind("10.11.19-MariaDB-0+deb12u1"), SERVER_MARIADB_10);
        ck_assert_int_eq(session_server_kind("11.0.6-MariaDB"), SERVER_MARIADB_10);
        ck_assert_int_eq(session_server_kind("11.1.2-MariaDB-log"), SERVER_MARIADB_11);
        ck_assert_int_eq(session_server_kind("12.0.2-MariaDB"), SERVER_MARIADB_11);
        ck_assert_int_eq(session_server_kind(""), SERVER_MYSQL);
}
END_TEST

START_TEST(an_equal_value_is_equal_to_the_letter)
{
        ck_assert(session_value_holds(JUDGE_EQUALS, "+00:00", "+00:00"));
        ck_assert(!session_value_holds(JUDGE_EQUALS, "SYSTEM", "+00:00"));
        ck_assert(!session_value_holds(JUDGE_EQUALS, "10", "1"));
        ck_assert(!session_value_holds(JUDGE_EQUALS, "", "1"));
}
END_TEST

START_TEST(a_bound_is_a_number_not_above_the_wanted_one)
{
        ck_assert(session_value_holds(JUDGE_AT_MOST, "5", "5"));
        ck_assert(session_value_holds(JUDGE_AT_MOST, "1", "5"));
        ck_assert(!session_value_holds(JUDGE_AT_MOST, "6", "5"));
        ck_assert(!session_value_holds(JUDGE_AT_MOST, "50", "5"));
        ck_assert(!session_value_holds(JUDGE_AT_MOST, "-1", "5"));
        ck_assert(!session_value_holds(JUDGE_AT_MOST, "4s", "5"));
        ck_assert(!session_value_holds(JUDGE_AT_MOST, "", "5"));
        ck_assert(!session_value_holds(JUDGE_AT_MOST, "99999999999999999999", "5"));
}
END_TEST

START_TEST(off_is_zero_or_the_word)
{
        ck_assert(session_value_holds(JUDGE_OFF, "0", "0"));
        ck_assert(session_value_holds(JUDGE_OFF, "OFF", "0"));
        ck_assert(!session_value_holds(JUDGE_OFF, "1", "0"));
        ck_assert(!session_value_holds(JUDGE_OFF, "ON", "0"));
        ck_assert(!session_value_holds(JUDGE_OFF, "NO_LOCK", "0"));
}
END_TEST

START_TEST(a_value_that_the_server_does_not_tell_never_holds)
{
        ck_assert(!session_value_holds(JUDGE_EQUALS, NULL, "1"));
        ck_assert(!session_value_holds(JUDGE_AT_MOST, NULL, "5"));
        ck_assert(!session_value_holds(JUDGE_OFF, NULL, "0"));
}
END_TEST

UNIT_MAIN("session", a_server_is_known_by_its_version, an_equal_value_is_equal_to_the_letter,
          a_bound_is_a_number_not_above_the_wanted_one, off_is_zero_or_the_word,
          a_value_that_the_server_does_not_tell_never_holds)

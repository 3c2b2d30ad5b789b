/* `postonce park`: what is typed, what is asked of the database, how it ends. */
#include "desk_fixture.h"

#define KEY "SQB:T1:PAYMENT_RECEIVED"

START_TEST(a_list_shows_each_row)
{
        db = fake_db_open();
        fake_rows("FROM parked");
        fake_row("1", KEY, "R8-1", "ORDER_UNKNOWN", "3", "2026-01-01 00:00:00.000000",
                 "2026-01-01 00:05:00.000000");
        ck_assert_int_eq(typed(STDOUT_FILENO, command_park, "park", "list", "--limit", "2"),
                         EXIT_DONE);
        unit_assert_in(capture.text, KEY);
        unit_assert_in(capture.text, "ORDER_UNKNOWN");
        unit_assert_in(fake_statement("SELECT"), "LIMIT 2");

        fake_rows("FROM parked");
        fake_row("1", KEY, "R8-1", "PAUSED", "3", "2026-01-01", "2026-01-01");
        ck_assert_int_eq(typed(STDOUT_FILENO, command_park, "park", "list", "-o", "json"),
                         EXIT_DONE);
        unit_assert_in(capture.text, "\"key\"");
        unit_assert_in(capture.text, "\"PAUSED\"");
}
END_TEST

START_TEST(without_a_key_or_a_reason_nothing_is_asked)
{
        static const char *const verbs[] = { "release", "discard" };
        db = fake_db_open();
        for (size_t i = 0; i < 2; i++) {
                ck_assert_int_eq(typed(STDERR_FILENO, command_park, "park", verbs[i], KEY),
                                 EXIT_USAGE);
                unit_assert_in(capture.text, "--why");
                ck_assert_int_eq(
                        typed(STDERR_FILENO, command_park, "park", verbs[i], KEY, "--why", ""),
                        EXIT_USAGE);
                ck_assert_int_eq(typed(STDERR_FILENO, command_park, "park", verbs[i], "--why", "x"),
                                 EXIT_USAGE);
                ck_assert_int_eq(typed(STDERR_FILENO, command_park, "park", verbs[i], KEY, KEY,
                                       "--why", "x"),
                                 EXIT_USAGE);
        }
        ck_assert_int_eq(typed(STDERR_FILENO, command_park, "park"), EXIT_USAGE);
        ck_assert_int_eq(typed(STDERR_FILENO, command_park, "park", "list", "--limit", "0"),
                         EXIT_USAGE);
        fake_saw_nothing();
}
END_TEST

START_TEST(a_release_makes_that_claim_due)
{
        db = fake_db_open();
        fake_rows("FROM claim");
        fake_row("7");
        ck_assert_int_eq(typed(STDOUT_FILENO, command_park, "park", "release", KEY, "--why",
                               "order is there", "--tenant", "2"),
                         EXIT_DONE);
        fake_saw("SELECT id FROM claim WHERE tenant_id = 2 AND idem_key = '" KEY "'", "BEGIN",
                 "UPDATE parked SET due_at = UTC_TIMESTAMP(6) WHERE claim_id = 7",
                 "INSERT INTO audit", "COMMIT");
        unit_assert_in(fake_statement("INSERT INTO audit"),
                       "'ann','park release','" KEY "','order is there'");
}
END_TEST

START_TEST(a_discard_settles_that_claim)
{
        db = fake_db_open();
        fake_rows("FROM claim");
        fake_row("7");
        ck_assert_int_eq(
                typed(STDOUT_FILENO, command_park, "park", "discard", KEY, "--why", "a test"),
                EXIT_DONE);
        fake_saw("SELECT id FROM claim WHERE tenant_id = 1", "BEGIN", "INSERT INTO outcome",
                 "DELETE FROM parked WHERE claim_id = 7", "UPDATE review", "INSERT INTO audit",
                 "COMMIT");
        unit_assert_in(fake_statement("INSERT INTO audit"), "'park discard'");
}
END_TEST

START_TEST(what_cannot_be_done_is_said_and_is_no_success)
{
        db = fake_db_open();
        ck_assert_int_ne(typed(STDERR_FILENO, command_park, "park", "release", KEY, "--why", "x"),
                         EXIT_DONE);
        unit_assert_in(capture.text, "no claim " KEY " of tenant 1");

        fake_rows("FROM claim");
        fake_row("7");
        fake_affect("UPDATE parked", 0);
        ck_assert_int_ne(typed(STDERR_FILENO, command_park, "park", "release", KEY, "--why", "x"),
                         EXIT_DONE);
        unit_assert_in(capture.text, "is not parked");

        fake_rows("FROM claim");
        fake_row("7");
        fake_fail("INSERT INTO outcome", PO_EXISTS, 1062);
        ck_assert_int_ne(typed(STDERR_FILENO, command_park, "park", "discard", KEY, "--why", "x"),
                         EXIT_DONE);
        unit_assert_in(capture.text, "is settled already");

        fake_fail("FROM parked", PO_TRANSIENT, 2013);
        ck_assert_int_eq(typed(STDERR_FILENO, command_park, "park", "list"), EXIT_AWAY);
}
END_TEST

UNIT_MAIN("park", a_list_shows_each_row, without_a_key_or_a_reason_nothing_is_asked,
          a_release_makes_that_claim_due, a_discard_settles_that_claim,
          what_cannot_be_done_is_said_and_is_no_success)

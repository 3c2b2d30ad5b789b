/* The flood guard: how many letters a minute pass, and what is durable when there are more. */
#include "fake_db.h"

#include "base/log.h"
#include "worker/flood.h"

static struct db *db;
static struct sql sql;
static struct po_error error;
static unsigned alarms;
static size_t room;

static void count_alarm(const char *code)
{
        ck_assert_str_eq(code, "DEAD_LETTER_FLOOD");
        alarms++;
}

static void start(const char *recent)
{
        db = fake_db_open();
        alarms = 0;
        log_set_alarm_observer(count_alarm);
        fake_rows("FROM dead_letter");
        fake_row(recent);
}

static enum po_class check(size_t letters)
{
        return flood_check(letters, 600, db, &sql, &room, &error);
}

START_TEST(up_to_the_limit_letters_pass)
{
        start("599");
        ck_assert_int_eq(check(1), PO_OK);
        fake_saw("SELECT COUNT(*) FROM dead_letter WHERE created_at > ");
        start("0");
        ck_assert_int_eq(check(600), PO_OK);
        ck_assert_uint_eq(room, 600);
        ck_assert_uint_eq(alarms, 0);
}
END_TEST

START_TEST(one_more_pauses_the_intake_durably_with_an_alarm)
{
        start("600");
        ck_assert_int_eq(check(1), PO_SYSTEMIC);
        unit_assert_in(error.text, "postonce resume");
        fake_saw("SELECT COUNT(*)", "BEGIN", "INSERT INTO pause", "INSERT INTO review",
                 "INSERT INTO audit", "COMMIT");
        ck_assert_uint_eq(room, 0);
        unit_assert_in(fake_statement("INSERT INTO pause"), "VALUES ('',");
        unit_assert_in(fake_statement("INSERT INTO audit"), "'pause','intake','too many");
        ck_assert_uint_eq(alarms, 1);

        start("0");
        ck_assert_int_eq(check(601), PO_SYSTEMIC);
        ck_assert_uint_eq(room, 600);
}
END_TEST

START_TEST(letters_before_the_last_resume_do_not_count)
{
        start("0");
        ck_assert_int_eq(check(1), PO_OK);
        unit_assert_in(fake_statement("SELECT COUNT(*)"),
                       "SELECT MAX(at) FROM audit WHERE verb = 'resume' AND what = 'intake'");
}
END_TEST

START_TEST(what_cannot_be_counted_or_paused_is_that_statements_error)
{
        db = fake_db_open();
        fake_fail("FROM dead_letter", PO_TRANSIENT, 2013);
        ck_assert_int_eq(check(1), PO_TRANSIENT);

        start("600");
        fake_fail("INSERT INTO pause", PO_TRANSIENT, 1205);
        ck_assert_int_eq(check(1), PO_TRANSIENT);
        ck_assert_uint_eq(room, 0);
        ck_assert_uint_eq(alarms, 0);
}
END_TEST

START_TEST(who_finds_the_intake_paused_already_neither_alarms_nor_audits)
{
        start("600");
        fake_fail("INSERT INTO pause", PO_EXISTS, 1062);
        ck_assert_int_eq(check(1), PO_SYSTEMIC);
        fake_saw("SELECT COUNT(*)", "BEGIN", "INSERT INTO pause", "ROLLBACK");
        ck_assert_uint_eq(alarms, 0);
}
END_TEST

UNIT_MAIN("flood", up_to_the_limit_letters_pass, one_more_pauses_the_intake_durably_with_an_alarm,
          letters_before_the_last_resume_do_not_count,
          what_cannot_be_counted_or_paused_is_that_statements_error,
          who_finds_the_intake_paused_already_neither_alarms_nor_audits)

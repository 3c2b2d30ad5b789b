/* What was parked a moment too late for its wake-up. The servers' part is in fault. */
#include "fake_db.h"
#include "posting_fixture.h"

#include "ledger/missed.h"
#include "ledger/parked.h"

static struct db *db;
static struct sql sql;

static struct posting *parked(size_t i, const char *reason)
{
        struct posting *posting = fixture_posting(i, NULL, i == 0 ? "T1" : "T2", "R8-1");
        posting->verdict = VERDICT_PARKED;
        posting->reason = reason;
        return posting;
}

START_TEST(what_missed_nothing_costs_one_read)
{
        db = fake_db_open();
        parked(0, "TOO_EARLY");
        parked(1, "ORDER_UNKNOWN");
        ck_assert_int_eq(missed_make_due(db, &sql, open_postings, 2, &error), PO_OK);
        fake_saw("SELECT p.claim_id FROM parked p FORCE INDEX (PRIMARY)");
        const char *look = fake_statement("SELECT");
        unit_assert_in(look, "p.claim_id IN (1000,1001)");
        unit_assert_in(look, "(COALESCE(o.moved_at, o.created_at) >= UTC_TIMESTAMP(6) - INTERVAL 60"
                             " SECOND OR s.settled_at >= UTC_TIMESTAMP(6) - INTERVAL 60 SECOND)");
        unit_assert_not_in(look, "FOR UPDATE");
        ck_assert(!fake_was_in_transaction("SELECT"));
}
END_TEST

START_TEST(what_missed_its_wake_up_is_due_at_once_and_the_others_are_not)
{
        db = fake_db_open();
        parked(0, "TOO_EARLY");
        parked(1, "ORDER_UNKNOWN");
        fake_rows("FROM parked p");
        fake_row("1001");
        ck_assert_int_eq(missed_make_due(db, &sql, open_postings, 2, &error), PO_OK);
        fake_saw("SELECT p.claim_id",
                 "UPDATE parked FORCE INDEX (PRIMARY) SET due_at = UTC_TIMESTAMP(6)"
                 " WHERE claim_id IN (1001)");
}
END_TEST

START_TEST(what_is_due_already_or_waits_for_a_resume_is_not_asked_about)
{
        db = fake_db_open();
        parked(0, "TOO_EARLY")->unblocked = true;
        parked(1, PARKED_PAUSED);
        ck_assert_int_eq(missed_make_due(db, &sql, open_postings, 2, &error), PO_OK);
        ck_assert_int_eq(missed_make_due(db, &sql, open_postings, 0, &error), PO_OK);
        fake_saw_nothing();
        postings[0].unblocked = false;
        ck_assert_int_eq(missed_make_due(db, &sql, open_postings, 2, &error), PO_OK);
        unit_assert_in(fake_statement("SELECT"), "IN (1000)");
}
END_TEST

START_TEST(a_look_or_a_wake_up_that_fails_is_told)
{
        db = fake_db_open();
        parked(0, "TOO_EARLY");
        fake_fail("FROM parked p", PO_TRANSIENT, 2013);
        ck_assert_int_eq(missed_make_due(db, &sql, open_postings, 1, &error), PO_TRANSIENT);
        fake_rows("FROM parked p");
        fake_row("1000");
        fake_fail("UPDATE parked", PO_TRANSIENT, 1205);
        ck_assert_int_eq(missed_make_due(db, &sql, open_postings, 1, &error), PO_TRANSIENT);
        unit_assert_in(error.text, "make due what missed its wake-up: ");
}
END_TEST

UNIT_MAIN("missed", what_missed_nothing_costs_one_read,
          what_missed_its_wake_up_is_due_at_once_and_the_others_are_not,
          what_is_due_already_or_waits_for_a_resume_is_not_asked_about,
          a_look_or_a_wake_up_that_fails_is_told)

#define FIXTURE_ROWS 80
#include "fake_db.h"
#include "posting_fixture.h"

#include "ledger/outcome.h"

static struct db *db;
static struct sql sql;
static struct outcomes outcomes;

static enum po_class insert(void)
{
        outcomes_close(&outcomes);
        ck_assert_int_eq(outcomes_open(&outcomes, db, &error), PO_OK);
        return outcomes_insert(&outcomes, open_postings, 1, &error);
}

START_TEST(claims_that_only_we_saw_are_not_asked_for)
{
        db = fake_db_open();
        fixture_posting(0, NULL, "T1", "R8-1");
        ck_assert_int_eq(outcomes_refuse(db, &sql, open_postings, 1, &error), PO_OK);
        fake_saw_nothing();
}
END_TEST

START_TEST(one_settled_meanwhile_refuses_the_set)
{
        db = fake_db_open();
        fixture_posting(0, NULL, "T1", "R8-1");
        fixture_posting(1, NULL, "T2", "R8-2")->deliveries = 2;
        fake_rows("FROM outcome");
        fake_row("1001");
        ck_assert_int_eq(outcomes_refuse(db, &sql, open_postings, 2, &error), PO_EXISTS);
        fake_saw("SELECT claim_id FROM outcome WHERE claim_id IN (1001) LIMIT 1");

        /* The row in `parked` may have been discarded, or tried by another worker. */
        postings[1].deliveries = 1;
        postings[1].unparks = true;
        ck_assert_int_eq(outcomes_refuse(db, &sql, open_postings, 2, &error), PO_OK);
        fake_saw("SELECT claim_id FROM outcome WHERE claim_id IN (1001) LIMIT 1");
}
END_TEST

START_TEST(an_outcome_says_what_it_settled_and_which_delivery_did_it)
{
        db = fake_db_open();
        struct posting *posting = fixture_posting(0, NULL, "T1", "R8-1");
        posting->verdict = VERDICT_SKIPPED;
        snprintf(posting->result, sizeof posting->result, "{\"skipped\":\"SHIPPED\"}");
        notifications[0].occurred_at_us = 0;
        ck_assert_int_eq(insert(), PO_OK);
        fake_saw("INSERT INTO outcome (claim_id, verdict, result_json, payload_hash, hash_version,"
                 " source_topic, source_partition, source_offset, turn, effective_at, reverses,"
                 " settled_at)"
                 " VALUES (1000,'SKIPPED','{\\\"skipped\\\":\\\"SHIPPED\\\"}'," FINGERPRINT_A_UNHEX
                 ",1,'callbacks',0,100,0,'1970-01-01 00:00:00.000000',NULL,UTC_TIMESTAMP(6))");
}
END_TEST

START_TEST(an_outcome_keeps_the_version_that_its_claim_was_equal_by)
{
        db = fake_db_open();
        struct posting *posting = fixture_posting(0, NULL, "T1", "R8-1");
        posting->verdict = VERDICT_POSTED;
        memcpy(notifications[0].fingerprint, FINGERPRINT_B, PO_FINGERPRINT_BYTES);
        notifications[0].fingerprint_version = PO_FINGERPRINT_RAW;
        ck_assert_int_eq(insert(), PO_OK);
        unit_assert_not_in(fake_statement("INSERT INTO outcome"), FINGERPRINT_A_UNHEX);
        unit_assert_in(fake_statement("INSERT INTO outcome"), ",2,'callbacks'");

        db = fake_db_open();
        posting->kept_version = PO_FINGERPRINT_VERSION;
        ck_assert_int_eq(insert(), PO_OK);
        unit_assert_in(fake_statement("INSERT INTO outcome"), FINGERPRINT_A_UNHEX ",1,'callbacks'");
}
END_TEST

START_TEST(outcomes_of_several_statements_have_one_time)
{
        enum { MANY = 65 };
        db = fake_db_open();
        for (size_t i = 0; i < MANY; i++)
                fixture_posting(i, NULL, "T1", "R8-1")->verdict = VERDICT_POSTED;
        fake_rows("SELECT UTC_TIMESTAMP(6)");
        fake_row("2026-01-14 04:21:07.231000");
        outcomes_close(&outcomes);
        ck_assert_int_eq(outcomes_open(&outcomes, db, &error), PO_OK);
        ck_assert_int_eq(outcomes_insert(&outcomes, open_postings, MANY, &error), PO_OK);
        unit_assert_in(fake_statement("INSERT INTO outcome"),
                       ",NULL,'2026-01-14 04:21:07.231000')");
        unit_assert_not_in(fake_statement("INSERT INTO outcome"), "ON DUPLICATE");
        fake_saw("SELECT UTC_TIMESTAMP(6)", "INSERT INTO outcome", "INSERT INTO outcome");
}
END_TEST

START_TEST(the_fence_is_passed_up_as_exists)
{
        db = fake_db_open();
        fixture_posting(0, NULL, "T1", "R8-1")->verdict = VERDICT_POSTED;
        fake_fail("INSERT INTO outcome", PO_EXISTS, 1062);
        ck_assert_int_eq(insert(), PO_EXISTS);
        unit_assert_in(error.text, "settle 1 claims");
        /* Plain: it is the key that refuses, and nothing that makes it a matter of course. */
        unit_assert_not_in(fake_statement("INSERT INTO outcome"), "ON DUPLICATE");
}
END_TEST

UNIT_MAIN("outcome", claims_that_only_we_saw_are_not_asked_for,
          one_settled_meanwhile_refuses_the_set,
          an_outcome_says_what_it_settled_and_which_delivery_did_it,
          an_outcome_keeps_the_version_that_its_claim_was_equal_by,
          outcomes_of_several_statements_have_one_time, the_fence_is_passed_up_as_exists)

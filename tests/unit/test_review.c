#include "fake_db.h"
#include "posting_fixture.h"

#include "ledger/review.h"

static struct db *db;
static struct sql sql;

static struct posting *conflict(size_t i)
{
        struct posting *posting = fixture_posting(i, NULL, "T1", "R8-1");
        memcpy(notifications[i].fingerprint, FINGERPRINT_B, PO_FINGERPRINT_BYTES);
        return posting;
}

static enum po_class insert(const char *reason, size_t count, bool with_body)
{
        return reviews_insert(db, &sql, reason, open_postings, count, with_body, &error);
}

START_TEST(nothing_to_review_asks_nothing)
{
        db = fake_db_open();
        ck_assert_int_eq(insert(REVIEW_PAYLOAD_CONFLICT, 0, true), PO_OK);
        fake_saw_nothing();
}
END_TEST

START_TEST(a_conflict_is_kept_with_both_fingerprints_and_the_second_body)
{
        db = fake_db_open();
        conflict(0);
        ck_assert_int_eq(insert(REVIEW_PAYLOAD_CONFLICT, 1, true), PO_OK);
        fake_saw("INSERT INTO review (tenant_id, claim_id, reason, fingerprint, first_fingerprint,"
                 " order_no, amount, currency, source_topic, source_partition, source_offset, body,"
                 " state, created_at) VALUES (1,1000,'PAYLOAD_CONFLICT'," FINGERPRINT_B_HEX
                 "," FINGERPRINT_A_HEX ",'R8-1',12880,'CNY','callbacks',0,100,"
                 "X'5345435245542D424F4459','OPEN',UTC_TIMESTAMP(6))"
                 " ON DUPLICATE KEY UPDATE review.seen = review.seen + 1");
}
END_TEST

START_TEST(without_body_nothing_of_it_is_kept)
{
        db = fake_db_open();
        conflict(0);
        ck_assert_int_eq(insert(REVIEW_NO_POSTING_RECORDED, 1, false), PO_OK);
        unit_assert_in(fake_statement("INSERT INTO review"), "'NO_POSTING_RECORDED'");
        unit_assert_in(fake_statement("INSERT INTO review"), ",100,NULL,'OPEN',");
}
END_TEST

START_TEST(a_tombstones_body_is_null_and_an_empty_one_empty)
{
        db = fake_db_open();
        conflict(0);
        records[0].value = NULL;
        records[0].value_bytes = 0;
        ck_assert_int_eq(insert(REVIEW_PAYLOAD_CONFLICT, 1, true), PO_OK);
        unit_assert_in(fake_statement("INSERT INTO review"), ",100,NULL,'OPEN',");
        records[0].value = "";
        ck_assert_int_eq(insert(REVIEW_PAYLOAD_CONFLICT, 1, true), PO_OK);
        unit_assert_in(fake_statement("INSERT INTO review"), ",100,X'','OPEN',");
}
END_TEST

START_TEST(an_item_without_money_has_neither_amount_nor_currency)
{
        db = fake_db_open();
        conflict(0);
        notifications[0].amount_kind = PO_AMOUNT_NONE;
        ck_assert_int_eq(insert(REVIEW_PAYLOAD_CONFLICT, 1, false), PO_OK);
        unit_assert_in(fake_statement("INSERT INTO review"), "'R8-1',NULL,NULL,'callbacks'");
}
END_TEST

START_TEST(several_items_are_one_statement)
{
        db = fake_db_open();
        conflict(0);
        conflict(1);
        ck_assert_int_eq(insert(REVIEW_PAYLOAD_CONFLICT, 2, false), PO_OK);
        fake_saw("INSERT INTO review");
        unit_assert_in(fake_statement("INSERT INTO review"), "),(1,1001,'PAYLOAD_CONFLICT',");
}
END_TEST

START_TEST(each_may_have_a_reason_of_its_own)
{
        db = fake_db_open();
        conflict(0);
        conflict(1);
        postings[0].review = REVIEW_SECOND_PAYMENT;
        postings[1].review = REVIEW_STATE_REFUSED;
        ck_assert_int_eq(insert(NULL, 2, false), PO_OK);
        unit_assert_in(fake_statement("INSERT INTO review"), "(1,1000,'SECOND_PAYMENT',");
        unit_assert_in(fake_statement("INSERT INTO review"), "(1,1001,'STATE_REFUSED',");
}
END_TEST

START_TEST(an_error_travels_up_with_its_class)
{
        db = fake_db_open();
        conflict(0);
        fake_fail("INSERT INTO review", PO_SYSTEMIC, 1114);
        ck_assert_int_eq(insert(REVIEW_PAYLOAD_CONFLICT, 1, true), PO_SYSTEMIC);
        unit_assert_in(error.text, "write 1 reviews: ");
        unit_assert_not_in(error.text, "SECRET");
}
END_TEST

START_TEST(only_a_row_that_was_not_there_is_fresh)
{
        bool fresh = false;
        db = fake_db_open();
        conflict(0);
        ck_assert_int_eq(review_insert(db, &sql, REVIEW_PAYLOAD_CONFLICT, open_postings[0], true,
                                       &fresh, &error),
                         PO_OK);
        ck_assert(fresh);
        fake_affect("INSERT INTO review", 2); /* as for a row that was changed */
        ck_assert_int_eq(review_insert(db, &sql, REVIEW_PAYLOAD_CONFLICT, open_postings[0], true,
                                       &fresh, &error),
                         PO_OK);
        ck_assert(!fresh);
}
END_TEST

START_TEST(a_subject_is_opened_once_and_closed)
{
        bool fresh = true;
        db = fake_db_open();
        fake_affect("INSERT INTO review", 2);
        ck_assert_int_eq(review_open(db, &sql, "pause *", "DEAD_LETTER_FLOOD", 0, &fresh, &error),
                         PO_OK);
        ck_assert(!fresh);
        fake_saw("INSERT INTO review (subject, reason, claim_id, state, created_at) VALUES"
                 " ('pause *','DEAD_LETTER_FLOOD',NULL,'OPEN',UTC_TIMESTAMP(6))"
                 " ON DUPLICATE KEY UPDATE review.seen = review.seen + 1");
        ck_assert_int_eq(review_open(db, &sql, "parked 7", "PARKED_UNREADABLE", 7, NULL, &error),
                         PO_OK);
        unit_assert_in(fake_statement("INSERT INTO review"), "'PARKED_UNREADABLE',7,'OPEN'");
        ck_assert_int_eq(review_close(db, &sql, "pause *", &error), PO_OK);
        unit_assert_in(fake_statement("UPDATE review"),
                       "state = 'CLOSED', closed_at = UTC_TIMESTAMP(6) WHERE open_subject = 'pause "
                       "*'");
}
END_TEST

START_TEST(what_waits_is_counted)
{
        int64_t count = 0;
        db = fake_db_open();
        fake_rows("COUNT(*)");
        fake_row("3");
        ck_assert_int_eq(reviews_count_open(db, &sql, &count, &error), PO_OK);
        ck_assert_int_eq(count, 3);
}
END_TEST

UNIT_MAIN("review", nothing_to_review_asks_nothing,
          a_conflict_is_kept_with_both_fingerprints_and_the_second_body,
          without_body_nothing_of_it_is_kept, a_tombstones_body_is_null_and_an_empty_one_empty,
          an_item_without_money_has_neither_amount_nor_currency, several_items_are_one_statement,
          each_may_have_a_reason_of_its_own, an_error_travels_up_with_its_class,
          only_a_row_that_was_not_there_is_fresh, a_subject_is_opened_once_and_closed,
          what_waits_is_counted)

#include "fake_db.h"
#include "posting_fixture.h"

#include "base/log.h"
#include "worker/keep.h"

static struct batch batch;
static struct parcel parcels[2];
static struct po_error parcel_errors[2];
static struct sql sql;
static unsigned alarms;
static const char *alarm_expected = "PAYLOAD_CONFLICT";

static void count_alarm(const char *code)
{
        ck_assert_str_eq(code, alarm_expected);
        alarms++;
}

/* Two records, one notification each; the second conflicts. */
static struct db *prepare(void)
{
        log_set_alarm_observer(count_alarm);
        for (size_t i = 0; i < 2; i++) {
                struct posting *posting = fixture_posting(i, NULL, i == 0 ? "T1" : "T2", "R8-1");
                posting->verdict = i == 0 ? VERDICT_POSTED : VERDICT_CONFLICT;
                parcels[i] = (struct parcel){ .record = posting->record,
                                              .first = i,
                                              .count = 1,
                                              .verdict = posting->verdict,
                                              .error = &parcel_errors[i] };
        }
        batch = (struct batch){ .capacity = FIXTURE_MAX,
                                .parcels_count = 2,
                                .postings_count = 2,
                                .parcels = parcels,
                                .notifications = notifications,
                                .postings = postings,
                                .open = open_postings };
        return fake_db_open();
}

START_TEST(each_conflict_is_alarmed_and_kept_with_its_body)
{
        struct db *db = prepare();
        ck_assert_int_eq(batch_keep(&batch, db, &sql, &error), PO_OK);
        ck_assert_uint_eq(alarms, 1);
        fake_saw("INSERT INTO review");
        unit_assert_in(fake_statement("INSERT INTO review"), "(1,1001,'PAYLOAD_CONFLICT',");
        unit_assert_in(fake_statement("INSERT INTO review"), "X'5345435245542D424F4459'");
        ck_assert_int_eq(parcels[1].verdict, VERDICT_CONFLICT);
}
END_TEST

START_TEST(what_was_kept_already_is_no_alarm_again)
{
        struct db *db = prepare();
        fake_affect("INSERT INTO review", 2);
        ck_assert_int_eq(batch_keep(&batch, db, &sql, &error), PO_OK);
        ck_assert_uint_eq(alarms, 0);
}
END_TEST

START_TEST(one_that_cannot_be_kept_is_held_and_the_others_pass)
{
        struct db *db = prepare();
        fake_fail("INSERT INTO review", PO_SYSTEMIC, 1142);
        ck_assert_int_eq(batch_keep(&batch, db, &sql, &error), PO_SYSTEMIC);
        ck_assert_int_eq(parcels[0].verdict, VERDICT_POSTED);
        ck_assert_int_eq(parcels[1].verdict, VERDICT_HELD);
        ck_assert_int_eq(parcels[1].error->code, 1142);
}
END_TEST

START_TEST(a_rejected_record_with_a_conflict_in_it_is_held_as_well)
{
        struct db *db = prepare();
        parcels[1].verdict = VERDICT_REJECTED;
        fake_fail("INSERT INTO review", PO_TRANSIENT, 1205);
        ck_assert_int_eq(batch_keep(&batch, db, &sql, &error), PO_TRANSIENT);
        ck_assert_int_eq(parcels[1].verdict, VERDICT_HELD);
}
END_TEST

START_TEST(one_that_the_database_refuses_by_itself_is_rejected_and_the_rest_kept)
{
        struct db *db = prepare();
        postings[0].verdict = parcels[0].verdict = VERDICT_CONFLICT;
        fake_fail("INSERT INTO review", PO_RECORD, 0); /* the first */
        ck_assert_int_eq(batch_keep(&batch, db, &sql, &error), PO_OK);
        ck_assert_int_eq(postings[0].verdict, VERDICT_REJECTED);
        ck_assert_int_eq(parcels[0].verdict, VERDICT_REJECTED);
        ck_assert(parcels[0].may_change);
        ck_assert_int_eq(parcels[0].error->kind, PO_RECORD);
        ck_assert_int_eq(postings[1].verdict, VERDICT_CONFLICT);
        ck_assert_int_eq(parcels[1].verdict, VERDICT_CONFLICT);
}
END_TEST

START_TEST(without_a_conflict_nothing_is_asked)
{
        struct db *db = prepare();
        postings[1].verdict = VERDICT_DUPLICATE;
        ck_assert_int_eq(batch_keep(&batch, db, &sql, &error), PO_OK);
        fake_saw_nothing();
        ck_assert_uint_eq(alarms, 0);
}
END_TEST

START_TEST(an_orphan_is_alarmed_and_kept_for_a_person)
{
        struct db *db = prepare();
        postings[1].verdict = parcels[1].verdict = VERDICT_ORPHANED;
        alarm_expected = "ORPHANED";
        ck_assert_int_eq(batch_keep(&batch, db, &sql, &error), PO_OK);
        ck_assert_uint_eq(alarms, 1);
        fake_saw("INSERT INTO review");
        unit_assert_in(fake_statement("INSERT INTO review"), "(1,1001,'ORPHAN',");
        ck_assert_int_eq(parcels[1].verdict, VERDICT_ORPHANED);
}
END_TEST

static const struct policy policy = { .park_delays_count = 2, .park_delays_ms = { 7000, 9000 } };

static void park(size_t i)
{
        postings[i].verdict = parcels[i].verdict = VERDICT_PARKED;
        postings[i].reason = "TOO_EARLY";
        batch.policy = &policy;
}

START_TEST(what_is_parked_has_its_row_before_its_offset_passes)
{
        struct db *db = prepare();
        park(0);
        park(1);
        ck_assert_int_eq(batch_keep(&batch, db, &sql, &error), PO_OK);
        fake_saw("INSERT INTO parked", "SELECT p.claim_id FROM parked p");
        unit_assert_in(fake_statement("INSERT INTO parked"), "INTERVAL 7000000 MICROSECOND");
        unit_assert_in(fake_statement("INSERT INTO parked"), "(1001,");
        ck_assert_uint_eq(alarms, 0);
        ck_assert_int_eq(parcels[0].verdict, VERDICT_PARKED);
}
END_TEST

START_TEST(what_cannot_be_parked_is_held)
{
        struct db *db = prepare();
        park(1);
        fake_fail("INSERT INTO parked", PO_SYSTEMIC, 1114);
        ck_assert_int_eq(batch_keep(&batch, db, &sql, &error), PO_SYSTEMIC);
        ck_assert_int_eq(parcels[0].verdict, VERDICT_POSTED);
        ck_assert_int_eq(parcels[1].verdict, VERDICT_HELD);
        ck_assert_int_eq(parcels[1].error->code, 1114);
}
END_TEST

START_TEST(what_may_have_missed_its_wake_up_is_held)
{
        struct db *db = prepare();
        park(1);
        fake_fail("SELECT p.claim_id", PO_TRANSIENT, 2013);
        ck_assert_int_eq(batch_keep(&batch, db, &sql, &error), PO_TRANSIENT);
        ck_assert_int_eq(parcels[0].verdict, VERDICT_POSTED);
        ck_assert_int_eq(parcels[1].verdict, VERDICT_HELD);
}
END_TEST

START_TEST(one_too_large_to_park_is_rejected_and_the_rest_parked)
{
        struct db *db = prepare();
        park(0);
        park(1);
        fake_fail("INSERT INTO parked", PO_RECORD, 0); /* both */
        fake_affect("INSERT INTO parked", 1);
        fake_fail("INSERT INTO parked", PO_RECORD, 0); /* the second alone */
        ck_assert_int_eq(batch_keep(&batch, db, &sql, &error), PO_OK);
        ck_assert_int_eq(parcels[0].verdict, VERDICT_PARKED);
        ck_assert_int_eq(parcels[1].verdict, VERDICT_REJECTED);
}
END_TEST

START_TEST(what_comes_again_is_not_parked_yet)
{
        struct db *db = prepare();
        park(1);
        parcels[1].verdict = VERDICT_HELD; /* for another one of its record, or without hand-over */
        ck_assert_int_eq(batch_keep(&batch, db, &sql, &error), PO_OK);
        fake_saw_nothing();
        ck_assert_int_eq(parcels[1].verdict, VERDICT_HELD);
}
END_TEST

START_TEST(a_conflict_of_a_held_record_is_kept_even_so)
{
        struct db *db = prepare();
        parcels[1].verdict = VERDICT_HELD;
        ck_assert_int_eq(batch_keep(&batch, db, &sql, &error), PO_OK);
        fake_saw("INSERT INTO review");
        ck_assert_int_eq(parcels[1].verdict, VERDICT_HELD);
}
END_TEST

START_TEST(what_comes_out_of_parked_has_its_row)
{
        struct db *db = prepare();
        park(0);
        park(1);
        postings[0].unparks = postings[1].unparks = true;
        ck_assert_int_eq(batch_keep(&batch, db, &sql, &error), PO_OK);
        fake_saw_nothing();
}
END_TEST

START_TEST(a_failing_review_does_not_keep_others_from_being_parked)
{
        struct db *db = prepare();
        park(0);
        fake_fail("INSERT INTO review", PO_TRANSIENT, 1205);
        ck_assert_int_eq(batch_keep(&batch, db, &sql, &error), PO_TRANSIENT);
        fake_saw("INSERT INTO review", "INSERT INTO parked", "SELECT p.claim_id FROM parked p");
        ck_assert_int_eq(parcels[0].verdict, VERDICT_PARKED);
        ck_assert_int_eq(parcels[1].verdict, VERDICT_HELD);
}
END_TEST

UNIT_MAIN("keep", each_conflict_is_alarmed_and_kept_with_its_body,
          one_that_cannot_be_kept_is_held_and_the_others_pass,
          a_rejected_record_with_a_conflict_in_it_is_held_as_well,
          one_that_the_database_refuses_by_itself_is_rejected_and_the_rest_kept,
          without_a_conflict_nothing_is_asked, an_orphan_is_alarmed_and_kept_for_a_person,
          what_is_parked_has_its_row_before_its_offset_passes, what_cannot_be_parked_is_held,
          what_may_have_missed_its_wake_up_is_held,
          one_too_large_to_park_is_rejected_and_the_rest_parked, what_comes_again_is_not_parked_yet,
          a_conflict_of_a_held_record_is_kept_even_so, what_comes_out_of_parked_has_its_row,
          a_failing_review_does_not_keep_others_from_being_parked,
          what_was_kept_already_is_no_alarm_again)

#include "fake_db.h"
#include "posting_fixture.h"

#include <stdio.h>

#include "worker/holds.h"

static struct holds holds;
static struct batch batch;
static struct parcel parcel;
static struct po_error parcel_error;
static int64_t settled;
static bool is_ours;
static unsigned released;

/* Linked instead of the real source. */
bool source_settled(struct source *source, const char *topic, int32_t partition, int64_t *next_out)
{
        (void)source;
        ck_assert_str_eq(topic, "callbacks");
        ck_assert_int_eq(partition, 0);
        *next_out = settled;
        return is_ours;
}

void source_release(struct source *source, const char *topic, int32_t partition)
{
        (void)source;
        (void)topic;
        (void)partition;
        released++;
}

static const char *stuck_reason; /* of callbacks/0 at offset 100; NULL: it flows */

bool source_next_stuck(const struct source *source, size_t *place_inout,
                       struct source_stuck *stuck_out)
{
        (void)source;
        if (stuck_reason == NULL || (*place_inout)++ > 0)
                return false;
        *stuck_out = (struct source_stuck){ .topic = "callbacks",
                                            .offset = 100,
                                            .reason = stuck_reason };
        return true;
}

bool source_is_stuck(const struct source *source, const char *topic, int32_t partition)
{
        (void)source;
        (void)topic;
        (void)partition;
        return stuck_reason != NULL;
}

/* The record at offset 100 of callbacks/0 is held. */
static void prepare(const char *decision)
{
        holds.db = fake_db_open();
        holds.group = "g";
        stuck_reason = NULL;
        is_ours = true;
        settled = 100;
        struct posting *posting = fixture_posting(0, NULL, "T1", "R8-1");
        posting->verdict = VERDICT_HELD;
        parcel = (struct parcel){
                .record = posting->record, .count = 1, .verdict = VERDICT_HELD, .error = &parcel_error
        };
        po_refuse(parcel.error, "SECOND_PAYMENT", "it waits");
        batch = (struct batch){
                .parcels_count = 1, .postings_count = 1, .parcels = &parcel, .postings = postings
        };
        fake_rows("FROM hold");
        fake_row("callbacks", "0", "100", decision, "SECOND_PAYMENT");
}

static void look(void)
{
        ck_assert_int_eq(holds_look(&holds, NULL, &error), PO_OK);
}

START_TEST(what_passed_is_deleted)
{
        prepare(NULL);
        settled = 101;
        look();
        fake_saw("SELECT topic", "UPDATE review SET state = 'CLOSED'", "DELETE FROM hold");
}
END_TEST

START_TEST(what_is_held_by_another_worker_is_left_alone)
{
        prepare("RELEASE");
        is_ours = false;
        settled = 101;
        look();
        fake_saw("SELECT topic");
        ck_assert_uint_eq(released, 0);
}
END_TEST

START_TEST(a_release_is_carried_out_once)
{
        prepare("RELEASE");
        look();
        ck_assert_uint_eq(released, 1);
        fake_saw("SELECT topic", "UPDATE hold SET decision = NULL WHERE");
        fake_rows("SELECT decision");
        fake_row(NULL);
        ck_assert(!holds_skip(&holds, &batch, &parcel));
}
END_TEST

START_TEST(what_is_skipped_is_settled_as_discarded_and_passes)
{
        prepare("SKIP");
        look();
        fake_rows("SELECT decision");
        fake_row("SKIP");
        ck_assert_uint_eq(released, 1);
        ck_assert(holds_skip(&holds, &batch, &parcel));
        fake_saw("SELECT topic", "SELECT decision", "INSERT INTO outcome");
        unit_assert_in(fake_statement("INSERT INTO outcome"), "'DISCARDED'");
        unit_assert_in(fake_statement("INSERT INTO outcome"), "WHERE id = 1000");
        ck_assert_int_eq(parcel.verdict, VERDICT_DISCARDED);
        ck_assert_int_eq(postings[0].verdict, VERDICT_DISCARDED);
}
END_TEST

START_TEST(a_skip_that_cannot_be_written_holds_on)
{
        prepare("SKIP");
        look();
        fake_rows("SELECT decision");
        fake_row("SKIP");
        fake_fail("INSERT INTO outcome", PO_TRANSIENT, 1205);
        ck_assert(!holds_skip(&holds, &batch, &parcel));
        ck_assert_int_eq(parcel.verdict, VERDICT_HELD);
}
END_TEST

START_TEST(what_another_worker_settled_meanwhile_is_not_called_discarded)
{
        prepare("SKIP");
        look();
        fake_rows("SELECT decision");
        fake_row("SKIP");
        fake_fail("INSERT INTO outcome", PO_EXISTS, 1062);
        ck_assert(!holds_skip(&holds, &batch, &parcel)); /* the next try finds its outcome */
        ck_assert_int_eq(postings[0].verdict, VERDICT_HELD);
        ck_assert_int_eq(parcel.verdict, VERDICT_HELD);
}
END_TEST

START_TEST(a_record_that_claimed_nothing_is_skipped_without_a_word_to_the_ledger)
{
        prepare("SKIP");
        look();
        fake_rows("SELECT decision");
        fake_row("SKIP");
        parcel.count = 0;
        ck_assert(holds_skip(&holds, &batch, &parcel));
        fake_saw("SELECT topic", "SELECT decision");
}
END_TEST

START_TEST(a_decision_that_cannot_be_read_skips_nothing)
{
        prepare("SKIP");
        look();
        fake_fail("SELECT decision", PO_TRANSIENT, 2013);
        ck_assert(!holds_skip(&holds, &batch, &parcel));
        ck_assert_int_eq(parcel.verdict, VERDICT_HELD);
}
END_TEST

START_TEST(a_stuck_partition_waits_for_a_person_at_once)
{
        holds.db = fake_db_open();
        stuck_reason = HOLD_OUT_OF_RANGE;
        look();
        fake_saw("SELECT topic", "INSERT INTO hold", "INSERT INTO review");
        unit_assert_in(fake_statement("INSERT INTO hold"),
                       "'callbacks',0,100,'OFFSET_OUT_OF_RANGE'");
        unit_assert_in(fake_statement("INSERT INTO review"), "INTERVAL 0 MICROSECOND");
}
END_TEST

START_TEST(one_out_of_range_is_over_when_its_offset_is_another_one)
{
        holds.db = fake_db_open();
        is_ours = true;
        stuck_reason = NULL;
        settled = 100;
        fake_rows("FROM hold");
        fake_row("callbacks", "0", "100", NULL, HOLD_OUT_OF_RANGE);
        look();
        fake_saw("SELECT topic"); /* it was assigned just now, and not asked for yet */
        settled = 7;
        fake_rows("FROM hold");
        fake_row("callbacks", "0", "100", NULL, HOLD_OUT_OF_RANGE);
        look();
        fake_saw("SELECT topic", "UPDATE review", "DELETE FROM hold");
}
END_TEST

START_TEST(every_hold_is_looked_at_however_many_there_are)
{
        holds.db = fake_db_open();
        is_ours = true;
        stuck_reason = NULL;
        settled = 0;
        char offsets[HOLDS_PAGE][16];
        fake_rows("FROM hold");
        for (int i = 0; i < HOLDS_PAGE; i++) {
                snprintf(offsets[i], sizeof offsets[i], "%d", i + 1);
                fake_row("callbacks", "0", offsets[i], NULL, "X");
        }
        fake_rows("FROM hold");
        fake_row("callbacks", "0", "1000", "RELEASE", "X");
        released = 0;
        look();
        fake_saw("SELECT topic", "SELECT topic", "UPDATE hold SET decision = NULL");
        ck_assert_uint_eq(released, 1);
}
END_TEST

START_TEST(only_what_lasts_is_noted)
{
        holds.db = fake_db_open();
        fixture_posting(0, NULL, "T1", "R8-1");
        parcel = (struct parcel){
                .record = &records[0], .verdict = VERDICT_HELD, .error = &parcel_error
        };
        po_refuse(parcel.error, "SECOND_PAYMENT", "it waits");
        holds_note(&holds, &parcel, 2);
        fake_saw_nothing();
        holds_note(&holds, &parcel, 3);
        unit_assert_in(fake_statement("INSERT INTO hold"), "'SECOND_PAYMENT',3");
}
END_TEST

UNIT_MAIN("holds", what_passed_is_deleted, what_is_held_by_another_worker_is_left_alone,
          a_release_is_carried_out_once, what_is_skipped_is_settled_as_discarded_and_passes,
          a_skip_that_cannot_be_written_holds_on,
          what_another_worker_settled_meanwhile_is_not_called_discarded,
          a_record_that_claimed_nothing_is_skipped_without_a_word_to_the_ledger,
          only_what_lasts_is_noted, a_decision_that_cannot_be_read_skips_nothing,
          a_stuck_partition_waits_for_a_person_at_once,
          one_out_of_range_is_over_when_its_offset_is_another_one,
          every_hold_is_looked_at_however_many_there_are)

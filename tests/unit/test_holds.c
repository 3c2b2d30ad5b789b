#include "fake_db.h"
#include "posting_fixture.h"

#include "worker/holds.h"

static struct holds holds;
static struct batch batch;
static struct parcel parcel;
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

/* The record at offset 100 of callbacks/0 is held. */
static void prepare(const char *decision)
{
        holds.db = fake_db_open();
        is_ours = true;
        settled = 100;
        struct posting *posting = fixture_posting(0, NULL, "T1", "R8-1");
        posting->verdict = VERDICT_HELD;
        parcel = (struct parcel){ .record = posting->record, .count = 1, .verdict = VERDICT_HELD };
        po_refuse(&parcel.error, "SECOND_PAYMENT", "it waits");
        batch = (struct batch){
                .parcels_count = 1, .postings_count = 1, .parcels = &parcel, .postings = postings
        };
        fake_rows("FROM hold");
        fake_row("callbacks", "0", "100", decision);
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
        fake_saw("SELECT topic", "DELETE FROM hold WHERE topic = 'callbacks' AND partition_no = 0"
                                 " AND held_offset = 100");
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
        ck_assert(!holds_skip(&holds, &batch, &parcel));
}
END_TEST

START_TEST(what_is_skipped_is_settled_as_discarded_and_passes)
{
        prepare("SKIP");
        look();
        ck_assert_uint_eq(released, 1);
        ck_assert(holds_skip(&holds, &batch, &parcel));
        fake_saw("SELECT topic", "INSERT INTO outcome");
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
        fake_fail("INSERT INTO outcome", PO_TRANSIENT, 1205);
        ck_assert(!holds_skip(&holds, &batch, &parcel));
        ck_assert_int_eq(parcel.verdict, VERDICT_HELD);
}
END_TEST

START_TEST(what_another_worker_settled_meanwhile_passes_as_well)
{
        prepare("SKIP");
        look();
        fake_fail("INSERT INTO outcome", PO_EXISTS, 1062);
        ck_assert(holds_skip(&holds, &batch, &parcel));
}
END_TEST

START_TEST(a_record_that_claimed_nothing_is_skipped_without_a_word_to_the_ledger)
{
        prepare("SKIP");
        look();
        parcel.count = 0;
        ck_assert(holds_skip(&holds, &batch, &parcel));
        fake_saw("SELECT topic");
}
END_TEST

START_TEST(only_what_lasts_is_noted)
{
        holds.db = fake_db_open();
        fixture_posting(0, NULL, "T1", "R8-1");
        parcel = (struct parcel){ .record = &records[0], .verdict = VERDICT_HELD };
        po_refuse(&parcel.error, "SECOND_PAYMENT", "it waits");
        holds_note(&holds, &parcel, 2);
        fake_saw_nothing();
        holds_note(&holds, &parcel, 3);
        unit_assert_in(fake_statement("INSERT INTO hold"), "'SECOND_PAYMENT',3");
}
END_TEST

UNIT_MAIN("holds", what_passed_is_deleted, what_is_held_by_another_worker_is_left_alone,
          a_release_is_carried_out_once, what_is_skipped_is_settled_as_discarded_and_passes,
          a_skip_that_cannot_be_written_holds_on,
          what_another_worker_settled_meanwhile_passes_as_well,
          a_record_that_claimed_nothing_is_skipped_without_a_word_to_the_ledger,
          only_what_lasts_is_noted)

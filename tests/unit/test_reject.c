/* Counted, then a letter, then its row: what each failure on that way leaves held. */
#include "fake_db.h"
#include "posting_fixture.h"

#include "base/clock.h"
#include "ops/metrics.h"
#include "worker/reject.h"

enum { LETTERS_MAX = 8 };

/* The dead-letter topic: what was sent, and what becomes of the next letters. */
static enum po_class results[LETTERS_MAX];
static bool cuts[LETTERS_MAX]; /* the letter is too large to be the whole record */
static size_t sent_count, sendings;
static int64_t now_ms = 1000000, sending_takes_ms;
static struct letter sent[LETTERS_MAX];
static char sent_text[LETTERS_MAX][1200];

void letter_id_of_key(const struct record *record, const char *key, char id_out[LETTER_ID_BYTES])
{
        snprintf(id_out, LETTER_ID_BYTES, "id-%lld%s%s", (long long)record->offset,
                 key != NULL ? "-" : "", key != NULL ? key : "");
}

enum po_class letters_send(struct sink *sink, const char *topic, struct letter *letters,
                           size_t count, struct po_error *why)
{
        enum po_class first = PO_OK;
        (void)sink;
        ck_assert_str_eq(topic, "callbacks.DLT");
        sendings++;
        now_ms += sending_takes_ms;
        for (size_t i = 0; i < count; i++) {
                letters[i].result = results[sent_count];
                letters[i].keep = cuts[sent_count] && letters[i].may_keep;
                letters[i].partition = 3;
                letters[i].offset = 70 + (int64_t)i;
                if (first == PO_OK && letters[i].result != PO_OK)
                        first = po_fail(why, letters[i].result, 0, "the broker is away");
                snprintf(sent_text[sent_count], sizeof sent_text[0], "%s", letters[i].text);
                sent[sent_count++] = letters[i];
        }
        return first;
}

static struct db *db;
static struct rejecter *rejecter;
static struct batch batch;
static struct parcel parcels[FIXTURE_MAX];
static struct po_error parcel_errors[FIXTURE_MAX];
static struct unit_capture capture;

static void start(const char *topic, int64_t attempts)
{
        db = fake_db_open();
        memset(results, 0, sizeof results);
        memset(cuts, 0, sizeof cuts);
        sent_count = sendings = 0;
        rejecter_close(rejecter);
        const struct rejecter_options options = {
                .db = db, .topic = topic, .attempts = attempts, .records_max = FIXTURE_MAX
        };
        ck_assert_int_eq(rejecter_open(&rejecter, &options, &error), PO_OK);
        batch = (struct batch){ .parcels = parcels, .postings = postings };
}

/* One more record of the batch, at that offset; its only notification was rejected. */
static struct parcel *rejected(int64_t offset, bool may_change)
{
        size_t i = batch.parcels_count++;
        fixture_posting(i, NULL, "T1", "R8-1")->verdict = VERDICT_REJECTED;
        batch.postings_count++;
        records[i].offset = offset;
        parcels[i] = (struct parcel){ .record = &records[i],
                                      .first = i,
                                      .count = 1,
                                      .verdict = VERDICT_REJECTED,
                                      .may_change = may_change,
                                      .error = &parcel_errors[i] };
        po_refuse(parcels[i].error, "STATE_REFUSED", "refused at %d", (int)offset);
        return &parcels[i];
}

static enum po_class reject(void)
{
        unit_capture_begin(&capture, STDERR_FILENO);
        enum po_class kind = reject_all(rejecter, &batch, &error);
        unit_capture_end(&capture);
        return kind;
}

static void is(size_t i, enum verdict verdict)
{
        ck_assert_msg(parcels[i].verdict == verdict, "record %zu is %s: %s", i,
                      verdict_name(parcels[i].verdict), parcels[i].error->text);
}

#define FIND    "SELECT letter_id FROM dead_letter"
#define COUNT   "INSERT INTO failure"
#define COUNTED "SELECT attempts FROM failure"
#define RECORD  "INSERT INTO dead_letter"

START_TEST(a_batch_without_rejection_asks_nothing)
{
        start("callbacks.DLT", 5);
        rejected(10, false)->verdict = VERDICT_POSTED;
        rejected(11, true)->verdict = VERDICT_HELD;
        ck_assert_int_eq(reject(), PO_OK);
        fake_saw_nothing();
        ck_assert_uint_eq(sendings, 0);
        is(0, VERDICT_POSTED);
        is(1, VERDICT_HELD);
}
END_TEST

START_TEST(what_cannot_change_is_sent_at_once_and_then_recorded)
{
        start("callbacks.DLT", 5);
        rejected(10, false);
        int64_t letters = metric_get(METRIC_DEAD_LETTERS);
        ck_assert_int_eq(reject(), PO_OK);
        is(0, VERDICT_REJECTED);
        ck_assert_uint_eq(sent_count, 1);
        ck_assert_ptr_eq(sent[0].record, &records[0]);
        ck_assert_str_eq(sent[0].id, "id-10");
        ck_assert_str_eq(sent[0].reason, "STATE_REFUSED");
        ck_assert_uint_eq(sent[0].attempts, 1);
        fake_saw(FIND " WHERE letter_id IN ('id-10')",
                 "INSERT INTO dead_letter (letter_id, reason, source_topic, source_partition,"
                 " source_offset, letter_topic, letter_partition, letter_offset, attempts,"
                 " created_at) VALUES ('id-10','STATE_REFUSED','callbacks',0,10,"
                 "'callbacks.DLT',3,70,1,UTC_TIMESTAMP(6))");
        ck_assert_int_eq(metric_get(METRIC_DEAD_LETTERS) - letters, 1);
}
END_TEST

START_TEST(a_letter_that_is_there_passes_without_being_sent)
{
        start("callbacks.DLT", 5);
        rejected(10, false);
        rejected(11, true);
        fake_rows("FROM dead_letter");
        fake_row("id-10");
        fake_row("id-11");
        ck_assert_int_eq(reject(), PO_OK);
        is(0, VERDICT_REJECTED);
        is(1, VERDICT_REJECTED);
        ck_assert_uint_eq(sendings, 0);
        fake_saw(FIND); /* nor is it counted */
}
END_TEST

START_TEST(what_may_change_is_counted_and_comes_again)
{
        start("callbacks.DLT", 5);
        rejected(10, true);
        fake_rows("FROM failure");
        fake_row("4");
        ck_assert_int_eq(reject(), PO_OK);
        is(0, VERDICT_HELD);
        ck_assert_str_eq(parcels[0].error->reason, "STATE_REFUSED");
        unit_assert_in(parcels[0].error->text, "refused at 10");
        ck_assert_uint_eq(sendings, 0);
        fake_saw(FIND, COUNT, COUNTED);
}
END_TEST

START_TEST(at_the_last_attempt_its_letter_is_sent)
{
        static const char *const attempts[] = { "5", "6" };
        for (size_t i = 0; i < 2; i++) {
                start("callbacks.DLT", 5);
                rejected(10, true);
                fake_rows("FROM failure");
                fake_row(attempts[i]);
                ck_assert_int_eq(reject(), PO_OK);
                is(0, VERDICT_REJECTED);
                ck_assert_uint_eq(sent[0].attempts, 5 + i);
                fake_saw(FIND, COUNT, COUNTED, RECORD);
        }
}
END_TEST

START_TEST(one_attempt_is_none_more)
{
        start("callbacks.DLT", 1);
        rejected(10, true);
        fake_rows("FROM failure");
        fake_row("1");
        ck_assert_int_eq(reject(), PO_OK);
        is(0, VERDICT_REJECTED);
        ck_assert_uint_eq(sent_count, 1);
}
END_TEST

START_TEST(a_letter_without_acknowledgement_has_no_row_and_its_record_is_held)
{
        start("callbacks.DLT", 5);
        rejected(10, false);
        rejected(11, false);
        rejected(12, false);
        results[1] = PO_TRANSIENT;
        int64_t letters = metric_get(METRIC_DEAD_LETTERS);
        (void)reject();
        is(0, VERDICT_REJECTED);
        is(1, VERDICT_HELD);
        unit_assert_in(parcels[1].error->text, "the broker is away");
        is(2, VERDICT_REJECTED);
        unit_assert_in(fake_statement(RECORD), "'id-10'");
        unit_assert_not_in(fake_statement(RECORD), "'id-11'");
        unit_assert_in(fake_statement(RECORD), "'id-12'");
        ck_assert_int_eq(metric_get(METRIC_DEAD_LETTERS) - letters, 2);
        unit_assert_in(capture.text, "alarm=DEAD_LETTER_NOT_WRITABLE");
        unit_assert_in(capture.text, "topic=callbacks.DLT class=TRANSIENT");
}
END_TEST

START_TEST(without_any_acknowledgement_nothing_is_recorded)
{
        start("callbacks.DLT", 5);
        rejected(10, false);
        results[0] = PO_SYSTEMIC;
        (void)reject();
        is(0, VERDICT_HELD);
        fake_saw(FIND);
}
END_TEST

START_TEST(a_letter_whose_row_fails_is_held)
{
        start("callbacks.DLT", 5);
        rejected(10, false);
        rejected(11, false);
        fake_rows("FROM dead_letter");
        fake_row("id-11");
        fake_fail(RECORD, PO_TRANSIENT, 2013);
        ck_assert_int_eq(reject(), PO_TRANSIENT);
        ck_assert_int_eq(error.code, 2013);
        is(0, VERDICT_HELD);
        ck_assert_int_eq(parcels[0].error->code, 2013);
        is(1, VERDICT_REJECTED); /* its row is there */
        ck_assert_uint_eq(sent_count, 1);
}
END_TEST

START_TEST(where_letters_cannot_be_looked_for_none_is_sent)
{
        start("callbacks.DLT", 5);
        rejected(10, false);
        rejected(11, true);
        fake_fail("FROM dead_letter", PO_SYSTEMIC, 1146);
        ck_assert_int_eq(reject(), PO_SYSTEMIC);
        is(0, VERDICT_HELD);
        is(1, VERDICT_HELD);
        ck_assert_uint_eq(sendings, 0);
        fake_saw(FIND);
}
END_TEST

START_TEST(where_failures_cannot_be_counted_none_is_sent)
{
        static const char *const pieces[] = { COUNT, "FROM failure" };
        for (size_t i = 0; i < 2; i++) {
                start("callbacks.DLT", 5);
                rejected(10, false);
                rejected(11, true);
                fake_fail(pieces[i], PO_TRANSIENT, 1205);
                ck_assert_int_eq(reject(), PO_TRANSIENT);
                is(0, VERDICT_HELD);
                is(1, VERDICT_HELD);
                ck_assert_uint_eq(sendings, 0);
        }
}
END_TEST

START_TEST(without_a_topic_records_are_held_and_alarmed)
{
        start(NULL, 5);
        rejected(10, false);
        rejected(11, true);
        ck_assert_int_eq(reject(), PO_OK);
        is(0, VERDICT_HELD);
        is(1, VERDICT_HELD);
        unit_assert_in(parcels[0].error->text, "no dead_letter.topic is configured");
        unit_assert_in(capture.text, "alarm=DEAD_LETTER_MISSING");
        unit_assert_in(capture.text, "records=2");
        fake_saw_nothing();
        ck_assert_uint_eq(sendings, 0);
}
END_TEST

START_TEST(a_letter_tells_why_and_names_each_failed_notification_and_no_body)
{
        start("callbacks.DLT", 5);
        struct parcel *parcel = rejected(10, false);
        fixture_posting(1, NULL, "T2", "R8-1")->verdict = VERDICT_POSTED;
        fixture_posting(2, NULL, "T3", "R8-1")->verdict = VERDICT_REJECTED;
        parcel->count = 3;
        ck_assert_int_eq(reject(), PO_OK);
        ck_assert_str_eq(sent_text[0], "refused at 10 [SQB:T1:PAYMENT_RECEIVED]"
                                       " [SQB:T3:PAYMENT_RECEIVED]");
        unit_assert_not_in(capture.text, "SECRET-BODY");
}
END_TEST

START_TEST(many_failed_notifications_are_cut_at_the_letters_bound)
{
        start("callbacks.DLT", 5);
        char txn[100];
        memset(txn, 't', sizeof txn - 1);
        txn[sizeof txn - 1] = '\0';
        struct parcel *parcel = rejected(10, false);
        for (size_t i = 0; i < FIXTURE_MAX; i++)
                fixture_posting(i, NULL, txn, "R8-1")->verdict = VERDICT_REJECTED;
        parcel->count = FIXTURE_MAX;
        ck_assert_int_eq(reject(), PO_OK);
        ck_assert_uint_eq(strlen(sent_text[0]), 1023);
}
END_TEST

START_TEST(what_a_letter_could_not_carry_is_kept_by_its_row)
{
        start("callbacks.DLT", 5);
        rejected(10, false);
        rejected(11, false);
        cuts[1] = true;
        ck_assert_int_eq(reject(), PO_OK);
        is(0, VERDICT_REJECTED);
        is(1, VERDICT_REJECTED);
        fake_saw(FIND,
                 RECORD " (letter_id, reason, source_topic, source_partition, source_offset,"
                        " letter_topic, letter_partition, letter_offset, attempts,"
                        " created_at) VALUES ('id-10'",
                 RECORD " (letter_id, reason, source_topic, source_partition, source_offset,"
                        " letter_topic, letter_partition, letter_offset, attempts,"
                        " created_at, body) VALUES ('id-11'");
        unit_assert_in(fake_statement(RECORD), ",X'504F5231"); /* "POR1": a packed record */
}
END_TEST

START_TEST(a_record_whose_body_is_not_written_is_held)
{
        start("callbacks.DLT", 5);
        rejected(10, false);
        cuts[0] = true;
        fake_fail("body", PO_TRANSIENT, 2013);
        ck_assert_int_eq(reject(), PO_TRANSIENT);
        is(0, VERDICT_HELD);
}
END_TEST

START_TEST(a_record_too_large_for_letter_and_row_is_held_and_alarmed)
{
        start("callbacks.DLT", 5);
        static char large[FAKE_PACKET_BYTES / 2];
        struct parcel *parcel = rejected(10, false);
        records[0].value = large;
        records[0].value_bytes = sizeof large;
        results[0] = PO_RECORD;
        ck_assert_int_eq(reject(), PO_OK);
        ck_assert(!sent[0].may_keep);
        ck_assert_int_eq(parcel->verdict, VERDICT_HELD);
        unit_assert_in(capture.text, "alarm=DEAD_LETTER_TOO_LARGE");
        fake_saw(FIND);
        records[0].value_bytes = 10;
}
END_TEST

START_TEST(a_record_without_a_stable_reason_gets_one)
{
        start("callbacks.DLT", 5);
        po_fail(rejected(10, false)->error, PO_BUG, 0, "affected rows");
        po_fail(rejected(11, false)->error, PO_RECORD, 1406, "Data too long");
        ck_assert_int_eq(reject(), PO_OK);
        ck_assert_str_eq(sent[0].reason, "BUG");
        ck_assert_str_eq(sent[1].reason, "DATABASE_REFUSED");
}
END_TEST

START_TEST(the_next_batch_starts_from_nothing)
{
        start("callbacks.DLT", 5);
        rejected(10, false);
        ck_assert_int_eq(reject(), PO_OK);
        batch.parcels_count = batch.postings_count = 0;
        ck_assert_int_eq(reject(), PO_OK);
        ck_assert_uint_eq(sent_count, 1);
        rejecter_close(NULL);
}
END_TEST

START_TEST(a_record_that_is_not_proven_is_alarmed_by_its_place_and_no_byte_of_it)
{
        start("callbacks.DLT", 5);
        po_refuse(rejected(10, false)->error, "SIGNATURE_INVALID", "no key proves this sign");
        rejected(11, false);
        records[0].value = "forged";
        records[0].value_bytes = 6;
        ck_assert_int_eq(reject(), PO_OK);
        unit_assert_in(capture.text, "alarm=SIGNATURE_INVALID");
        unit_assert_in(capture.text, "topic=callbacks partition=0 offset=10");
        unit_assert_not_in(capture.text, "offset=11");
        unit_assert_not_in(capture.text, "forged");
        start(NULL, 5);
        po_refuse(rejected(12, false)->error, "SIGNATURE_INVALID", "no key proves this sign");
        ck_assert_int_eq(reject(), PO_OK);
        unit_assert_in(capture.text, "alarm=SIGNATURE_INVALID");
        is(0, VERDICT_HELD);
}
END_TEST

/* Linked instead of base/clock.c: time passes only while letters are sent. */
int64_t clock_ms(void)
{
        return now_ms;
}

START_TEST(a_topic_that_is_away_is_not_tried_at_every_batch)
{
        start("callbacks.DLT", 1);
        results[0] = PO_TRANSIENT;
        sending_takes_ms = 5000;
        struct parcel *parcel = rejected(100, false);
        ck_assert_int_eq(reject(), PO_OK);
        ck_assert_int_eq(parcel->verdict, VERDICT_HELD);
        ck_assert_uint_eq(sendings, 1);

        now_ms += 24000; /* five times of what the try took have not passed */
        parcel->verdict = postings[0].verdict = VERDICT_REJECTED;
        ck_assert_int_eq(reject(), PO_OK);
        ck_assert_int_eq(parcel->verdict, VERDICT_HELD);
        unit_assert_in(parcel->error->text, "the broker is away");
        ck_assert_uint_eq(sendings, 1);

        now_ms += 1000;
        parcel->verdict = postings[0].verdict = VERDICT_REJECTED;
        ck_assert_int_eq(reject(), PO_OK);
        ck_assert_int_eq(parcel->verdict, VERDICT_REJECTED);
        ck_assert_uint_eq(sendings, 2);
        sending_takes_ms = 0;
}
END_TEST

START_TEST(a_letter_of_what_was_parked_is_told_apart_from_that_of_its_record)
{
        start("callbacks.DLT", 1);
        rejected(100, false);
        postings[0].unparks = true;
        ck_assert_int_eq(reject(), PO_OK);
        unit_assert_in(fake_statement("INSERT INTO dead_letter"), "'id-100-SQB:T1:");
}
END_TEST

UNIT_MAIN("reject", a_batch_without_rejection_asks_nothing,
          what_cannot_change_is_sent_at_once_and_then_recorded,
          a_letter_that_is_there_passes_without_being_sent,
          what_may_change_is_counted_and_comes_again, at_the_last_attempt_its_letter_is_sent,
          one_attempt_is_none_more,
          a_letter_without_acknowledgement_has_no_row_and_its_record_is_held,
          without_any_acknowledgement_nothing_is_recorded, a_letter_whose_row_fails_is_held,
          where_letters_cannot_be_looked_for_none_is_sent,
          where_failures_cannot_be_counted_none_is_sent,
          without_a_topic_records_are_held_and_alarmed,
          a_letter_tells_why_and_names_each_failed_notification_and_no_body,
          many_failed_notifications_are_cut_at_the_letters_bound,
          what_a_letter_could_not_carry_is_kept_by_its_row,
          a_record_whose_body_is_not_written_is_held,
          a_record_too_large_for_letter_and_row_is_held_and_alarmed,
          a_record_without_a_stable_reason_gets_one, the_next_batch_starts_from_nothing,
          a_record_that_is_not_proven_is_alarmed_by_its_place_and_no_byte_of_it,
          a_topic_that_is_away_is_not_tried_at_every_batch,
          a_letter_of_what_was_parked_is_told_apart_from_that_of_its_record)

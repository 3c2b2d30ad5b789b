/* The re-drive: rows become a batch, and what becomes of the rows when the batch is through. */
#include "fake_db.h"
#include "posting_fixture.h"

#include "base/log.h"
#include "base/record_pack.h"
#include "ledger/notice.h"
#include "ledger/parked.h"
#include "postonce/key.h"
#include "worker/redrive.h"

#define LEASE "2026-01-03 00:01:00.000000"

enum { ROWS_MOST = 6, PACKED_BYTES = 256 };

static struct db *db;
static struct rules *rules;
static struct redrive *redrive;
static struct batch *batch;
static struct policy policy;
static const struct pauses nothing_paused, sqb_paused = { .count = 1, .channels = { "SQB" } };
static char notices[ROWS_MOST][NOTICE_BYTES];
static unsigned char packed[ROWS_MOST][PACKED_BYTES];
static const char *raws[ROWS_MOST];
static unsigned alarms;

static void count_alarm(const char *code)
{
        ck_assert_str_eq(code, "PARKED_UNREADABLE");
        alarms++;
}

#define SHIP_RULE                                                                                  \
        "ORDER_SHIPPED:\n"                                                                         \
        "  order: { from: [PAID], to: SHIPPED, wait: [PENDING_PAY] }\n"

static void start(void)
{
        log_set_alarm_observer(count_alarm);
        alarms = 0;
        db = fake_db_open();
        redrive_close(redrive);
        rules_free(rules);
        rules = fixture_rules(ORDERS_WITH_OTHERS, PAYMENT_RULE SHIP_RULE);
        policy = (struct policy){ .park_delays_count = 3,
                                  .park_delays_ms = { 1000, 2000, 3000 },
                                  .give_up_after_ms = 86400000,
                                  .hand_over = true,
                                  .letters_per_minute = 60 };
        ck_assert_int_eq(redrive_open(&redrive, db, &policy, rules, &error), PO_OK);
}

/* What row i of `parked` holds: an event of txn T<i>, at offset 100 + i. */
static struct po_notification *holds(size_t i, const char *event)
{
        static const struct record_header headers[] = { { "a", "1", 1 }, { "a", NULL, 0 } };
        char txn[8];
        snprintf(txn, sizeof txn, "T%zu", i);
        fixture_posting(i, rules_find(rules, event), txn, "R8-1");
        snprintf(notifications[i].event, sizeof notifications[i].event, "%s", event);
        ck_assert_int_eq(po_key_seal(&notifications[i], &error), PO_OK);
        notice_write(&notifications[i], notices[i], sizeof notices[i]);
        records[i].headers = headers;
        records[i].headers_count = 2;
        ck_assert_uint_le(record_pack_bytes(&records[i]), PACKED_BYTES);
        record_pack(&records[i], packed[i]);
        raws[i] = fake_binary(packed[i], record_pack_bytes(&records[i]));
        return &notifications[i];
}

static const char *const times[ROWS_MOST] = {
        "2026-01-01 00:00:00.000000", "2026-01-01 00:00:00.000001", "2026-01-01 00:00:00.000002",
        "2026-01-01 00:00:00.000003", "2026-01-01 00:00:00.000004", "2026-01-01 00:00:00.000005",
};
static const char *due[ROWS_MOST], *due_notices[ROWS_MOST], *due_raws[ROWS_MOST];
static size_t due_count;

#define row(i, claim, tries, reason, gave_up)                                                      \
        do {                                                                                       \
                due[due_count] = claim;                                                            \
                due_notices[due_count] = notices[i];                                               \
                due_raws[due_count++] = raws[i];                                                   \
                fake_row(claim, tries, reason, gave_up, "1000", times[i], "0", LEASE);             \
        } while (0)

/* What is read of the rows that row() scripted, after their lease. */
static void script_contents(void)
{
        if (due_count == 0)
                return;
        fake_rows("SELECT claim_id, notification, raw FROM parked");
        for (size_t i = 0; i < due_count; i++)
                fake_row(due[i], due_notices[i], due_raws[i]);
        due_count = 0;
}

static void takes(const struct pauses *pauses)
{
        batch = NULL;
        script_contents();
        ck_assert_msg(redrive_take(redrive, pauses, &batch, &error) == PO_OK, "%s", error.text);
}

static void finishes(void)
{
        ck_assert_msg(redrive_finish(redrive, &error) == PO_OK, "%s", error.text);
}

static void became(size_t i, enum verdict verdict, const char *reason)
{
        batch->postings[i].verdict = batch->parcels[i].verdict = verdict;
        batch->postings[i].reason = reason;
}

START_TEST(nothing_due_is_no_batch)
{
        start();
        takes(&nothing_paused);
        ck_assert_ptr_null(batch);
        fake_saw("BEGIN", "SELECT claim_id", "ROLLBACK");
}
END_TEST

START_TEST(each_row_is_a_record_with_its_one_notification)
{
        start();
        holds(0, "PAYMENT_RECEIVED");
        holds(1, "ORDER_SHIPPED");
        fake_rows("FROM parked");
        row(0, "7", "0", "ORDER_UNKNOWN", "0");
        row(1, "9", "4", "TOO_EARLY", "1");
        fake_rows("FROM dead_letter");
        fake_row("0");
        takes(&sqb_paused);
        ck_assert_ptr_eq(batch->pauses, &sqb_paused);
        ck_assert_ptr_eq(batch->policy, &policy);
        ck_assert_uint_eq(batch->parcels_count, 2);
        ck_assert_uint_eq(batch->postings_count, 2);
        for (size_t i = 0; i < 2; i++) {
                const struct posting *posting = &batch->postings[i];
                const struct parcel *parcel = &batch->parcels[i];
                ck_assert_str_eq(posting->notification->key, notifications[i].key);
                ck_assert_mem_eq(posting->notification->fingerprint, notifications[i].fingerprint,
                                 PO_FINGERPRINT_BYTES);
                ck_assert_ptr_eq(posting->rule, rules_at(rules, i));
                ck_assert_uint_eq(posting->turn, i);
                ck_assert(posting->unparks);
                ck_assert(posting->gave_up == (i == 1));
                ck_assert_int_eq(posting->verdict, VERDICT_NONE);
                ck_assert_ptr_eq(parcel->record, posting->record);
                ck_assert_uint_eq(parcel->first, i);
                ck_assert_uint_eq(parcel->count, 1);
                ck_assert_int_eq(parcel->verdict, VERDICT_NONE);
                ck_assert_str_eq(posting->record->topic, "callbacks");
                ck_assert_int_eq(posting->record->offset, 100 + (int64_t)i);
                ck_assert_uint_eq(posting->record->value_bytes, 11);
                ck_assert_mem_eq(posting->record->value, "SECRET-BODY", 11);
                ck_assert_uint_eq(posting->record->headers_count, 2);
                ck_assert_ptr_null(posting->record->headers[1].value);
        }
}
END_TEST

START_TEST(what_is_through_goes_and_what_waits_is_delayed)
{
        start();
        fake_rows("FROM parked");
        for (size_t i = 0; i < ROWS_MOST; i++)
                holds(i, "PAYMENT_RECEIVED");
        row(0, "70", "0", "TOO_EARLY", "0");
        row(1, "71", "0", "TOO_EARLY", "0");
        row(2, "72", "1", "TOO_EARLY", "0");
        row(3, "73", "9", "TOO_EARLY", "0");
        row(4, "74", "0", "TOO_EARLY", "0");
        row(5, "75", "0", "TOO_EARLY", "0");
        takes(&nothing_paused);
        fake_saw("BEGIN", "SELECT claim_id", "UPDATE parked", "COMMIT", "SELECT claim_id");
        became(0, VERDICT_POSTED, NULL);
        became(1, VERDICT_PARKED, "ORDER_UNKNOWN");
        became(2, VERDICT_PARKED, "TOO_EARLY");
        became(3, VERDICT_HELD, NULL);
        became(4, VERDICT_DUPLICATE, NULL);
        became(5, VERDICT_REJECTED, "PARK_GAVE_UP");
        finishes();
#define DELAYED(ms)                                                                                \
        "UPDATE parked FORCE INDEX (PRIMARY) SET due_at = IF(due_at = '" LEASE                     \
        "', UTC_TIMESTAMP(6) + INTERVAL " ms " MICROSECOND, due_at), begun_at = NULL"
#define ANEW ", waits_since = CASE reason WHEN 'PAUSED' THEN UTC_TIMESTAMP(6) ELSE waits_since END"
        fake_saw(DELAYED("2000000") ANEW ", reason = 'ORDER_UNKNOWN' WHERE claim_id IN (71) AND",
                 DELAYED("3000000") ANEW ", reason = 'TOO_EARLY' WHERE claim_id IN (72) AND",
                 DELAYED("1000000") " WHERE claim_id IN (73) AND",
                 "DELETE p FROM parked p FORCE INDEX (PRIMARY) WHERE p.claim_id IN (70,74,75)");
}
END_TEST

START_TEST(only_what_met_a_passing_trouble_comes_again_within_a_second)
{
        start();
        policy.hand_over = false;
        holds(0, "PAYMENT_RECEIVED");
        holds(1, "PAYMENT_RECEIVED");
        fake_rows("FROM parked");
        row(0, "70", "9", "TOO_EARLY", "0");
        row(1, "71", "9", "TOO_EARLY", "0");
        takes(&nothing_paused);
        became(0, VERDICT_HELD, NULL);
        became(1, VERDICT_PARKED, "TOO_EARLY");
        batch->parcels[1].verdict = VERDICT_HELD; /* strict.hand_over: false */
        finishes();
        fake_saw("BEGIN", "SELECT claim_id", "UPDATE parked", "COMMIT", "SELECT claim_id",
                 DELAYED("1000000") " WHERE claim_id IN (70) AND",
                 DELAYED("3000000") ANEW ", reason = 'TOO_EARLY' WHERE claim_id IN (71) AND");
}
END_TEST

START_TEST(what_waits_on_alike_is_one_statement)
{
        static const char *const claims[] = { "70", "71", "72", "73", "74", "75" };
        start();
        fake_rows("FROM parked");
        for (size_t i = 0; i < ROWS_MOST; i++) {
                holds(i, "PAYMENT_RECEIVED");
                row(i, claims[i], i < 4 ? "0" : "5", "TOO_EARLY", "0");
        }
        takes(&nothing_paused);
        for (size_t i = 0; i < ROWS_MOST; i++)
                became(i, VERDICT_PARKED, i == 1 ? "ORDER_UNKNOWN" : "TOO_EARLY");
        finishes();
        fake_saw("BEGIN", "SELECT claim_id", "UPDATE parked", "COMMIT", "SELECT claim_id",
                 DELAYED("2000000") ANEW ", reason = 'TOO_EARLY' WHERE claim_id IN (70,72,73)",
                 DELAYED("2000000") ANEW ", reason = 'ORDER_UNKNOWN' WHERE claim_id IN (71)",
                 DELAYED("3000000") ANEW ", reason = 'TOO_EARLY' WHERE claim_id IN (74,75)");
}
END_TEST

START_TEST(every_outcome_and_what_is_kept_elsewhere_goes_and_nothing_else)
{
        for (int verdict = VERDICT_NONE; verdict < VERDICT_COUNT; verdict++) {
                start();
                holds(0, "PAYMENT_RECEIVED");
                fake_rows("FROM parked");
                row(0, "70", "0", "TOO_EARLY", "0");
                takes(&nothing_paused);
                became(0, (enum verdict)verdict, NULL);
                finishes();
                bool stays = verdict == VERDICT_NONE || verdict == VERDICT_PARKED ||
                             verdict == VERDICT_HELD;
                ck_assert_msg(fake_count("DELETE") == (stays ? 0 : 1), "%s",
                              verdict_name((enum verdict)verdict));
                ck_assert_uint_eq(fake_count("UPDATE"), stays ? 2 : 1);
        }
}
END_TEST

START_TEST(what_waits_for_a_resume_is_looked_at_soon_and_then_seldom)
{
        start();
        holds(0, "PAYMENT_RECEIVED");
        holds(1, "PAYMENT_RECEIVED");
        fake_rows("FROM parked");
        row(0, "70", "9", "TOO_EARLY", "0");
        row(1, "71", "9", "PAUSED", "1");
        takes(&sqb_paused);
        became(0, VERDICT_PARKED, "PAUSED");
        became(1, VERDICT_PARKED, "PAUSED");
        ck_assert(!batch->postings[1].gave_up);
        finishes();
        fake_saw("BEGIN", "SELECT claim_id", "UPDATE parked", "COMMIT", "SELECT claim_id",
                 DELAYED("1000000") ", reason = 'PAUSED' WHERE claim_id IN (70)",
                 DELAYED("3000000") ", reason = 'PAUSED' WHERE claim_id IN (71)");
}
END_TEST

START_TEST(a_row_that_cannot_be_read_keeps_none_of_the_others)
{
        start();
        for (size_t i = 0; i < 5; i++)
                holds(i, "PAYMENT_RECEIVED");
        raws[0] = "no record";
        snprintf(notices[2], sizeof notices[2], "no notice");
        static unsigned char cut_short[20];
        memcpy(cut_short, packed[4], sizeof cut_short);
        raws[4] = fake_binary(cut_short, sizeof cut_short);
        fake_rows("FROM parked");
        row(0, "70", "0", "TOO_EARLY", "0");
        row(1, "71", "0", "TOO_EARLY", "0");
        row(2, "72", "0", "TOO_EARLY", "0");
        row(3, "73", "5", "TOO_EARLY", "0");
        row(4, "74", "0", "TOO_EARLY", "0");
        takes(&nothing_paused);
        ck_assert_uint_eq(alarms, 3);
        ck_assert_uint_eq(batch->parcels_count, 2);
        ck_assert_str_eq(batch->postings[0].notification->txn, "T1");
        ck_assert_str_eq(batch->postings[1].notification->txn, "T3");
        ck_assert_int_eq(batch->postings[1].record->offset, 103);
        fake_saw("BEGIN", "SELECT claim_id", "UPDATE parked", "COMMIT", "SELECT claim_id",
                 "INSERT INTO review",
                 DELAYED("3000000") ANEW ", reason = 'UNREADABLE' WHERE claim_id IN (70)",
                 "INSERT INTO review",
                 DELAYED("3000000") ANEW ", reason = 'UNREADABLE' WHERE claim_id IN (72)",
                 "INSERT INTO review",
                 DELAYED("3000000") ANEW ", reason = 'UNREADABLE' WHERE claim_id IN (74)");
        became(0, VERDICT_POSTED, NULL);
        became(1, VERDICT_PARKED, "TOO_EARLY");
        finishes();
        fake_saw(DELAYED("3000000") ANEW ", reason = 'TOO_EARLY' WHERE claim_id IN (73)",
                 "DELETE p FROM parked p FORCE INDEX (PRIMARY) WHERE p.claim_id IN (71)");
}
END_TEST

START_TEST(one_that_can_be_read_again_waits_for_nobody_and_one_open_item_is_no_news)
{
        start();
        holds(0, "PAYMENT_RECEIVED");
        fake_rows("FROM parked");
        row(0, "70", "0", PARKED_UNREADABLE, "0");
        takes(&nothing_paused);
        fake_saw("BEGIN", "SELECT claim_id", "UPDATE parked", "COMMIT", "SELECT claim_id",
                 "UPDATE review SET state = 'CLOSED'");
        ck_assert_uint_eq(batch->parcels_count, 1);

        start();
        holds(0, "PAYMENT_RECEIVED");
        raws[0] = "RAW";
        fake_rows("FROM parked");
        row(0, "70", "0", PARKED_UNREADABLE, "0");
        fake_affect("INSERT INTO review", 2);
        takes(&nothing_paused);
        ck_assert_uint_eq(alarms, 0);
}
END_TEST

START_TEST(only_rows_that_cannot_be_read_are_no_batch)
{
        start();
        holds(0, "PAYMENT_RECEIVED");
        fake_rows("FROM parked");
        raws[0] = "RAW";
        row(0, "70", "0", "TOO_EARLY", "0");
        takes(&nothing_paused);
        ck_assert_ptr_null(batch);
        takes(&nothing_paused); /* and nothing is left of them */
        ck_assert_ptr_null(batch);
}
END_TEST

START_TEST(an_event_whose_rule_is_gone_is_rejected)
{
        start();
        holds(0, "UNHEARD_OF");
        holds(1, "PAYMENT_RECEIVED");
        fake_rows("FROM parked");
        row(0, "70", "0", "TOO_EARLY", "1");
        row(1, "71", "0", "TOO_EARLY", "0");
        takes(&nothing_paused);
        ck_assert_int_eq(batch->parcels[0].verdict, VERDICT_REJECTED);
        ck_assert_str_eq(batch->parcels[0].error->reason, "NO_EVENT_RULE");
        ck_assert(!batch->parcels[0].may_change);
        ck_assert_int_eq(batch->parcels[1].verdict, VERDICT_NONE);
}
END_TEST

/* Six rows that gave up: two with money, four without, of a limit that allows so many letters. */
static void six_give_up(int64_t limit, const char *letters)
{
        start();
        policy.letters_per_minute = limit;
        for (size_t i = 0; i < ROWS_MOST; i++) {
                holds(i, i < 2 ? "PAYMENT_RECEIVED" : "ORDER_SHIPPED");
                notifications[i].amount_kind = i < 2 ? PO_AMOUNT_THIS : PO_AMOUNT_NONE;
                ck_assert_int_eq(po_key_seal(&notifications[i], &error), PO_OK);
                notice_write(&notifications[i], notices[i], sizeof notices[i]);
        }
        fake_rows("FROM parked");
        row(0, "70", "9", "TOO_EARLY", "1");
        row(1, "71", "9", "TOO_EARLY", "1");
        row(2, "72", "9", "TOO_EARLY", "1");
        row(3, "73", "9", "TOO_EARLY", "1");
        row(4, "74", "9", "TOO_EARLY", "1");
        row(5, "75", "9", "TOO_EARLY", "1");
        fake_rows("FROM dead_letter");
        fake_row(letters);
        takes(&nothing_paused);
}

START_TEST(letters_of_those_that_give_up_are_paced_below_the_flood_guard)
{
        static const struct {
                int64_t limit;
                const char *letters;
                size_t let;
        } cases[] = {
                { 600, "0", 4 },   { 600, "298", 2 }, { 600, "300", 0 },
                { 600, "999", 0 }, { 60, "0", 4 },    { 40, "0", 3 }, /* a twentieth and one */
                { 10, "0", 1 },    { 2, "0", 1 },     { 1, "0", 0 },
        };
        for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
                six_give_up(cases[i].limit, cases[i].letters);
                for (size_t j = 0; j < ROWS_MOST; j++)
                        ck_assert_msg(batch->postings[j].gave_up == (j < 2 + cases[i].let),
                                      "case %zu, row %zu", i, j);
                for (size_t j = 0; j < ROWS_MOST; j++)
                        became(j, VERDICT_PARKED, "TOO_EARLY");
                finishes();
                /* What waits for its turn comes in the next minute, not after its last delay. */
                if (cases[i].let < 4)
                        unit_assert_in(fake_statement(DELAYED("60000000")), "75) AND due_at");
                else
                        unit_assert_in(fake_statement("UPDATE parked"), "INTERVAL 3000000 MICRO");
        }
}
END_TEST

START_TEST(without_letters_to_come_none_are_counted)
{
        start();
        holds(0, "PAYMENT_RECEIVED");
        fake_rows("FROM parked");
        row(0, "70", "9", "TOO_EARLY", "1"); /* to suspense */
        takes(&nothing_paused);
        ck_assert(batch->postings[0].gave_up);
        fake_saw("BEGIN", "SELECT claim_id", "SELECT p.claim_id", "UPDATE parked", "COMMIT",
                 "SELECT claim_id");
}
END_TEST

START_TEST(a_posting_that_began_and_did_not_end_leaves_its_mark)
{
        start();
        for (size_t i = 0; i < 3; i++)
                holds(i, "PAYMENT_RECEIVED");
        fake_rows("FROM parked");
        fake_row("70", "0", "TOO_EARLY", "0", "1000", times[0], "1", LEASE);
        due[due_count] = "70";
        due_notices[due_count] = notices[0];
        due_raws[due_count++] = raws[0];
        row(1, "71", "0", "TOO_EARLY", "0");
        row(2, "72", "0", "TOO_EARLY", "0");
        takes(&nothing_paused);
        ck_assert(batch->postings[0].in_doubt);
        ck_assert(!batch->postings[1].in_doubt);
        batch->postings[1].begun = true;
        for (size_t i = 0; i < 3; i++)
                became(i, VERDICT_HELD, NULL);
        fake_saw("BEGIN", "SELECT claim_id", "UPDATE parked", "COMMIT", "SELECT claim_id");
        finishes();
        fake_saw(
                "UPDATE parked FORCE INDEX (PRIMARY) SET due_at = IF(due_at = '" LEASE
                "', UTC_TIMESTAMP(6) + INTERVAL 1000000 MICROSECOND, due_at) WHERE claim_id IN (70,71) AND",
                DELAYED("1000000") " WHERE claim_id IN (72) AND");
}
END_TEST

START_TEST(what_fails_on_the_way_leaves_the_lease_and_nothing_in_memory)
{
        start();
        fake_fail("FROM parked", PO_TRANSIENT, 2013);
        ck_assert_int_eq(redrive_take(redrive, &nothing_paused, &batch, &error), PO_TRANSIENT);
        ck_assert_ptr_null(batch);

        start();
        holds(0, "ORDER_SHIPPED");
        fake_rows("FROM parked");
        row(0, "70", "9", "TOO_EARLY", "1");
        script_contents();
        fake_fail("FROM dead_letter", PO_TRANSIENT, 2013);
        ck_assert_int_eq(redrive_take(redrive, &nothing_paused, &batch, &error), PO_TRANSIENT);
        ck_assert_ptr_null(batch);

        start();
        holds(0, "PAYMENT_RECEIVED");
        fake_rows("FROM parked");
        holds(1, "PAYMENT_RECEIVED");
        raws[0] = "RAW";
        row(0, "69", "0", "TOO_EARLY", "0");
        row(1, "70", "0", "TOO_EARLY", "0");
        script_contents();
        fake_fail("UNREADABLE", PO_TRANSIENT, 2013);
        ck_assert_int_eq(redrive_take(redrive, &nothing_paused, &batch, &error), PO_TRANSIENT);
        ck_assert_ptr_null(batch);

        start();
        holds(0, "PAYMENT_RECEIVED");
        holds(1, "PAYMENT_RECEIVED");
        fake_rows("FROM parked");
        row(0, "70", "0", "TOO_EARLY", "0");
        row(1, "71", "0", "TOO_EARLY", "0");
        takes(&nothing_paused);
        became(0, VERDICT_PARKED, "TOO_EARLY");
        became(1, VERDICT_DUPLICATE, NULL);
        fake_fail("claim_id IN (70) AND", PO_TRANSIENT, 2013);
        ck_assert_int_eq(redrive_finish(redrive, &error), PO_TRANSIENT);
        ck_assert_uint_eq(fake_count("DELETE"), 0);
        takes(&nothing_paused);
        ck_assert_ptr_null(batch);
}
END_TEST

START_TEST(one_that_was_never_opened_is_closed_like_any)
{
        redrive_close(NULL);
        start();
        redrive_close(redrive);
        redrive = NULL;
}
END_TEST

UNIT_MAIN("redrive", only_what_met_a_passing_trouble_comes_again_within_a_second,
          nothing_due_is_no_batch, each_row_is_a_record_with_its_one_notification,
          what_is_through_goes_and_what_waits_is_delayed,
          every_outcome_and_what_is_kept_elsewhere_goes_and_nothing_else,
          what_waits_for_a_resume_is_looked_at_soon_and_then_seldom,
          a_row_that_cannot_be_read_keeps_none_of_the_others,
          only_rows_that_cannot_be_read_are_no_batch, an_event_whose_rule_is_gone_is_rejected,
          letters_of_those_that_give_up_are_paced_below_the_flood_guard,
          without_letters_to_come_none_are_counted,
          a_posting_that_began_and_did_not_end_leaves_its_mark,
          what_fails_on_the_way_leaves_the_lease_and_nothing_in_memory,
          one_that_was_never_opened_is_closed_like_any, what_waits_on_alike_is_one_statement,
          one_that_can_be_read_again_waits_for_nobody_and_one_open_item_is_no_news)

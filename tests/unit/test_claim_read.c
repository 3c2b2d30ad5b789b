/* Which claims are read by their numbers, by key, or before they are claimed. */
#include "claim_fixture.h"

enum { MANY = 64 }; /* so many fresh ones are read by their numbers */

static const char *numbered(const char *before, size_t i, const char *after)
{
        static char texts[4 * FIXTURE_ROWS][40];
        static size_t next;
        char *mine = texts[next++ % (sizeof texts / sizeof texts[0])];
        snprintf(mine, sizeof texts[0], "%s%zu%s", before, 10 + i, after);
        return mine;
}

static void notify_many(void)
{
        start();
        for (size_t i = 0; i < MANY; i++)
                notified(i, numbered("T", i, ""));
        fake_affect("INSERT INTO claim", MANY);
}

/* The row that a read by numbers finds; the outcome's columns are not asked for. */
static void fresh_row(size_t i, const char *deliveries, const char *fingerprint)
{
        fake_row("1", numbered("SQB:T", i, ":PAYMENT_RECEIVED"), numbered("7", i, ""), deliveries,
                 fingerprint, "1", NULL, NULL, NULL, NULL, NULL, NULL, NULL);
}

START_TEST(what_we_inserted_is_read_by_its_numbers_and_nothing_by_key)
{
        notify_many();
        fake_rows("FORCE INDEX (PRIMARY) WHERE c.id BETWEEN 0 AND 63");
        for (size_t i = 0; i < MANY; i++)
                fresh_row(i, "1", FINGERPRINT_A);
        claimed("another", "9", "1"); /* inserted in between, by somebody else */
        acquired(MANY);
        fake_saw("INSERT INTO claim", "SELECT c.tenant_id, c.idem_key, c.id, c.deliveries,");
        for (size_t i = 0; i < MANY; i++) {
                is(&postings[i], VERDICT_NONE, false, "");
                ck_assert_int_eq(postings[i].claim_id, 710 + (int64_t)i);
                ck_assert_uint_eq(postings[i].deliveries, 1);
        }
}
END_TEST

START_TEST(what_others_delivered_too_is_read_by_key)
{
        notify_many();
        fake_rows("FORCE INDEX (PRIMARY)");
        for (size_t i = 1; i < MANY; i++)
                fresh_row(i, i == 1 ? "2" : "1", FINGERPRINT_A);
        fake_rows("FORCE INDEX (uk_idem)");
        claimed("T10", "7", "1");
        settled("T11", "8", "POSTED", "{}", "1");
        acquired(MANY);
        unit_assert_in(fake_statement("SELECT"),
                       "c.idem_key IN ('" KEY("T10") "','" KEY("T11") "'))");
        is(&postings[0], VERDICT_NONE, false, "");
        ck_assert_int_eq(postings[0].claim_id, 7);
        is(&postings[1], VERDICT_DUPLICATE, false, "{}");
        is(&postings[2], VERDICT_NONE, false, "");
}
END_TEST

START_TEST(a_fresh_claim_is_compared_with_what_its_row_says)
{
        notify_many();
        fake_rows("FORCE INDEX (PRIMARY)");
        for (size_t i = 0; i < MANY; i++)
                fresh_row(i, "1", i == 5 ? FINGERPRINT_B : FINGERPRINT_A);
        acquired(MANY);
        is(&postings[4], VERDICT_NONE, false, "");
        is(&postings[5], VERDICT_CONFLICT, false, "");
}
END_TEST

START_TEST(a_failing_read_by_numbers_is_passed_up)
{
        notify_many();
        fake_fail("FORCE INDEX (PRIMARY)", PO_TRANSIENT, 2013);
        ck_assert_int_eq(acquire(MANY), PO_TRANSIENT);
        unit_assert_in(error.text, "read fresh claims");
}
END_TEST

/* Two duplicates: the next batch is looked at before it is claimed. */
static void start_among_duplicates(void)
{
        start();
        notified(0, "T1");
        notified(1, "T2");
        fake_rows("FROM claim");
        settled("T1", "7", "POSTED", "{}", "1");
        settled("T2", "8", "POSTED", "{}", "1");
        acquired(2);
        fake_saw("INSERT INTO claim", "SELECT c.tenant_id");
}

START_TEST(among_duplicates_what_is_settled_is_counted_and_not_claimed)
{
        start_among_duplicates();
        notified(0, "T2");
        notified(1, "T1");
        fake_rows("FROM claim");
        settled("T2", "8", "POSTED", "{\"posted\":\"PAID\"}", "1");
        settled("T1", "7", "SKIPPED", "{}", "101"); /* by this very delivery */
        fake_affect("UPDATE claim", 2);
        acquired(2);
        fake_saw("SELECT c.tenant_id",
                 "UPDATE claim c FORCE INDEX (uk_idem) SET c.deliveries = c.deliveries + 1,"
                 " c.last_seen_at = UTC_TIMESTAMP(6) WHERE (c.tenant_id = 1 AND c.idem_key IN"
                 " ('" KEY("T1") "','" KEY("T2") "'))");
        is(&postings[0], VERDICT_DUPLICATE, false, "{\"posted\":\"PAID\"}");
        ck_assert_int_eq(postings[0].claim_id, 8);
        ck_assert_uint_eq(postings[0].deliveries, 3);
        is(&postings[1], VERDICT_SKIPPED, true, "{}");
}
END_TEST

/* Only the unique key says what is not there. */
START_TEST(among_duplicates_all_but_the_settled_is_claimed_as_ever)
{
        start_among_duplicates();
        notified(0, "T1"); /* settled */
        notified(1, "T2"); /* claimed, not settled */
        notified(2, "T3"); /* not there */
        notified(3, "T4"); /* settled, with another content */
        notified(4, "T5"); /* settled, and here twice */
        notified(5, "T5");
        memcpy(notifications[3].fingerprint, FINGERPRINT_B, PO_FINGERPRINT_BYTES);
        fake_rows("FROM claim");
        settled("T1", "7", "POSTED", "{}", "1");
        claimed("T2", "8", "1");
        settled("T4", "10", "POSTED", "{}", "1");
        settled("T5", "11", "POSTED", "{}", "1");
        fake_affect("UPDATE claim", 1);
        fake_rows("FROM claim");
        claimed("T2", "8", "2");
        claimed("T3", "9", "1");
        settled("T4", "10", "POSTED", "{}", "1");
        settled("T5", "11", "POSTED", "{}", "1");
        acquired(6);
        fake_saw("SELECT c.tenant_id", "UPDATE claim", "INSERT INTO claim", "SELECT c.tenant_id");
        unit_assert_in(fake_statement("UPDATE claim"), "IN ('" KEY("T1") "'))");
        unit_assert_not_in(fake_statement("INSERT INTO claim"), KEY("T1"));
        unit_assert_not_in(fake_statement("SELECT"), KEY("T1"));
        is(&postings[0], VERDICT_DUPLICATE, false, "{}");
        is(&postings[1], VERDICT_NONE, false, "");
        is(&postings[2], VERDICT_NONE, false, "");
        is(&postings[3], VERDICT_CONFLICT, false, "");
        is(&postings[5], VERDICT_DUPLICATE, false, "{}");
}
END_TEST

START_TEST(after_a_batch_of_new_ones_nothing_is_looked_at_first)
{
        start_among_duplicates();
        notified(0, "T3");
        fake_rows("FROM claim");
        fake_rows("FROM claim");
        claimed("T3", "9", "1");
        acquired(1);
        fake_saw("SELECT c.tenant_id", "INSERT INTO claim", "SELECT c.tenant_id");
        notified(0, "T4");
        fake_rows("FROM claim");
        claimed("T4", "10", "1");
        acquired(1);
        fake_saw("INSERT INTO claim", "SELECT c.tenant_id");
}
END_TEST

START_TEST(a_delivery_that_cannot_be_counted_is_passed_up)
{
        start_among_duplicates();
        notified(0, "T1");
        fake_rows("FROM claim");
        settled("T1", "7", "POSTED", "{}", "1");
        fake_fail("UPDATE claim", PO_TRANSIENT, 1213);
        ck_assert_int_eq(acquire(1), PO_TRANSIENT);
        notified(0, "T1");
        fake_rows("FROM claim");
        settled("T1", "7", "POSTED", "{}", "1");
        fake_affect("UPDATE claim", 0);
        ck_assert_int_eq(acquire(1), PO_BUG);
}
END_TEST

UNIT_MAIN("claim_read", what_we_inserted_is_read_by_its_numbers_and_nothing_by_key,
          what_others_delivered_too_is_read_by_key,
          a_fresh_claim_is_compared_with_what_its_row_says, a_failing_read_by_numbers_is_passed_up,
          among_duplicates_what_is_settled_is_counted_and_not_claimed,
          among_duplicates_all_but_the_settled_is_claimed_as_ever,
          after_a_batch_of_new_ones_nothing_is_looked_at_first,
          a_delivery_that_cannot_be_counted_is_passed_up)

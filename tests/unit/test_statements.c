/*
 * What a batch costs: its statements, each of them one round trip to the database. One that creeps
 * in makes every notification dearer.
 */
#define FIXTURE_ROWS 512
#include "fake_db.h"
#include "posting_fixture.h"

#include "ledger/missed.h"
#include "ledger/parked.h"
#include "ledger/posting.h"

enum { BATCH = 8, FULL_BATCH = 475 };

static struct db *db;
static struct rules *rules;
static struct ledger *ledger;

static const struct event_rule *payment_rule(void)
{
        return rules_find(rules, "PAYMENT_RECEIVED");
}

/* A ledger that knows its accounts, as one that is at work does. */
static void start(void)
{
        db = fake_db_open();
        ledger_close(ledger);
        rules_free(rules);
        rules = fixture_rules(ORDERS_WITH_OTHERS, PAYMENT_RULE);
        ck_assert_int_eq(ledger_open(&ledger, db, rules, FIXTURE_MAX, &error), PO_OK);
        fixture_posting(0, payment_rule(), "T0", "R0");
        fake_rows("FROM account");
        fake_row("11", "1", "channel:SQB:clearing", "CNY");
        fake_row("10", "1", "merchant:1:payable", "CNY");
        ck_assert_int_eq(posting_run(ledger, open_postings, 1, &error), PO_OK);
}

static const char *text(const char *before, size_t i, const char *after)
{
        static char texts[4 * FIXTURE_ROWS][64];
        static size_t next;
        char *mine = texts[next++ % (sizeof texts / sizeof texts[0])];
        snprintf(mine, sizeof texts[0], "%s%zu%s", before, i, after);
        return mine;
}

enum way { FRESH, SEEN_BEFORE, DUPLICATES, TOO_EARLY };

static void answer(enum way way, size_t count)
{
        const char *deliveries = way == FRESH || way == TOO_EARLY ? "1" : "2";
        fake_rows("FROM claim");
        for (size_t i = 0; i < count; i++) {
                const char *key = text("SQB:T", i, ":PAYMENT_RECEIVED"),
                           *id = text("", 1000 + i, "");
                if (way == DUPLICATES)
                        fake_row("1", key, id, deliveries, FINGERPRINT_A, "1", "POSTED", "{}",
                                 FINGERPRINT_A, "1", "callbacks", "7", "55", NULL, "0", "0");
                else
                        fake_row("1", key, id, deliveries, FINGERPRINT_A, "1", NULL, NULL, NULL,
                                 NULL, NULL, NULL, NULL, NULL, "0", "0");
        }
        if (way == DUPLICATES || way == TOO_EARLY)
                return;
        fake_rows("FOR UPDATE");
        for (size_t i = 0; i < count; i++)
                fake_row("1", text("R", 100 + i, ""), "12880", "CNY", "PENDING_PAY", NULL, NULL,
                         NULL, "0", "0", NULL);
}

/* From the claim to COMMIT. */
static size_t statements_of(enum way way, size_t count)
{
        start();
        for (size_t i = 0; i < count; i++)
                fixture_posting(i, payment_rule(), text("T", i, ""), text("R", 100 + i, ""));
        answer(way, count);
        size_t before = fake_count("");
        claims_begin(ledger_claims(ledger));
        ck_assert_int_eq(claims_acquire(ledger_claims(ledger), open_postings, count, &error),
                         PO_OK);
        ck_assert_msg(posting_run(ledger, open_postings, count, &error) == PO_OK, "%s", error.text);
        for (size_t i = 0; i < count; i++)
                ck_assert_int_eq(postings[i].verdict, way == DUPLICATES  ? VERDICT_DUPLICATE
                                                      : way == TOO_EARLY ? VERDICT_PARKED
                                                                         : VERDICT_POSTED);
        return fake_count("") - before;
}

static void costs(enum way way, size_t statements)
{
        ck_assert_uint_eq(statements_of(way, 1), statements);
        ck_assert_uint_eq(statements_of(way, BATCH), statements);
}

START_TEST(a_batch_of_fresh_payments_costs_eleven_statements)
{
        costs(FRESH, 11);
}
END_TEST

START_TEST(a_batch_of_duplicates_costs_two_statements)
{
        costs(DUPLICATES, 2);
}
END_TEST

START_TEST(a_batch_of_duplicates_behind_another_costs_two_statements_as_well)
{
        ck_assert_uint_eq(statements_of(DUPLICATES, BATCH), 2);
        answer(DUPLICATES, BATCH);
        fake_affect("UPDATE claim", BATCH);
        size_t before = fake_count("");
        ck_assert_int_eq(claims_acquire(ledger_claims(ledger), open_postings, BATCH, &error),
                         PO_OK);
        ck_assert_uint_eq(fake_count("") - before, 2);
}
END_TEST

START_TEST(claims_that_others_saw_too_cost_two_statements_more)
{
        costs(SEEN_BEFORE, 13);
}
END_TEST

static size_t statements_to_park(size_t count)
{
        struct sql sql = { 0 };
        size_t before = fake_count("");
        ck_assert_int_eq(parked_insert(db, &sql, open_postings, count, 1, &error), PO_OK);
        ck_assert_int_eq(missed_make_due(db, &sql, open_postings, count, &error), PO_OK);
        sql_free(&sql);
        return fake_count("") - before;
}

START_TEST(a_batch_that_came_too_early_costs_five_statements_and_two_to_park)
{
        for (size_t count = 1; count <= BATCH; count += BATCH - 1) {
                ck_assert_uint_eq(statements_of(TOO_EARLY, count), 5);
                ck_assert_uint_eq(statements_to_park(count), 2);
        }
}
END_TEST

/* Every row was inserted: all ids are read by their numbers, in one read. */
static void answer_full_batch(void)
{
        static const uint64_t widths[] = { 256, 64, 64, 64, 27 };
        for (size_t i = 0; i < sizeof widths / sizeof widths[0]; i++)
                fake_affect("INSERT INTO claim", widths[i]);
        answer(FRESH, FULL_BATCH);
}

/*
 * claims: BEGIN, five INSERTs, COMMIT, one read; BEGIN, the lock, the time; outcomes, moves and
 * messages five each, entries six; balances, a look at what is parked, COMMIT.
 */
START_TEST(a_full_batch_of_fresh_payments_costs_thirty_five_statements)
{
        start();
        for (size_t i = 0; i < FULL_BATCH; i++)
                fixture_posting(i, payment_rule(), text("T", i, ""), text("R", 100 + i, ""));
        answer_full_batch();
        size_t before = fake_count("");
        claims_begin(ledger_claims(ledger));
        ck_assert_int_eq(claims_acquire(ledger_claims(ledger), open_postings, FULL_BATCH, &error),
                         PO_OK);
        ck_assert_msg(posting_run(ledger, open_postings, FULL_BATCH, &error) == PO_OK, "%s",
                      error.text);
        ck_assert_uint_eq(fake_count("") - before, 35);
}
END_TEST

UNIT_MAIN("statements", a_full_batch_of_fresh_payments_costs_thirty_five_statements,
          a_batch_of_fresh_payments_costs_eleven_statements,
          a_batch_of_duplicates_costs_two_statements,
          a_batch_of_duplicates_behind_another_costs_two_statements_as_well,
          claims_that_others_saw_too_cost_two_statements_more,
          a_batch_that_came_too_early_costs_five_statements_and_two_to_park)

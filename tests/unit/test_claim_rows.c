/* Claims on their way into the table, and which of them are known to be new. */
#include "fake_db.h"
#define FIXTURE_ROWS 512
#include "posting_fixture.h"

#include "ledger/claim_rows.h"

static struct db *db;
static struct claim_rows *rows;
static struct sql sql;

static void start(void)
{
        db = fake_db_open();
        claim_rows_close(rows);
        ck_assert_int_eq(claim_rows_open(&rows, db, false, &error), PO_OK);
        sql_reset(&sql);
}

static enum po_class insert(size_t count)
{
        ck_assert_int_eq(claim_rows_begin(rows, count, &error), PO_OK);
        for (size_t i = 0; i < count; i++) {
                char txn[16];
                snprintf(txn, sizeof txn, "T%03zu", i);
                claim_rows_add(rows, fixture_posting(i, NULL, txn, "R8-1"), 1, NULL);
        }
        return claim_rows_end(rows, &error);
}

static void inserted(size_t count)
{
        ck_assert_msg(insert(count) == PO_OK, "%s", error.text);
}

START_TEST(few_rows_are_one_statement_that_commits_itself)
{
        start();
        inserted(2);
        fake_saw("INSERT INTO claim (tenant_id, idem_key, channel, event_type, order_no, amount,"
                 " currency, payload_hash, hash_version, source_topic, source_partition,"
                 " source_offset, deliveries, created_at, last_seen_at) VALUES"
                 " (1,'SQB:T000:PAYMENT_RECEIVED','SQB','PAYMENT_RECEIVED','R8-1',12880,'CNY'," //
                 FINGERPRINT_A_UNHEX ",1,'callbacks',0,100,1,UTC_TIMESTAMP(6),UTC_TIMESTAMP(6)),");
        unit_assert_in(fake_statement("INSERT"),
                       " ON DUPLICATE KEY UPDATE deliveries = deliveries + VALUES(deliveries),"
                       " last_seen_at = VALUES(last_seen_at)");
        ck_assert(!fake_was_in_transaction("INSERT INTO claim"));
}
END_TEST

START_TEST(many_rows_are_one_commit)
{
        start();
        inserted(257);
        fake_saw("BEGIN", "INSERT INTO claim", "INSERT INTO claim", "COMMIT");
        ck_assert(fake_was_in_transaction("INSERT INTO claim"));
}
END_TEST

START_TEST(a_failure_takes_all_of_them_back)
{
        start();
        fake_fail("T256", PO_RECORD, 1406);
        ck_assert_int_eq(insert(257), PO_RECORD);
        fake_saw("BEGIN", "INSERT INTO claim", "INSERT INTO claim", "ROLLBACK");
}
END_TEST

START_TEST(after_a_failure_nothing_is_sent_but_its_rollback)
{
        start();
        fake_fail("T000", PO_TRANSIENT, 1213);
        ck_assert_int_eq(insert(500), PO_TRANSIENT);
        fake_saw("BEGIN", "INSERT INTO claim", "ROLLBACK");
}
END_TEST

/* Nothing is lost by claiming once more, so nobody has to look what became of it. */
START_TEST(a_lost_answer_to_its_commit_is_transient)
{
        start();
        fake_fail("COMMIT", PO_UNCERTAIN, 2013);
        ck_assert_int_eq(insert(257), PO_TRANSIENT);
        ck_assert_int_eq(error.kind, PO_TRANSIENT);
        ck_assert(!db_is_in_transaction(db));
}
END_TEST

START_TEST(what_was_inserted_is_found_by_its_numbers)
{
        start();
        fake_affect("INSERT INTO claim", 64 + 2); /* two of them were there */
        fake_affect("INSERT INTO claim", 3);
        inserted(64 + 3);
        ck_assert(claim_rows_write_fresh(rows, &sql));
        /* The fake gives no numbers out: they begin at 0. */
        ck_assert_str_eq(sql.text, "c.id BETWEEN 0 AND 63 OR c.id BETWEEN 0 AND 2");
}
END_TEST

START_TEST(a_statement_that_inserted_nothing_is_not_asked_for)
{
        start();
        fake_affect("INSERT INTO claim", 2 * 256);
        fake_affect("INSERT INTO claim", 64);
        inserted(256 + 64);
        ck_assert(claim_rows_write_fresh(rows, &sql));
        ck_assert_str_eq(sql.text, "c.id BETWEEN 0 AND 63");
}
END_TEST

START_TEST(too_few_are_not_worth_a_read_of_their_own)
{
        start();
        fake_affect("INSERT INTO claim", 64 + 1);
        inserted(64);
        ck_assert(!claim_rows_write_fresh(rows, &sql));
        start(); /* a count that no server gives is not believed */
        fake_affect("INSERT INTO claim", 1);
        inserted(64);
        ck_assert(!claim_rows_write_fresh(rows, &sql));
}
END_TEST

UNIT_MAIN("claim_rows", few_rows_are_one_statement_that_commits_itself, many_rows_are_one_commit,
          a_failure_takes_all_of_them_back, after_a_failure_nothing_is_sent_but_its_rollback,
          a_lost_answer_to_its_commit_is_transient,
          what_was_inserted_is_found_by_its_numbers,
          a_statement_that_inserted_nothing_is_not_asked_for,
          too_few_are_not_worth_a_read_of_their_own)

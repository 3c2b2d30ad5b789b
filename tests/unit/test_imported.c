/* Rows of an older table: claim and outcome in one transaction, and what each row became. */
#include "fake_db.h"

#include "ledger/imported.h"
#include "postonce/key.h"

static struct db *db;
static struct sql sql;
static struct po_error error;
static struct imported_claim rows[4];
static struct imported_claim *sorted[4];
static size_t count;

static void add(const char *txn, int64_t tenant_id)
{
        struct imported_claim *row = &rows[count];
        memset(row, 0, sizeof *row);
        row->notification.tenant_id = tenant_id;
        snprintf(row->notification.channel, sizeof row->notification.channel, "SQB");
        snprintf(row->notification.txn, sizeof row->notification.txn, "%s", txn);
        snprintf(row->notification.event, sizeof row->notification.event, "X");
        ck_assert_int_eq(po_key_seal(&row->notification, &error), PO_OK);
        row->created_at_us = PO_TIME_UNKNOWN;
        row->line = (int64_t)count + 2;
        sorted[count] = row;
        count++;
}

static enum po_class settle(bool dry)
{
        return imported_settle(db, &sql, sorted, count, dry, &error);
}

START_TEST(claim_and_outcome_are_one_transaction)
{
        db = fake_db_open();
        add("T1", 1);
        fake_rows("SELECT c.tenant_id");
        fake_row("1", "SQB:T1:X", "7", "0", NULL);
        ck_assert_int_eq(settle(false), PO_OK);
        fake_saw("BEGIN", "INSERT INTO claim", "SELECT c.tenant_id", "INSERT INTO outcome",
                 "COMMIT");
        unit_assert_in(fake_statement("INSERT INTO claim"),
                       ",0,'postonce.import',-1,2,0,UTC_TIMESTAMP(6),UTC_TIMESTAMP(6))"
                       " ON DUPLICATE KEY UPDATE deliveries = claim.deliveries");
        unit_assert_in(fake_statement("INSERT INTO outcome"),
                       "(7,'SKIPPED','{\"skipped\":\"IMPORTED\"}',X'00");
        ck_assert_int_eq(rows[0].fate, IMPORTED_TAKEN);
}
END_TEST

START_TEST(keys_are_sorted_and_outcomes_by_claim)
{
        db = fake_db_open();
        add("T2", 2);
        add("T3", 1);
        add("T1", 1);
        fake_rows("SELECT c.tenant_id");
        fake_row("1", "SQB:T1:X", "9", "0", NULL);
        fake_row("1", "SQB:T3:X", "8", "0", NULL);
        fake_row("2", "SQB:T2:X", "7", "0", NULL);
        ck_assert_int_eq(settle(false), PO_OK);
        unit_assert_in(fake_statement("SELECT"),
                       "(c.tenant_id = 1 AND c.idem_key IN ('SQB:T1:X','SQB:T3:X')) OR"
                       " (c.tenant_id = 2 AND c.idem_key IN ('SQB:T2:X'))");
        const char *insert = fake_statement("INSERT INTO outcome");
        ck_assert(strstr(insert, "(7,") < strstr(insert, ",(8,"));
        ck_assert(strstr(insert, ",(8,") < strstr(insert, ",(9,"));
}
END_TEST

START_TEST(what_is_settled_stays_and_what_was_posted_is_told)
{
        db = fake_db_open();
        add("T1", 1);
        add("T2", 1);
        fake_rows("SELECT c.tenant_id");
        fake_row("1", "SQB:T1:X", "7", "3", "SKIPPED");
        fake_row("1", "SQB:T2:X", "8", "1", "POSTED");
        ck_assert_int_eq(settle(false), PO_OK);
        fake_saw("BEGIN", "INSERT INTO claim", "SELECT", "COMMIT");
        ck_assert_int_eq(rows[0].fate, IMPORTED_THERE);
        ck_assert_int_eq(rows[1].fate, IMPORTED_BOOKED);
}
END_TEST

START_TEST(an_unfinished_claim_is_settled_through_the_fence_and_is_parked_no_longer)
{
        db = fake_db_open();
        add("T1", 1);
        rows[0].has_fingerprint = true;
        fake_rows("SELECT c.tenant_id");
        fake_row("1", "SQB:T1:X", "7", "2", NULL);
        ck_assert_int_eq(settle(false), PO_OK);
        fake_saw("BEGIN", "INSERT INTO claim", "SELECT", "INSERT INTO outcome",
                 "DELETE p FROM parked p FORCE INDEX (PRIMARY) WHERE p.claim_id IN (7)", "COMMIT");
        unit_assert_in(fake_statement("INSERT INTO outcome"), "',1,'postonce.import',-1,2,0,");
        ck_assert_int_eq(rows[0].fate, IMPORTED_SETTLED);
}
END_TEST

START_TEST(a_worker_that_settles_it_meanwhile_has_it_read_again)
{
        db = fake_db_open();
        add("T1", 1);
        fake_rows("SELECT c.tenant_id");
        fake_row("1", "SQB:T1:X", "7", "2", NULL);
        fake_fail("INSERT INTO outcome", PO_EXISTS, 1062);
        fake_rows("SELECT c.tenant_id");
        fake_row("1", "SQB:T1:X", "7", "2", "POSTED");
        ck_assert_int_eq(settle(false), PO_OK);
        fake_saw("BEGIN", "INSERT INTO claim", "SELECT", "INSERT INTO outcome", "ROLLBACK", "BEGIN",
                 "INSERT INTO claim", "SELECT", "COMMIT");
        ck_assert_int_eq(rows[0].fate, IMPORTED_BOOKED);
}
END_TEST

START_TEST(a_key_that_stands_there_twice_is_one_claim)
{
        db = fake_db_open();
        add("T1", 1);
        add("T1", 1);
        fake_rows("SELECT c.tenant_id");
        fake_row("1", "SQB:T1:X", "7", "0", NULL);
        ck_assert_int_eq(settle(false), PO_OK);
        unit_assert_not_in(fake_statement("INSERT INTO claim"), "),(");
        unit_assert_not_in(fake_statement("INSERT INTO outcome"), "),(");
        ck_assert_int_eq(rows[0].fate, IMPORTED_TAKEN);
        ck_assert_int_eq(rows[1].fate, IMPORTED_THERE);
}
END_TEST

START_TEST(a_dry_run_leaves_nothing_and_a_failure_neither)
{
        db = fake_db_open();
        add("T1", 1);
        fake_rows("SELECT c.tenant_id");
        fake_row("1", "SQB:T1:X", "7", "0", NULL);
        ck_assert_int_eq(settle(true), PO_OK);
        fake_saw("BEGIN", "INSERT INTO claim", "SELECT", "INSERT INTO outcome", "ROLLBACK");

        fake_fail("INSERT INTO claim", PO_SYSTEMIC, 1142);
        ck_assert_int_eq(settle(false), PO_SYSTEMIC);
        fake_saw("BEGIN", "INSERT INTO claim", "ROLLBACK");
        fake_fail("INSERT INTO claim", PO_TRANSIENT, 1213);
        fake_rows("SELECT c.tenant_id");
        fake_row("1", "SQB:T1:X", "7", "0", NULL);
        ck_assert_int_eq(settle(false), PO_OK);
        ck_assert_int_eq(imported_settle(db, &sql, sorted, 0, false, &error), PO_OK);
}
END_TEST

UNIT_MAIN("imported", claim_and_outcome_are_one_transaction, keys_are_sorted_and_outcomes_by_claim,
          what_is_settled_stays_and_what_was_posted_is_told,
          an_unfinished_claim_is_settled_through_the_fence_and_is_parked_no_longer,
          a_worker_that_settles_it_meanwhile_has_it_read_again,
          a_key_that_stands_there_twice_is_one_claim,
          a_dry_run_leaves_nothing_and_a_failure_neither)

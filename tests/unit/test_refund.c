/* Rows of refund: what is locked, read and written. */
#include "fake_db.h"
#include "posting_fixture.h"

#include "ledger/refund.h"

static struct db *db;
static struct sql sql;

static struct refund named(int64_t tenant_id, const char *refund_no)
{
        struct refund refund = { .tenant_id = tenant_id };
        snprintf(refund.refund_no, sizeof refund.refund_no, "%s", refund_no);
        return refund;
}

START_TEST(rows_are_locked_by_primary_key_and_those_that_are_missing_stay_named)
{
        db = fake_db_open();
        struct refund refunds[] = { named(1, "A"), named(1, "it's"), named(2, "A") };
        fake_rows("FROM refund");
        fake_row("1", "it's", "R1", "300", "CNY", "REGISTERED", "300", NULL, NULL, NULL,
                 "REGISTERED");
        fake_row("2", "A", "R2", "5", "JPY", "SUCCEEDED", "0", "SQB", "F1", "77", "NOTICE");
        ck_assert_int_eq(refunds_lock(db, &sql, refunds, 3, &error), PO_OK);
        fake_saw(
                "SELECT tenant_id, refund_no, order_no, amount, currency, status, reserved, channel,"
                " txn, claim_id, origin FROM refund FORCE INDEX (PRIMARY) WHERE (tenant_id = 1 AND"
                " refund_no IN ('A','it\\'s')) OR (tenant_id = 2 AND refund_no IN ('A'))"
                " ORDER BY tenant_id, refund_no FOR UPDATE");
        ck_assert(!refunds[0].exists && refunds[1].exists && refunds[2].exists);
        ck_assert_int_eq(refunds[1].reserved, 300);
        ck_assert(refunds[1].registered && refunds[1].claim_id == 0);
        ck_assert(!refunds[2].registered && refunds[2].claim_id == 77);
        ck_assert_str_eq(refunds[2].status_read, "SUCCEEDED");
        ck_assert_int_eq(refunds_lock(db, &sql, refunds, 0, &error), PO_OK);
        fake_saw_nothing();
}
END_TEST

START_TEST(fresh_ones_are_inserted_and_moved_ones_updated_under_the_state_they_were_read_in)
{
        db = fake_db_open();
        struct refund refunds[] = { named(1, "A"), named(1, "B"), named(1, "C") };
        refunds[0].fresh = refunds[0].moved = true;
        refunds[0].amount_minor = 300;
        refunds[0].claim_id = 77;
        snprintf(refunds[0].txn, sizeof refunds[0].txn, "F1");
        refunds[1].moved = true;
        snprintf(refunds[1].status, sizeof refunds[1].status, "FAILED");
        snprintf(refunds[1].status_read, sizeof refunds[1].status_read, "REGISTERED");
        ck_assert_int_eq(refunds_write(db, &sql, refunds, 3, &error), PO_OK);
        fake_saw(
                "INSERT INTO refund (tenant_id, refund_no, order_no, amount, currency, status,"
                " reserved, channel, txn, claim_id, origin, created_at) VALUES (1,'A','',300,'','',"
                "0,'','F1',77,'NOTICE',UTC_TIMESTAMP(6))",
                "UPDATE (SELECT 1 AS tenant_id, 'B' AS refund_no, 'REGISTERED' AS status_read,"
                " 'FAILED' AS status, 0 AS reserved, NULL AS channel, NULL AS txn, 0 AS claim_id) m"
                " STRAIGHT_JOIN refund r FORCE INDEX (PRIMARY)");
}
END_TEST

START_TEST(another_number_of_refunds_than_were_judged_is_a_bug)
{
        db = fake_db_open();
        struct refund refund = named(1, "A");
        refund.moved = true;
        fake_affect("UPDATE (", 0);
        ck_assert_int_eq(refunds_write(db, &sql, &refund, 1, &error), PO_BUG);
}
END_TEST

START_TEST(without_a_number_the_movements_stands_in)
{
        struct po_notification notification = { .txn = "F1" };
        ck_assert_str_eq(refund_no_of(&notification), "F1");
        snprintf(notification.refund_no, sizeof notification.refund_no, "RF-1");
        ck_assert_str_eq(refund_no_of(&notification), "RF-1");
}
END_TEST

UNIT_MAIN("refund", rows_are_locked_by_primary_key_and_those_that_are_missing_stay_named,
          fresh_ones_are_inserted_and_moved_ones_updated_under_the_state_they_were_read_in,
          another_number_of_refunds_than_were_judged_is_a_bug,
          without_a_number_the_movements_stands_in)

/* Registering a refund: its own transaction, judged by affected rows; what is refused and why. */
#include "fake_db.h"
#include "posting_fixture.h"

#include "ledger/refund_reserve.h"

#define REGISTER_RULE "Q:\n  refund: { create: REGISTERED }\n  order: { from: [PAID, SHIPPED] }\n"

static struct db *db;
static struct sql sql;
static struct rules *rules;
static struct refund refund;
static bool again;

static enum po_class reserve(void)
{
        refund = (struct refund){ .tenant_id = 1, .amount_minor = 300 };
        snprintf(refund.refund_no, sizeof refund.refund_no, "RF-1");
        snprintf(refund.order_no, sizeof refund.order_no, "R1");
        snprintf(refund.currency, sizeof refund.currency, "CNY");
        return refund_reserve(db, &sql, rules_registering(rules), &refund, &again, &error);
}

static void start(void)
{
        db = fake_db_open();
        rules_free(rules);
        rules = fixture_rules("external: [PAID, SHIPPED]", REGISTER_RULE);
}

START_TEST(the_order_is_reserved_and_the_row_inserted_in_one_transaction)
{
        start();
        ck_assert_int_eq(reserve(), PO_OK);
        ck_assert(!again);
        ck_assert_str_eq(refund.status, "REGISTERED");
        ck_assert_int_eq(refund.reserved, 300);
        fake_saw(
                "BEGIN",
                "UPDATE payment_order SET refund_reserved = refund_reserved + 300, moved_at ="
                " UTC_TIMESTAMP(6) WHERE tenant_id = 1 AND order_no = 'R1' AND currency = 'CNY' AND"
                " status IN ('PAID','SHIPPED') AND refunded + refund_reserved + 300 <= paid_amount",
                "INSERT INTO refund", "SELECT 1 FROM parked", "COMMIT");
}
END_TEST

START_TEST(a_second_one_gets_the_first_ones_row)
{
        start();
        fake_fail("INSERT INTO refund", PO_EXISTS, 1062);
        fake_rows("FROM refund");
        fake_row("1", "RF-1", "R1", "300", "CNY", "SUCCEEDED", "0", "SQB", "F1", "77",
                 "REGISTERED");
        ck_assert_int_eq(reserve(), PO_OK);
        ck_assert(again);
        ck_assert_str_eq(refund.status, "SUCCEEDED");
        fake_saw("BEGIN", "UPDATE payment_order", "INSERT INTO refund", "ROLLBACK",
                 "SELECT tenant_id");
}
END_TEST

static void is_refused(const char *reason)
{
        ck_assert_int_eq(reserve(), PO_RECORD);
        ck_assert_str_eq(error.reason, reason);
}

START_TEST(another_content_of_the_same_number_is_refused)
{
        start();
        fake_affect("UPDATE payment_order", 0);
        fake_rows("FROM refund");
        fake_row("1", "RF-1", "R1", "301", "CNY", "REGISTERED", "301", NULL, NULL, NULL,
                 "REGISTERED");
        is_refused("REFUND_DIFFERS");
}
END_TEST

START_TEST(what_was_not_reserved_is_explained_by_its_order)
{
        static const struct {
                const char *currency, *status, *reason;
        } cases[] = { { "CNY", "PAID", "REFUND_EXCEEDS" },
                      { "USD", "PAID", "REFUND_DIFFERS" },
                      { "CNY", "CLOSED", "STATE_REFUSED" } };
        for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
                start();
                fake_affect("UPDATE payment_order", 0);
                fake_rows("FROM payment_order");
                fake_row("1", "R1", "1000", cases[i].currency, cases[i].status, "SQB", "T1", "1000",
                         "900", "0", NULL);
                is_refused(cases[i].reason);
        }
        start();
        fake_affect("UPDATE payment_order", 0);
        is_refused("ORDER_UNKNOWN");
}
END_TEST

START_TEST(whatever_fails_leaves_nothing_behind)
{
        static const char *const pieces[] = { "UPDATE payment_order", "INSERT INTO refund",
                                              "FROM parked" };
        for (size_t i = 0; i < sizeof pieces / sizeof pieces[0]; i++) {
                start();
                fake_fail(pieces[i], PO_SYSTEMIC, 1142);
                ck_assert_int_eq(reserve(), PO_SYSTEMIC);
                ck_assert(!db_is_in_transaction(db));
                ck_assert_uint_eq(fake_count("COMMIT"), 0);
        }
}
END_TEST

UNIT_MAIN("refund_reserve", the_order_is_reserved_and_the_row_inserted_in_one_transaction,
          a_second_one_gets_the_first_ones_row, another_content_of_the_same_number_is_refused,
          what_was_not_reserved_is_explained_by_its_order, whatever_fails_leaves_nothing_behind)

/* What a set is judged on: locked once, in the order of every writer, and found again. */
#include "fake_db.h"
#include "posting_fixture.h"

#include "ledger/rows.h"

#define REFUND_RULE                                                                                \
        "REFUND_SUCCEEDED:\n  refund: { from: [REGISTERED], to: SUCCEEDED }\n"                     \
        "  order: { from: [PAID], to: refunded_total }\n"

static struct db *db;
static struct sql sql;
static struct rules *rules;
static struct rows rows;

static void start(void)
{
        db = fake_db_open();
        rows_close(&rows);
        rules_free(rules);
        rules = fixture_rules(ORDERS_WITH_OTHERS, PAYMENT_RULE FEE_RULE REFUND_RULE);
        ck_assert_int_eq(rows_open(&rows, FIXTURE_MAX, &error), PO_OK);
}

START_TEST(orders_then_refunds_are_locked_sorted_and_each_once)
{
        start();
        fixture_posting(0, rules_find(rules, "PAYMENT_RECEIVED"), "T1", "B");
        fixture_posting(1, rules_find(rules, "REFUND_SUCCEEDED"), "F2", "A");
        fixture_posting(2, rules_find(rules, "REFUND_SUCCEEDED"), "F1", "B");
        fixture_posting(3, rules_find(rules, "FEE_CHARGED"), "X1", "C");
        fixture_posting(4, rules_find(rules, "REFUND_SUCCEEDED"), "F1", "");
        fake_rows("FROM payment_order");
        fake_row("1", "B", "5", "CNY", "PAID", NULL, NULL, NULL, "0", "0", NULL);
        ck_assert_int_eq(rows_lock(&rows, db, &sql, open_postings, 5, &error), PO_OK);
        fake_saw("SELECT tenant_id, order_no", "SELECT tenant_id, refund_no");
        unit_assert_in(fake_statement("SELECT tenant_id, order_no"), "order_no IN ('A','B')");
        unit_assert_in(fake_statement("SELECT tenant_id, refund_no"), "refund_no IN ('F1','F2')");
        ck_assert_str_eq(rows_order(&rows, &postings[0])->order_no, "B");
        ck_assert_ptr_null(rows_order(&rows, &postings[1]));
        ck_assert_ptr_eq(rows_order(&rows, &postings[2]), rows_order(&rows, &postings[0]));
        ck_assert_ptr_null(rows_order(&rows, &postings[3]));
        ck_assert_str_eq(rows_refund(&rows, &postings[1])->refund_no, "F2");
        ck_assert_ptr_eq(rows_refund(&rows, &postings[2]), rows_refund(&rows, &postings[4]));
}
END_TEST

START_TEST(only_what_was_touched_is_told)
{
        start();
        fixture_posting(0, rules_find(rules, "PAYMENT_RECEIVED"), "T1", "A");
        fixture_posting(1, rules_find(rules, "PAYMENT_RECEIVED"), "T2", "B");
        fake_rows("FROM payment_order");
        fake_row("1", "A", "5", "CNY", "PAID", NULL, NULL, NULL, "0", "0", NULL);
        fake_row("1", "B", "5", "CNY", "PAID", NULL, NULL, NULL, "0", "0", NULL);
        ck_assert_int_eq(rows_lock(&rows, db, &sql, open_postings, 2, &error), PO_OK);
        ck_assert_uint_eq(rows_touched(&rows), 0);
        rows_order(&rows, &postings[1])->touched = true;
        ck_assert_uint_eq(rows_touched(&rows), 1);
        ck_assert_str_eq(rows.ids[0].order_no, "B");
}
END_TEST

START_TEST(half_made_ones_are_closed_like_any)
{
        struct rows none = { 0 };
        rows_close(&none);
}
END_TEST

UNIT_MAIN("rows", orders_then_refunds_are_locked_sorted_and_each_once,
          only_what_was_touched_is_told, half_made_ones_are_closed_like_any)

/* What a notification is about and does not say: a refund's order, a reversal's payment. */
#include "fake_db.h"
#include "posting_fixture.h"

#define SUBJECT_RULES                                                                              \
        PAYMENT_RULE                                                                               \
        "PAYMENT_REVERSED:\n  reverses: PAYMENT_RECEIVED\n"                                        \
        "  order: { from: [PAID], to: REVERSED }\n"                                                \
        "REFUND_SUCCEEDED:\n  refund: { from: [REGISTERED], to: SUCCEEDED }\n"                     \
        "  order: { from: [PAID], to: refunded_total }\n"                                          \
        "REFUND_FAILED:\n  refund: { from: [REGISTERED], reverse: [SUCCEEDED], to: FAILED }\n"

static struct db *db;
static struct sql sql;
static struct rules *rules;

static struct posting *start(const char *event, const char *txn, const char *order_no,
                             const char *parent)
{
        db = fake_db_open();
        rules_free(rules);
        rules = fixture_rules(ORDERS_WITH_OTHERS, SUBJECT_RULES);
        struct posting *posting = fixture_posting(0, rules_find(rules, event), txn, order_no);
        snprintf(notifications[0].parent, sizeof notifications[0].parent, "%s", parent);
        return posting;
}

static void find(void)
{
        ck_assert_int_eq(subjects_find(db, &sql, open_postings, 1, &error), PO_OK);
}

START_TEST(what_names_its_order_asks_nothing)
{
        struct posting *posting = start("PAYMENT_RECEIVED", "T1", "R1", "");
        find();
        ck_assert_str_eq(posting->subject.order_no, "R1");
        start("REFUND_SUCCEEDED", "F1", "R1", "T1");
        find();
        fake_saw_nothing();
}
END_TEST

START_TEST(a_refunds_order_stands_in_its_registration)
{
        struct posting *posting = start("REFUND_SUCCEEDED", "F1", "", "T1");
        fake_rows("FROM refund");
        fake_row("1", "F1", "R1", "300", "CNY", "REGISTERED", "300", NULL, NULL, NULL,
                 "REGISTERED");
        find();
        ck_assert_str_eq(posting->subject.order_no, "R1");
        fake_saw("SELECT tenant_id, refund_no");
}
END_TEST

START_TEST(a_refunds_order_is_its_payments)
{
        struct posting *posting = start("REFUND_SUCCEEDED", "F1", "", "T1");
        fake_rows("FROM claim");
        fake_row("1", "SQB:T1:PAYMENT_RECEIVED", "66", "R7", "1000", "CNY");
        find();
        ck_assert_str_eq(posting->subject.order_no, "R7");
        ck_assert_int_eq(posting->subject.claim_id, 0);
        unit_assert_in(fake_statement("SELECT c."),
                       "(c.tenant_id = 1 AND c.idem_key = 'SQB:T1:PAYMENT_RECEIVED')");
        char awaited[PO_KEY_BYTES];
        ck_assert(subject_awaited(posting, awaited));
        ck_assert_str_eq(awaited, "SQB:T1:PAYMENT_RECEIVED");
}
END_TEST

START_TEST(a_reversals_payment_bears_its_own_number_before_its_parents)
{
        struct posting *posting = start("PAYMENT_REVERSED", "T1", "", "T0");
        fake_rows("FROM claim");
        fake_row("1", "SQB:T1:PAYMENT_RECEIVED", "66", "R7", "1000", "CNY");
        fake_row("1", "SQB:T0:PAYMENT_RECEIVED", "65", "R6", "900", "CNY");
        find();
        ck_assert_int_eq(posting->subject.claim_id, 66);
        ck_assert_str_eq(posting->subject.txn, "T1");
        ck_assert_str_eq(posting->subject.order_no, "R7");
        ck_assert_int_eq(posting->subject.amount_minor, 1000);

        fake_rows("FROM outcome");
        fake_row("66", "POSTED", NULL);
        ck_assert_int_eq(subjects_read(db, &sql, open_postings, 1, &error), PO_OK);
        ck_assert_int_eq(posting->subject.verdict, VERDICT_POSTED);
        ck_assert(!posting->subject.reversed);
        fake_rows("FROM outcome");
        fake_row("66", "POSTED", "70");
        ck_assert_int_eq(subjects_read(db, &sql, open_postings, 1, &error), PO_OK);
        ck_assert(posting->subject.reversed);
}
END_TEST

START_TEST(a_failures_success_bears_its_own_number_and_its_payment_says_the_order)
{
        struct posting *posting = start("REFUND_FAILED", "F1", "", "T1");
        fake_rows("FROM claim");
        fake_row("1", "SQB:F1:REFUND_SUCCEEDED", "66", "R6", "300", "CNY");
        fake_row("1", "SQB:T1:PAYMENT_RECEIVED", "65", "R7", "1000", "CNY");
        fake_row("2", "SQB:F1:REFUND_SUCCEEDED", "67", "R8", "300", "CNY");
        find();
        ck_assert_int_eq(posting->subject.claim_id, 66);
        ck_assert_int_eq(posting->subject.amount_minor, 300);
        ck_assert_str_eq(posting->subject.currency, "CNY");
        ck_assert_str_eq(posting->subject.order_no, "R7");
        unit_assert_in(fake_statement("SELECT c."), "c.idem_key = 'SQB:F1:REFUND_SUCCEEDED')");
        posting->subject.suspended_now = true;
        fake_rows("FROM outcome");
        fake_row("66", "SUSPENSE", NULL);
        ck_assert_int_eq(subjects_read(db, &sql, open_postings, 1, &error), PO_OK);
        ck_assert_int_eq(posting->subject.verdict, VERDICT_SUSPENSE);
        ck_assert(!posting->subject.suspended_now);
}
END_TEST

START_TEST(a_reversal_that_names_another_order_than_its_payments_is_told)
{
        static const struct {
                const char *said, *of_payment;
                bool another;
        } cases[] = { { "R7", "R7", false },
                      { "R7", "R6", true },
                      { "", "R6", false },
                      { "R7", NULL, false } };
        for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
                struct posting *posting = start("PAYMENT_REVERSED", "T1", cases[i].said, "");
                fake_rows("FROM claim");
                fake_row("1", "SQB:T1:PAYMENT_RECEIVED", "66", cases[i].of_payment, "1000", "CNY");
                find();
                ck_assert(posting->subject.of_another_order == cases[i].another);
                ck_assert_str_eq(posting->subject.order_no,
                                 cases[i].said[0] != '\0' ? cases[i].said : "R6");
        }
}
END_TEST

START_TEST(a_payment_awaits_nothing)
{
        char awaited[PO_KEY_BYTES];
        ck_assert(!subject_awaited(start("PAYMENT_RECEIVED", "T1", "R1", "T0"), awaited));
        ck_assert(!subject_awaited(start("REFUND_SUCCEEDED", "F1", "R1", ""), awaited));
        ck_assert(subject_awaited(start("PAYMENT_REVERSED", "T1", "R1", ""), awaited));
        ck_assert_str_eq(awaited, "SQB:T1:PAYMENT_RECEIVED");
}
END_TEST

/* A batch of refunds without an order asks twice, however many they are. */
START_TEST(many_refunds_are_one_read_and_their_payments_another)
{
        static const char *const txns[] = { "F3", "F1", "F2", "F1" };
        start("REFUND_SUCCEEDED", "F3", "", "T3");
        for (size_t i = 1; i < 4; i++) {
                fixture_posting(i, rules_find(rules, "REFUND_SUCCEEDED"), txns[i], "");
                snprintf(notifications[i].parent, sizeof notifications[i].parent, "T1");
        }
        fake_rows("FROM refund");
        fake_row("1", "F2", "R2", "300", "CNY", "REGISTERED", "300", NULL, NULL, NULL,
                 "REGISTERED");
        fake_rows("FROM claim");
        fake_row("1", "SQB:T1:PAYMENT_RECEIVED", "66", "R1", "1000", "CNY");
        fake_row("2", "SQB:T3:PAYMENT_RECEIVED", "67", "R3", "1000", "CNY");
        ck_assert_int_eq(subjects_find(db, &sql, open_postings, 4, &error), PO_OK);
        ck_assert_str_eq(postings[0].subject.order_no, "");
        ck_assert_str_eq(postings[1].subject.order_no, "R1");
        ck_assert_str_eq(postings[2].subject.order_no, "R2");
        ck_assert_str_eq(postings[3].subject.order_no, "R1");
        unit_assert_in(fake_statement("SELECT tenant_id, refund_no"),
                       "refund_no IN ('F1','F2','F3'))");
        unit_assert_in(fake_statement("SELECT c.tenant_id"),
                       "WHERE (c.tenant_id = 1 AND c.idem_key = 'SQB:T1:PAYMENT_RECEIVED')"
                       " OR (c.tenant_id = 1 AND c.idem_key = 'SQB:T3:PAYMENT_RECEIVED')");
        fake_saw("SELECT tenant_id, refund_no", "SELECT c.tenant_id");
}
END_TEST

UNIT_MAIN("subject", many_refunds_are_one_read_and_their_payments_another,
          what_names_its_order_asks_nothing, a_refunds_order_stands_in_its_registration,
          a_refunds_order_is_its_payments,
          a_reversals_payment_bears_its_own_number_before_its_parents,
          a_failures_success_bears_its_own_number_and_its_payment_says_the_order,
          a_reversal_that_names_another_order_than_its_payments_is_told, a_payment_awaits_nothing)

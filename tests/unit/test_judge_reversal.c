/* What a notification that takes a payment back does to its order, case by case. */
#include "posting_fixture.h"

#include "ledger/judge_reversal.h"
#include "ledger/review.h"

#define REVERSAL_RULES                                                                             \
        PAYMENT_RULE                                                                               \
        "PAYMENT_REVERSED:\n  reverses: PAYMENT_RECEIVED\n"                                        \
        "  order: { from: [PAID, SHIPPED], to: REVERSED, wait: [DRAFT] }\n"                        \
        "TAKEN_BACK:\n  reverses: PAYMENT_RECEIVED\n"

static struct rules *rules;
static struct order order;
static struct subject target;
static struct judgement judgement;

static void start(const char *status, enum verdict verdict)
{
        rules_free(rules);
        rules = fixture_rules(ORDERS_WITH_OTHERS, REVERSAL_RULES);
        fixture_posting(0, rules_find(rules, "PAYMENT_REVERSED"), "T1", "R8-1");
        order = (struct order){ .tenant_id = 1, .amount_minor = 12880, .paid_amount = 12880 };
        snprintf(order.status, sizeof order.status, "%s", status);
        snprintf(order.paid_channel, sizeof order.paid_channel, "SQB");
        snprintf(order.paid_txn, sizeof order.paid_txn, "T1");
        target = (struct subject){ .claim_id = 66,
                                   .channel = "SQB",
                                   .txn = "T1",
                                   .amount_minor = 12880,
                                   .currency = "CNY",
                                   .verdict = verdict };
}

static void is_by(const char *event, struct order *its_order, enum verdict verdict,
                  const char *result, const char *reason, const char *review)
{
        memset(&judgement, 0x5a, sizeof judgement);
        judge_reversal(rules_find(rules, event), &notifications[0], &target, its_order, &judgement);
        ck_assert_str_eq(verdict_name(judgement.verdict), verdict_name(verdict));
        ck_assert_str_eq(judgement.result, result);
        ck_assert_pstr_eq(judgement.reason, reason);
        ck_assert_pstr_eq(judgement.review, review);
        ck_assert_int_eq(judgement.reverses, verdict == VERDICT_POSTED ? 66 : 0);
}

static void is(struct order *its_order, enum verdict verdict, const char *result,
               const char *reason, const char *review)
{
        is_by("PAYMENT_REVERSED", its_order, verdict, result, reason, review);
}

START_TEST(a_payment_is_taken_back_and_its_order_is_not_paid)
{
        start("PAID", VERDICT_POSTED);
        is(&order, VERDICT_POSTED, "{\"posted\":\"REVERSED\"}", NULL, NULL);
        ck_assert_str_eq(order.status, "REVERSED");
        ck_assert_str_eq(order.paid_txn, "");
        ck_assert_int_eq(order.paid_amount, 0);
        ck_assert(order.moved);
}
END_TEST

START_TEST(an_order_that_does_not_carry_the_payment_stays_for_a_person_to_see)
{
        start("PAID", VERDICT_POSTED);
        snprintf(order.paid_txn, sizeof order.paid_txn, "T2");
        is(&order, VERDICT_SUSPENSE, "{\"suspense\":\"PAID\"}", NULL, REVIEW_PAYMENT_DIFFERS);
        ck_assert(!order.moved);
        start("PAID", VERDICT_POSTED);
        snprintf(order.paid_channel, sizeof order.paid_channel, "WECHAT");
        is(&order, VERDICT_SUSPENSE, "{\"suspense\":\"PAID\"}", NULL, REVIEW_PAYMENT_DIFFERS);
        start("PAID", VERDICT_POSTED);
        target.of_another_order = true;
        is(&order, VERDICT_SUSPENSE, "{\"suspense\":\"PAID\"}", NULL, REVIEW_PAYMENT_DIFFERS);
        ck_assert_int_eq(judgement.amount_minor, 12880);
        target.verdict = VERDICT_SUSPENSE;
        is(&order, VERDICT_SUSPENSE, "{\"suspense\":\"PAID\"}", NULL, REVIEW_PAYMENT_DIFFERS);
        ck_assert(!order.moved);
}
END_TEST

START_TEST(an_order_that_records_no_payment_follows_all_the_same)
{
        start("PAID", VERDICT_POSTED);
        order.paid_channel[0] = order.paid_txn[0] = '\0';
        is(&order, VERDICT_POSTED, "{\"posted\":\"REVERSED\"}", NULL, NULL);
        ck_assert(order.moved);
}
END_TEST

START_TEST(a_reversal_without_order_must_be_of_the_whole_payment)
{
        start("PAID", VERDICT_POSTED);
        is_by("TAKEN_BACK", NULL, VERDICT_POSTED, "{\"posted\":\"TAKEN_BACK\"}", NULL, NULL);
        notifications[0].amount_minor = 5000;
        is_by("TAKEN_BACK", NULL, VERDICT_SUSPENSE, "{\"suspense\":\"POSTED\"}", NULL,
              REVIEW_AMOUNT_DIFFERS);
        ck_assert_int_eq(judgement.amount_minor, 5000);
        notifications[0].amount_kind = PO_AMOUNT_NONE;
        is_by("TAKEN_BACK", NULL, VERDICT_POSTED, "{\"posted\":\"TAKEN_BACK\"}", NULL, NULL);
}
END_TEST

START_TEST(what_is_not_posted_yet_is_waited_for)
{
        start("PAID", VERDICT_NONE);
        is(&order, VERDICT_PARKED, "", "PAYMENT_UNKNOWN", NULL);
        target.claim_id = 0;
        is(NULL, VERDICT_PARKED, "", "PAYMENT_UNKNOWN", NULL);
        start("DRAFT", VERDICT_POSTED);
        is(&order, VERDICT_PARKED, "", "TOO_EARLY", NULL);
        is(NULL, VERDICT_PARKED, "", "ORDER_UNKNOWN", NULL);
}
END_TEST

START_TEST(what_was_taken_back_is_not_taken_back_again)
{
        start("REVERSED", VERDICT_POSTED);
        target.reversed = true;
        is(&order, VERDICT_SKIPPED, "{\"skipped\":\"REVERSED\"}", NULL, NULL);
}
END_TEST

START_TEST(money_in_suspense_goes_from_there_and_the_order_stays)
{
        start("CLOSED", VERDICT_SUSPENSE);
        is(&order, VERDICT_POSTED, "{\"posted\":\"PAYMENT_REVERSED\"}", NULL, NULL);
        ck_assert(judgement.silent && !order.moved);
        is(NULL, VERDICT_POSTED, "{\"posted\":\"PAYMENT_REVERSED\"}", NULL, NULL);
}
END_TEST

START_TEST(what_cannot_be_taken_back_whole_stands_in_suspense)
{
        start("CLOSED", VERDICT_POSTED);
        is(&order, VERDICT_SUSPENSE, "{\"suspense\":\"CLOSED\"}", NULL, REVIEW_STATE_REFUSED);
        ck_assert_int_eq(judgement.amount_minor, 12880);
        start("PAID", VERDICT_POSTED);
        order.refund_reserved = 1;
        is(&order, VERDICT_SUSPENSE, "{\"suspense\":\"PAID\"}", NULL, REVIEW_REFUND_OPEN);
        start("PAID", VERDICT_POSTED);
        notifications[0].amount_minor = 12879;
        is(&order, VERDICT_SUSPENSE, "{\"suspense\":\"PAID\"}", NULL, REVIEW_AMOUNT_DIFFERS);
        ck_assert_int_eq(judgement.amount_minor, 12879);
        ck_assert(!order.moved);
}
END_TEST

START_TEST(a_payment_that_was_not_posted_here_is_a_persons_matter)
{
        start("PAID", VERDICT_SKIPPED);
        is(&order, VERDICT_SKIPPED, "{\"skipped\":\"SKIPPED\"}", NULL, REVIEW_NO_POSTING_RECORDED);
        ck_assert(!order.moved);
}
END_TEST

UNIT_MAIN("judge_reversal", a_payment_is_taken_back_and_its_order_is_not_paid,
          an_order_that_does_not_carry_the_payment_stays_for_a_person_to_see,
          an_order_that_records_no_payment_follows_all_the_same,
          a_reversal_without_order_must_be_of_the_whole_payment,
          what_is_not_posted_yet_is_waited_for, what_was_taken_back_is_not_taken_back_again,
          money_in_suspense_goes_from_there_and_the_order_stays,
          what_cannot_be_taken_back_whole_stands_in_suspense,
          a_payment_that_was_not_posted_here_is_a_persons_matter)

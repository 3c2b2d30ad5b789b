/* The state machine: what a notification does to a locked order, case by case. */
#include "posting_fixture.h"

#include "ledger/judge.h"
#include "ledger/review.h"

#define PAYMENT(otherwise_word)                                                                    \
        "PAYMENT_RECEIVED:\n"                                                                      \
        "  order: { from: [PENDING_PAY, RETRY], to: PAID, already: [PAID, SHIPPED],"               \
        " wait: [DRAFT] }\n"                                                                       \
        "  otherwise: " otherwise_word "\n"                                                        \
        "  post: [ { debit: a, credit: b, amount: amount } ]\n"
#define STATES_AROUND "external: [SHIPPED, DRAFT, CLOSED, RETRY]"

struct judge_case {
        const char *name;
        /* the order */
        const char *status, *paid_txn;
        int64_t order_amount;
        const char *order_currency;
        /* expected */
        enum verdict verdict;
        const char *result, *reason;
        const char *review;
        bool moved;
        const char *status_after, *paid_txn_after;
};

static const struct judge_case judge_cases[] = {
        { "from", "PENDING_PAY", "", 12880, "CNY", VERDICT_POSTED, "{\"posted\":\"PAID\"}", NULL,
          NULL, true, "PAID", "T1" },
        { "another from", "RETRY", "", 12880, "CNY", VERDICT_POSTED, "{\"posted\":\"PAID\"}", NULL,
          NULL, true, "PAID", "T1" },
        { "from, this txn recorded", "PENDING_PAY", "T1", 12880, "CNY", VERDICT_POSTED,
          "{\"posted\":\"PAID\"}", NULL, NULL, true, "PAID", "T1" },
        { "from, another txn recorded", "PENDING_PAY", "T0", 12880, "CNY", VERDICT_SUSPENSE,
          "{\"suspense\":\"PENDING_PAY\"}", NULL, REVIEW_SECOND_PAYMENT, false, "PENDING_PAY",
          "T0" },
        { "from, amount differs", "PENDING_PAY", "", 12881, "CNY", VERDICT_SUSPENSE,
          "{\"suspense\":\"PENDING_PAY\"}", NULL, REVIEW_AMOUNT_DIFFERS, false, "PENDING_PAY", "" },
        { "from, currency differs", "PENDING_PAY", "", 12880, "USD", VERDICT_SUSPENSE,
          "{\"suspense\":\"PENDING_PAY\"}", NULL, REVIEW_AMOUNT_DIFFERS, false, "PENDING_PAY", "" },
        { "already, this txn recorded", "PAID", "T1", 12880, "CNY", VERDICT_SKIPPED,
          "{\"skipped\":\"PAID\"}", NULL, NULL, false, "PAID", "T1" },
        { "further on, this txn recorded", "SHIPPED", "T1", 12880, "CNY", VERDICT_SKIPPED,
          "{\"skipped\":\"SHIPPED\"}", NULL, NULL, false, "SHIPPED", "T1" },
        { "further on, none recorded", "SHIPPED", "", 12880, "CNY", VERDICT_SKIPPED,
          "{\"skipped\":\"SHIPPED\"}", NULL, REVIEW_NO_POSTING_RECORDED, true, "SHIPPED", "T1" },
        { "further on, none recorded, amount differs", "SHIPPED", "", 100, "CNY", VERDICT_SUSPENSE,
          "{\"suspense\":\"SHIPPED\"}", NULL, REVIEW_AMOUNT_DIFFERS, false, "SHIPPED", "" },
        { "further on, none recorded, currency differs", "SHIPPED", "", 12880, "USD",
          VERDICT_SUSPENSE, "{\"suspense\":\"SHIPPED\"}", NULL, REVIEW_AMOUNT_DIFFERS, false,
          "SHIPPED", "" },
        { "already, another txn recorded", "PAID", "T0", 12880, "CNY", VERDICT_SUSPENSE,
          "{\"suspense\":\"PAID\"}", NULL, REVIEW_SECOND_PAYMENT, false, "PAID", "T0" },
        { "further on, another txn recorded", "SHIPPED", "T0", 12880, "CNY", VERDICT_SUSPENSE,
          "{\"suspense\":\"SHIPPED\"}", NULL, REVIEW_SECOND_PAYMENT, false, "SHIPPED", "T0" },
        { "wait", "DRAFT", "", 12880, "CNY", VERDICT_PARKED, "", "TOO_EARLY", NULL, false, "DRAFT",
          "" },
        { "otherwise suspense", "CLOSED", "", 12880, "CNY", VERDICT_SUSPENSE,
          "{\"suspense\":\"CLOSED\"}", NULL, REVIEW_STATE_REFUSED, false, "CLOSED", "" },
        { "a state of no rule", "ELSE", "", 12880, "CNY", VERDICT_SUSPENSE,
          "{\"suspense\":\"ELSE\"}", NULL, REVIEW_STATE_REFUSED, false, "ELSE", "" },
};

static struct order order_of(const char *status, const char *paid_txn, int64_t amount,
                             const char *currency)
{
        struct order order = { .tenant_id = 1, .amount_minor = amount };
        snprintf(order.order_no, sizeof order.order_no, "R8-1");
        snprintf(order.currency, sizeof order.currency, "%s", currency);
        snprintf(order.status, sizeof order.status, "%s", status);
        snprintf(order.status_read, sizeof order.status_read, "%s", status);
        if (paid_txn[0] != '\0') {
                snprintf(order.paid_channel, sizeof order.paid_channel, "SQB");
                snprintf(order.paid_txn, sizeof order.paid_txn, "%s", paid_txn);
                order.paid_amount = amount;
        }
        return order;
}

static struct rules *rules;
static struct judgement judgement;

/* A payment of 128.80 CNY under T1. */
static struct po_notification *payment(const char *events)
{
        rules_free(rules);
        rules = fixture_rules(STATES_AROUND, events);
        return &notifications[fixture_posting(0, rules_at(rules, 0), "T1", "R8-1")->turn];
}

static void judge_it(const struct po_notification *notification, struct order *order)
{
        memset(&judgement, 0x5a, sizeof judgement);
        judge(rules, rules_find(rules, notification->event), notification, order, &judgement);
}

static void is(enum verdict verdict, const char *result, const char *reason)
{
        ck_assert_str_eq(verdict_name(judgement.verdict), verdict_name(verdict));
        ck_assert_str_eq(judgement.result, result);
        ck_assert_pstr_eq(judgement.reason, reason);
}

START_TEST(an_orders_state_and_payment_decide)
{
        struct po_notification *notification = payment(PAYMENT("suspense"));
        for (size_t i = 0; i < sizeof judge_cases / sizeof judge_cases[0]; i++) {
                const struct judge_case *given = &judge_cases[i];
                struct order order = order_of(given->status, given->paid_txn, given->order_amount,
                                              given->order_currency);
                judge_it(notification, &order);
                const char *reason = judgement.reason != NULL ? judgement.reason : "none";
                ck_assert_msg(judgement.verdict == given->verdict, "%s: %s, %s", given->name,
                              verdict_name(judgement.verdict), reason);
                is(given->verdict, given->result, given->reason);
                ck_assert_pstr_eq(judgement.review, given->review);
                ck_assert_msg(order.moved == given->moved, "%s: moved", given->name);
                ck_assert_str_eq(order.status, given->status_after);
                ck_assert_str_eq(order.paid_txn, given->paid_txn_after);
                ck_assert_str_eq(order.status_read, given->status);
        }
}
END_TEST

START_TEST(a_moved_order_records_its_payment_whole)
{
        struct po_notification *notification = payment(PAYMENT("suspense"));
        struct order order = order_of("PENDING_PAY", "", 12880, "CNY");
        judge_it(notification, &order);
        ck_assert_str_eq(order.paid_channel, "SQB");
        ck_assert_str_eq(order.paid_txn, "T1");
        ck_assert_int_eq(order.paid_amount, 12880);
        order = order_of("SHIPPED", "", 12880, "CNY");
        judge_it(notification, &order);
        ck_assert_str_eq(order.paid_channel, "SQB");
        ck_assert_int_eq(order.paid_amount, 12880);
}
END_TEST

START_TEST(the_same_txn_of_another_channel_is_another_payment)
{
        struct po_notification *notification = payment(PAYMENT("suspense"));
        struct order order = order_of("PAID", "T1", 12880, "CNY");
        snprintf(order.paid_channel, sizeof order.paid_channel, "WECHAT");
        judge_it(notification, &order);
        is(VERDICT_SUSPENSE, "{\"suspense\":\"PAID\"}", NULL);
        ck_assert_str_eq(judgement.review, REVIEW_SECOND_PAYMENT);
}
END_TEST

START_TEST(in_no_list_the_rules_otherwise_decides)
{
        struct po_notification *notification = payment(PAYMENT("skip"));
        struct order order = order_of("CLOSED", "", 12880, "CNY");
        judge_it(notification, &order);
        is(VERDICT_SKIPPED, "{\"skipped\":\"CLOSED\"}", NULL);
        ck_assert(!order.moved && !judgement.review);

        notification = payment(PAYMENT("reject"));
        judge_it(notification, &order);
        is(VERDICT_REJECTED, "", "STATE_REFUSED");
        ck_assert(!order.moved);

        /* The lists come first. */
        order = order_of("DRAFT", "", 12880, "CNY");
        judge_it(notification, &order);
        is(VERDICT_PARKED, "", "TOO_EARLY");
}
END_TEST

START_TEST(any_amount_moves_the_order_where_the_configuration_says_any)
{
        rules_free(rules);
        rules = fixture_rules("{ amount: any, external: [SHIPPED] }",
                              "PAYMENT_RECEIVED:\n"
                              "  order: { from: [PENDING_PAY], to: PAID, already: [SHIPPED] }\n");
        fixture_posting(0, rules_at(rules, 0), "T1", "R8-1");
        struct order order = order_of("PENDING_PAY", "", 1, "CNY");
        judge_it(&notifications[0], &order);
        is(VERDICT_POSTED, "{\"posted\":\"PAID\"}", NULL);
        ck_assert_int_eq(order.paid_amount, 12880);
        ck_assert_int_eq(order.amount_minor, 1);
        order = order_of("PENDING_PAY", "", 12880, "USD");
        judge_it(&notifications[0], &order);
        is(VERDICT_SUSPENSE, "{\"suspense\":\"PENDING_PAY\"}", NULL);
        ck_assert_str_eq(judgement.review, REVIEW_AMOUNT_DIFFERS);
        order = order_of("SHIPPED", "", 12880, "USD");
        judge_it(&notifications[0], &order);
        is(VERDICT_SUSPENSE, "{\"suspense\":\"SHIPPED\"}", NULL);
        order = order_of("SHIPPED", "", 1, "CNY");
        judge_it(&notifications[0], &order);
        is(VERDICT_SKIPPED, "{\"skipped\":\"SHIPPED\"}", NULL);
        ck_assert_str_eq(judgement.review, REVIEW_NO_POSTING_RECORDED);
}
END_TEST

START_TEST(an_unknown_order_parks)
{
        judge_it(payment(PAYMENT("reject")), NULL);
        is(VERDICT_PARKED, "", "ORDER_UNKNOWN");
}
END_TEST

START_TEST(a_rule_without_order_posts_whatever_the_order)
{
        struct po_notification *notification = payment(FEE_RULE);
        judge_it(notification, NULL);
        is(VERDICT_POSTED, "{\"posted\":\"FEE_CHARGED\"}", NULL);
        struct order order = order_of("CLOSED", "T0", 1, "USD");
        judge_it(notification, &order);
        is(VERDICT_POSTED, "{\"posted\":\"FEE_CHARGED\"}", NULL);
        ck_assert(!order.moved);
}
END_TEST

START_TEST(promised_money_moves_the_order_and_is_no_payment)
{
        struct po_notification *notification =
                payment("PAYMENT_AUTHORISED:\n"
                        "  order: { from: [PENDING_PAY], to: AUTHORISED, already: [AUTHORISED] }\n"
                        "  money: promised\n");
        struct order order = order_of("PENDING_PAY", "", 1, "USD");
        judge_it(notification, &order);
        is(VERDICT_POSTED, "{\"posted\":\"AUTHORISED\"}", NULL);
        ck_assert_str_eq(order.paid_txn, "");
        ck_assert_int_eq(order.paid_amount, 0);
        ck_assert_int_eq(judgement.amount_minor, 0);
        judge_it(notification, &order);
        is(VERDICT_SKIPPED, "{\"skipped\":\"AUTHORISED\"}", NULL);
        ck_assert_ptr_null(judgement.review);
        order = order_of("CLOSED", "", 1, "USD");
        judge_it(notification, &order);
        is(VERDICT_REJECTED, "", "STATE_REFUSED");
}
END_TEST

START_TEST(lines_without_an_amount_of_their_own_are_rejected)
{
        static const enum po_amount_kind kinds[] = { PO_AMOUNT_NONE, PO_AMOUNT_CUMULATIVE,
                                                     PO_AMOUNT_NET };
        struct po_notification *notification = payment(PAYMENT("suspense"));
        struct order order = order_of("PENDING_PAY", "", 12880, "CNY");
        for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
                notification->amount_kind = kinds[i];
                judge_it(notification, &order);
                is(VERDICT_REJECTED, "", "AMOUNT_MISSING");
                ck_assert(!order.moved);
        }
}
END_TEST

START_TEST(an_event_without_money_moves_the_order_and_records_no_payment)
{
        struct po_notification *notification =
                payment("ORDER_SHIPPED:\n"
                        "  order: { from: [PAID], to: SHIPPED, already: [SHIPPED] }\n"
                        "X:\n  order: { from: [PENDING_PAY], to: PAID }\n");
        notification->amount_kind = PO_AMOUNT_NONE;
        notification->amount_minor = 0;
        struct order order = order_of("PAID", "T0", 12880, "CNY");
        judge_it(notification, &order);
        is(VERDICT_POSTED, "{\"posted\":\"SHIPPED\"}", NULL);
        ck_assert_str_eq(order.paid_txn, "T0");
        ck_assert_int_eq(order.paid_amount, 12880);

        order = order_of("SHIPPED", "", 12880, "CNY");
        judge_it(notification, &order);
        is(VERDICT_SKIPPED, "{\"skipped\":\"SHIPPED\"}", NULL);
        ck_assert(!judgement.review && !order.moved);
        ck_assert_str_eq(order.paid_txn, "");
}
END_TEST

START_TEST(two_notifications_of_one_order_are_judged_one_after_the_other)
{
        struct po_notification *notification = payment(PAYMENT("suspense"));
        struct order order = order_of("PENDING_PAY", "", 12880, "CNY");
        judge_it(notification, &order);
        is(VERDICT_POSTED, "{\"posted\":\"PAID\"}", NULL);

        /* another payment of the order that is paid by now */
        struct po_notification second = *notification;
        snprintf(second.txn, sizeof second.txn, "T2");
        judge_it(&second, &order);
        is(VERDICT_SUSPENSE, "{\"suspense\":\"PAID\"}", NULL);
        ck_assert_str_eq(judgement.review, REVIEW_SECOND_PAYMENT);
        ck_assert_str_eq(order.paid_txn, "T1");

        /* the same money under another event's key */
        judge_it(notification, &order);
        is(VERDICT_SKIPPED, "{\"skipped\":\"PAID\"}", NULL);
        ck_assert_str_eq(order.status, "PAID");
        ck_assert_str_eq(order.status_read, "PENDING_PAY");
        ck_assert(order.moved);
}
END_TEST

static void give_up(const struct po_notification *notification, const struct order *order)
{
        judge_give_up(rules_find(rules, notification->event), order, &judgement);
}

START_TEST(one_with_money_gives_up_to_suspense_for_a_person)
{
        struct po_notification *notification = payment(PAYMENT("suspense"));
        judge_it(notification, NULL);
        give_up(notification, NULL);
        is(VERDICT_SUSPENSE, "{\"suspense\":\"UNKNOWN\"}", NULL);
        ck_assert_str_eq(judgement.review, REVIEW_PARK_GAVE_UP);

        struct order order = order_of("DRAFT", "", 12880, "CNY");
        judge_it(notification, &order);
        give_up(notification, &order);
        is(VERDICT_SUSPENSE, "{\"suspense\":\"DRAFT\"}", NULL);
        ck_assert_str_eq(judgement.review, REVIEW_PARK_GAVE_UP);
        ck_assert(!order.moved);
        ck_assert(judge_carries_money(rules_at(rules, 0), notification));
}
END_TEST

START_TEST(one_without_money_gives_up_as_a_dead_letter)
{
        static const char rule[] = "ORDER_SHIPPED:\n"
                                   "  order: { from: [PAID], to: SHIPPED, wait: [PENDING_PAY] }\n"
                                   "X:\n  order: { from: [PENDING_PAY], to: PAID }\n";
        struct po_notification *notification = payment(rule);
        struct order order = order_of("PENDING_PAY", "", 12880, "CNY");
        for (int kind = PO_AMOUNT_NONE; kind <= PO_AMOUNT_NET; kind++) {
                /* An amount that no line posts is not ours to keep. */
                notification->amount_kind = (enum po_amount_kind)kind;
                judge_it(notification, &order);
                is(VERDICT_PARKED, "", "TOO_EARLY");
                give_up(notification, &order);
                is(VERDICT_REJECTED, "", "PARK_GAVE_UP");
                ck_assert_ptr_null(judgement.review);
                ck_assert(!judge_carries_money(rules_at(rules, 0), notification));
        }
}
END_TEST

START_TEST(what_does_not_wait_does_not_give_up)
{
        struct po_notification *notification = payment(PAYMENT("suspense"));
        struct order order = order_of("PENDING_PAY", "", 12880, "CNY");
        judge_it(notification, &order);
        give_up(notification, &order);
        is(VERDICT_POSTED, "{\"posted\":\"PAID\"}", NULL);
        order = order_of("CLOSED", "", 12880, "CNY");
        judge_it(notification, &order);
        give_up(notification, &order);
        is(VERDICT_SUSPENSE, "{\"suspense\":\"CLOSED\"}", NULL);
        ck_assert_str_eq(judgement.review, REVIEW_STATE_REFUSED);
}
END_TEST

START_TEST(without_money_nothing_goes_to_suspense)
{
        struct po_notification *notification =
                payment("ORDER_SHIPPED:\n"
                        "  order: { from: [PAID], to: SHIPPED }\n"
                        "X:\n  order: { from: [PENDING_PAY], to: PAID }\n");
        notification->amount_kind = PO_AMOUNT_NONE;
        struct order order = order_of("CLOSED", "", 12880, "CNY");
        judge_it(notification, &order);
        is(VERDICT_REJECTED, "", "STATE_REFUSED");
        ck_assert(!order.moved && judgement.review == NULL);
}
END_TEST

UNIT_MAIN("judge", an_orders_state_and_payment_decide, a_moved_order_records_its_payment_whole,
          the_same_txn_of_another_channel_is_another_payment,
          in_no_list_the_rules_otherwise_decides,
          any_amount_moves_the_order_where_the_configuration_says_any, an_unknown_order_parks,
          a_rule_without_order_posts_whatever_the_order,
          promised_money_moves_the_order_and_is_no_payment,
          lines_without_an_amount_of_their_own_are_rejected,
          an_event_without_money_moves_the_order_and_records_no_payment,
          two_notifications_of_one_order_are_judged_one_after_the_other,
          one_with_money_gives_up_to_suspense_for_a_person,
          one_without_money_gives_up_as_a_dead_letter, what_does_not_wait_does_not_give_up,
          without_money_nothing_goes_to_suspense)

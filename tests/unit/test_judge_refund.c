/* What a notification does to a refund and its order, case by case. */
#include "posting_fixture.h"

#include "ledger/judge_refund.h"
#include "ledger/review.h"

#define REFUND_RULES                                                                               \
        "QUERY:\n  refund: { create: REGISTERED }\n"                                               \
        "  order: { from: [PAID, PARTIALLY_REFUNDED], wait: [PENDING_PAY] }\n"                     \
        "PAYS:\n  refund: { from: [REGISTERED, FAILED], to: SUCCEEDED, already: [SUCCEEDED] }\n"   \
        "  order: { from: [PAID, PARTIALLY_REFUNDED, REFUNDED], wait: [PENDING_PAY],"              \
        " to: refunded_total }\n"                                                                  \
        "  post: [ { debit: a, credit: b, amount: amount } ]\n"                                    \
        "FAILS:\n  refund: { from: [REGISTERED], reverse: [SUCCEEDED], to: FAILED,"                \
        " already: [FAILED] }\n"                                                                   \
        "  order: { from: [PARTIALLY_REFUNDED, REFUNDED], to: refunded_total }\n"                  \
        "COMES_BACK:\n  refund: { wait: [REGISTERED], reverse: [SUCCEEDED], to: FAILED,"           \
        " already: [FAILED] }\n"                                                                   \
        "  order: { from: [PARTIALLY_REFUNDED, REFUNDED], to: refunded_total }\n"                  \
        "STAYS:\n  refund: { from: [REGISTERED], to: ABNORMAL, keeps: true }\n"

enum { CLAIM = 77 };

/* An order of 1000 paid, and a refund of 300 where `refund` names its state. */
struct refund_case {
        const char *name, *event;
        enum po_amount_kind kind;
        int64_t amount;
        const char *order; /* NULL: there is none */
        int64_t refunded, reserved;
        const char *refund; /* NULL: there is no row */
        int64_t own_reserved;
        const char *txn; /* of its success */
        /* expected */
        enum verdict verdict;
        const char *result, *reason, *review;
        int64_t posts, reverses;
        const char *order_after;
        int64_t refunded_after, reserved_after;
        const char *refund_after;
};

#define POSTED(word)   VERDICT_POSTED, "{\"posted\":\"" word "\"}", NULL
#define SKIPPED(word)  VERDICT_SKIPPED, "{\"skipped\":\"" word "\"}", NULL
#define SUSPENSE(word) VERDICT_SUSPENSE, "{\"suspense\":\"" word "\"}", NULL
#define PARKED(why)    VERDICT_PARKED, "", why
#define REJECTED(why)  VERDICT_REJECTED, "", why
#define THIS           PO_AMOUNT_THIS
#define PARTIALLY      "PARTIALLY_REFUNDED"

static const struct refund_case refund_cases[] = {
        { "registered", "QUERY", THIS, 300, "PAID", 0, 0, NULL, 0, "", POSTED("REGISTERED"), NULL,
          0, 0, "PAID", 0, 300, "REGISTERED" },
        { "registered to the last cent", "QUERY", THIS, 1000, "PAID", 0, 0, NULL, 0, "",
          POSTED("REGISTERED"), NULL, 0, 0, "PAID", 0, 1000, "REGISTERED" },
        { "registered beyond", "QUERY", THIS, 501, "PAID", 0, 500, NULL, 0, "",
          REJECTED("REFUND_EXCEEDS"), NULL, 0, 0, "PAID", 0, 500, "" },
        { "registered again", "QUERY", THIS, 300, "PAID", 0, 300, "REGISTERED", 300, "",
          SKIPPED("REGISTERED"), NULL, 0, 0, "PAID", 0, 300, "REGISTERED" },
        { "registered again, another amount", "QUERY", THIS, 301, "PAID", 0, 300, "REGISTERED", 300,
          "", REJECTED("REFUND_DIFFERS"), NULL, 0, 0, "PAID", 0, 300, "REGISTERED" },
        { "registered before the payment", "QUERY", THIS, 300, "PENDING_PAY", 0, 0, NULL, 0, "",
          PARKED("TOO_EARLY"), NULL, 0, 0, "PENDING_PAY", 0, 0, "" },
        { "registered of a closed order", "QUERY", THIS, 300, "CLOSED", 0, 0, NULL, 0, "",
          REJECTED("STATE_REFUSED"), NULL, 0, 0, "CLOSED", 0, 0, "" },
        { "registered without amount", "QUERY", PO_AMOUNT_NONE, 0, "PAID", 0, 0, NULL, 0, "",
          REJECTED("AMOUNT_MISSING"), NULL, 0, 0, "PAID", 0, 0, "" },

        { "success", "PAYS", THIS, 300, "PAID", 0, 300, "REGISTERED", 300, "", POSTED("SUCCEEDED"),
          NULL, 300, 0, PARTIALLY, 300, 0, "SUCCEEDED" },
        { "the last one", "PAYS", THIS, 300, PARTIALLY, 700, 300, "REGISTERED", 300, "",
          POSTED("SUCCEEDED"), NULL, 300, 0, "REFUNDED", 1000, 0, "SUCCEEDED" },
        { "after its failure", "PAYS", THIS, 300, "PAID", 0, 700, "FAILED", 0, "",
          POSTED("SUCCEEDED"), NULL, 300, 0, PARTIALLY, 300, 700, "SUCCEEDED" },
        { "after its failure, no room", "PAYS", THIS, 300, "PAID", 0, 701, "FAILED", 0, "",
          SUSPENSE("PAID"), REVIEW_REFUND_EXCEEDS, 300, 0, "PAID", 0, 701, "FAILED" },
        { "another amount", "PAYS", THIS, 299, "PAID", 0, 300, "REGISTERED", 300, "",
          SUSPENSE("PAID"), REVIEW_REFUND_DIFFERS, 299, 0, "PAID", 0, 300, "REGISTERED" },
        { "success again", "PAYS", THIS, 300, PARTIALLY, 300, 0, "SUCCEEDED", 0, "F1",
          SKIPPED("SUCCEEDED"), NULL, 300, 0, PARTIALLY, 300, 0, "SUCCEEDED" },
        { "success under another txn", "PAYS", THIS, 300, PARTIALLY, 300, 0, "SUCCEEDED", 0, "F0",
          SUSPENSE(PARTIALLY), REVIEW_REFUND_DIFFERS, 300, 0, PARTIALLY, 300, 0, "SUCCEEDED" },
        { "no order", "PAYS", THIS, 300, NULL, 0, 0, NULL, 0, "", PARKED("ORDER_UNKNOWN"), NULL,
          300, 0, NULL, 0, 0, "" },
        { "before the payment", "PAYS", THIS, 300, "PENDING_PAY", 0, 0, NULL, 0, "",
          PARKED("TOO_EARLY"), NULL, 300, 0, "PENDING_PAY", 0, 0, "" },
        { "of a closed order", "PAYS", THIS, 300, "CLOSED", 0, 0, NULL, 0, "", SUSPENSE("CLOSED"),
          REVIEW_STATE_REFUSED, 300, 0, "CLOSED", 0, 0, "" },
        { "without amount", "PAYS", PO_AMOUNT_NONE, 0, "PAID", 0, 300, "REGISTERED", 300, "",
          REJECTED("AMOUNT_MISSING"), NULL, 0, 0, "PAID", 0, 300, "REGISTERED" },

        { "nobody registered it", "PAYS", THIS, 400, "PAID", 0, 600, NULL, 0, "",
          POSTED("SUCCEEDED"), REVIEW_REFUND_UNREGISTERED, 400, 0, PARTIALLY, 400, 600,
          "SUCCEEDED" },
        { "nobody registered it, beyond", "PAYS", THIS, 401, "PAID", 0, 600, NULL, 0, "",
          SUSPENSE("PAID"), REVIEW_REFUND_EXCEEDS, 401, 0, "PAID", 0, 600, "" },
        { "a running total", "PAYS", PO_AMOUNT_CUMULATIVE, 700, PARTIALLY, 300, 0, NULL, 0, "",
          POSTED("SUCCEEDED"), REVIEW_REFUND_UNREGISTERED, 400, 0, PARTIALLY, 700, 0, "SUCCEEDED" },
        { "a running total of before", "PAYS", PO_AMOUNT_CUMULATIVE, 300, PARTIALLY, 300, 0, NULL,
          0, "", SKIPPED(PARTIALLY), NULL, 0, 0, PARTIALLY, 300, 0, "" },
        { "what is left", "PAYS", PO_AMOUNT_NET, 600, "PAID", 0, 0, NULL, 0, "",
          POSTED("SUCCEEDED"), REVIEW_REFUND_UNREGISTERED, 400, 0, PARTIALLY, 400, 0, "SUCCEEDED" },
        { "nothing is left", "PAYS", PO_AMOUNT_NET, 0, "PAID", 0, 0, NULL, 0, "",
          POSTED("SUCCEEDED"), REVIEW_REFUND_UNREGISTERED, 1000, 0, "REFUNDED", 1000, 0,
          "SUCCEEDED" },
        { "a total of others, too", "PAYS", PO_AMOUNT_CUMULATIVE, 800, "PAID", 0, 300, "REGISTERED",
          300, "", POSTED("SUCCEEDED"), NULL, 300, 0, PARTIALLY, 300, 0, "SUCCEEDED" },
        { "a total that came late", "PAYS", PO_AMOUNT_CUMULATIVE, 300, PARTIALLY, 500, 300,
          "REGISTERED", 300, "", POSTED("SUCCEEDED"), NULL, 300, 0, PARTIALLY, 800, 0,
          "SUCCEEDED" },
        { "a total without it", "PAYS", PO_AMOUNT_CUMULATIVE, 299, "PAID", 0, 300, "REGISTERED",
          300, "", SUSPENSE("PAID"), REVIEW_REFUND_DIFFERS, 300, 0, "PAID", 0, 300, "REGISTERED" },
        { "a total beyond the payment", "PAYS", PO_AMOUNT_CUMULATIVE, 1001, "PAID", 0, 300,
          "REGISTERED", 300, "", SUSPENSE("PAID"), REVIEW_REFUND_DIFFERS, 300, 0, "PAID", 0, 300,
          "REGISTERED" },

        { "failure", "FAILS", PO_AMOUNT_NONE, 0, "PAID", 0, 300, "REGISTERED", 300, "",
          POSTED("FAILED"), NULL, 0, 0, "PAID", 0, 0, "FAILED" },
        { "failure again", "FAILS", PO_AMOUNT_NONE, 0, "PAID", 0, 0, "FAILED", 0, "",
          SKIPPED("FAILED"), NULL, 0, 0, "PAID", 0, 0, "FAILED" },
        { "not paid so far", "STAYS", PO_AMOUNT_NONE, 0, "PAID", 0, 300, "REGISTERED", 300, "",
          POSTED("ABNORMAL"), NULL, 0, 0, "PAID", 0, 300, "ABNORMAL" },
        { "not paid so far, and not there", "STAYS", PO_AMOUNT_NONE, 0, "PAID", 0, 0, NULL, 0, "",
          SKIPPED("UNKNOWN"), NULL, 0, 0, "PAID", 0, 0, "" },
        { "failure after success, another amount", "FAILS", THIS, 299, PARTIALLY, 300, 0,
          "SUCCEEDED", 0, "F1", SKIPPED("SUCCEEDED"), REVIEW_REFUND_DIFFERS, 0, 0, PARTIALLY, 300,
          0, "SUCCEEDED" },
        { "failure of what is not there", "FAILS", THIS, 300, NULL, 0, 0, NULL, 0, "",
          SKIPPED("UNKNOWN"), REVIEW_REFUND_UNKNOWN, 0, 0, NULL, 0, 0, "" },
        { "back before its success, unregistered", "COMES_BACK", THIS, 300, "PAID", 0, 0, NULL, 0,
          "", PARKED("REFUND_UNKNOWN"), NULL, 0, 0, "PAID", 0, 0, "" },
        { "back before its success, registered", "COMES_BACK", THIS, 300, "PAID", 0, 300,
          "REGISTERED", 300, "", PARKED("TOO_EARLY"), NULL, 0, 0, "PAID", 0, 300, "REGISTERED" },
        { "failure of another amount", "FAILS", THIS, 299, "PAID", 0, 300, "REGISTERED", 300, "",
          REJECTED("REFUND_DIFFERS"), NULL, 0, 0, "PAID", 0, 300, "REGISTERED" },
        { "failure after success", "FAILS", PO_AMOUNT_NONE, 0, PARTIALLY, 300, 0, "SUCCEEDED", 0,
          "F1", POSTED("FAILED"), NULL, 300, 66, "SHIPPED", 0, 0, "FAILED" },
        { "failure after others' success", "FAILS", THIS, 300, "REFUNDED", 1000, 0, "SUCCEEDED", 0,
          "F1", POSTED("FAILED"), NULL, 300, 66, PARTIALLY, 700, 0, "FAILED" },
        { "failure of an order moved on", "FAILS", THIS, 300, "CLOSED", 300, 0, "SUCCEEDED", 0,
          "F1", POSTED("FAILED"), NULL, 300, 66, "CLOSED", 0, 0, "FAILED" },
};

static struct rules *rules;
static struct order order;
static struct refund refund;
static struct subject success;
static struct judgement judgement;

static void set_up(const struct refund_case *given)
{
        memset(&order, 0, sizeof order);
        memset(&refund, 0, sizeof refund);
        memset(&success, 0, sizeof success);
        order.tenant_id = refund.tenant_id = 1;
        snprintf(order.order_no, sizeof order.order_no, "R8-1");
        snprintf(order.currency, sizeof order.currency, "CNY");
        snprintf(order.status, sizeof order.status, "%s", given->order != NULL ? given->order : "");
        snprintf(order.status_before_refund, sizeof order.status_before_refund, "SHIPPED");
        order.amount_minor = order.paid_amount = 1000;
        order.refunded = given->refunded;
        order.refund_reserved = given->reserved;
        if (given->refund == NULL)
                return;
        refund.exists = refund.registered = true;
        refund.amount_minor = 300;
        refund.reserved = given->own_reserved;
        snprintf(refund.order_no, sizeof refund.order_no, "R8-1");
        snprintf(refund.currency, sizeof refund.currency, "CNY");
        snprintf(refund.status, sizeof refund.status, "%s", given->refund);
        if (given->txn[0] == '\0')
                return;
        snprintf(refund.channel, sizeof refund.channel, "SQB");
        snprintf(refund.txn, sizeof refund.txn, "%s", given->txn);
        refund.claim_id = 66;
}

static struct po_notification *notice(const struct refund_case *given)
{
        const struct event_rule *rule = rules_find(rules, given->event);
        struct po_notification *notification =
                &notifications[fixture_posting(0, rule, "F1", "R8-1")->turn];
        notification->amount_kind = given->kind;
        notification->amount_minor = given->amount;
        return notification;
}

static void judge_it(const struct refund_case *given, struct order *its_order)
{
        memset(&judgement, 0x5a, sizeof judgement);
        judge_refund(rules_find(rules, given->event), notice(given), &success, CLAIM, its_order,
                     &refund, &judgement);
}

static void start(void)
{
        rules_free(rules);
        rules = fixture_rules("external: [PAID, CLOSED]", REFUND_RULES);
}

START_TEST(an_orders_and_a_refunds_state_decide)
{
        start();
        for (size_t i = 0; i < sizeof refund_cases / sizeof refund_cases[0]; i++) {
                const struct refund_case *given = &refund_cases[i];
                set_up(given);
                judge_it(given, given->order != NULL ? &order : NULL);
                const char *reason = judgement.reason != NULL ? judgement.reason : "none";
                ck_assert_msg(judgement.verdict == given->verdict, "%s: %s, %s", given->name,
                              verdict_name(judgement.verdict), reason);
                ck_assert_msg(strcmp(judgement.result, given->result) == 0, "%s: %s", given->name,
                              judgement.result);
                ck_assert_pstr_eq(judgement.reason, given->reason);
                ck_assert_pstr_eq(judgement.review, given->review);
                if (judgement.verdict != VERDICT_SKIPPED)
                        ck_assert_msg(judgement.amount_minor == given->posts, "%s: posts %lld",
                                      given->name, (long long)judgement.amount_minor);
                ck_assert_msg(judgement.reverses == given->reverses, "%s: reverses", given->name);
                ck_assert_str_eq(refund.status, given->refund_after);
                if (given->order_after == NULL)
                        continue;
                ck_assert_msg(strcmp(order.status, given->order_after) == 0, "%s: order %s",
                              given->name, order.status);
                ck_assert_msg(order.refunded == given->refunded_after, "%s: refunded", given->name);
                ck_assert_msg(order.refund_reserved == given->reserved_after, "%s: reserved",
                              given->name);
        }
}
END_TEST

START_TEST(a_success_records_what_posted_it_and_where_reversals_lead_back)
{
        const struct refund_case given = {
                .event = "PAYS", .kind = THIS, .amount = 300, .order = "PAID", .txn = ""
        };
        start();
        set_up(&given);
        judge_it(&given, &order);
        ck_assert(refund.fresh && refund.exists && !refund.registered && refund.settled_now);
        ck_assert_int_eq(refund.claim_id, CLAIM);
        ck_assert_str_eq(refund.txn, "F1");
        ck_assert_str_eq(refund.order_no, "R8-1");
        ck_assert_str_eq(order.status_before_refund, "PAID");
        ck_assert(order.moved);
}
END_TEST

START_TEST(what_is_posted_in_this_batch_is_taken_back_in_the_next)
{
        struct refund_case given = {
                .event = "PAYS", .kind = THIS, .amount = 300, .order = "PAID", .txn = ""
        };
        start();
        set_up(&given);
        judge_it(&given, &order);
        given.event = "FAILS";
        judge_it(&given, &order);
        ck_assert_int_eq(judgement.verdict, VERDICT_PARKED);
        ck_assert(judgement.unblocked);
        ck_assert_int_eq(order.refunded, 300);
}
END_TEST

START_TEST(another_order_or_currency_is_not_what_was_registered)
{
        const struct refund_case given = { .event = "PAYS",
                                           .kind = THIS,
                                           .amount = 300,
                                           .order = "PAID",
                                           .refund = "REGISTERED",
                                           .txn = "" };
        start();
        set_up(&given);
        snprintf(refund.order_no, sizeof refund.order_no, "OTHER");
        judge_it(&given, &order);
        ck_assert_int_eq(judgement.verdict, VERDICT_SUSPENSE);
        ck_assert_str_eq(judgement.review, REVIEW_REFUND_DIFFERS);
        set_up(&given);
        snprintf(refund.currency, sizeof refund.currency, "USD");
        judge_it(&given, &order);
        ck_assert_int_eq(judgement.verdict, VERDICT_SUSPENSE);
        set_up(&given);
        refund.exists = false;
        snprintf(order.currency, sizeof order.currency, "USD");
        judge_it(&given, &order);
        ck_assert_int_eq(judgement.verdict, VERDICT_SUSPENSE);
        ck_assert(!order.moved && !refund.moved && !refund.fresh);
}
END_TEST

/* Of an order that T1 paid: a success of 300, or a total, that names another payment. */
START_TEST(a_refund_of_another_payment_stands_in_suspense)
{
        struct refund_case given = {
                .event = "PAYS", .kind = THIS, .amount = 300, .order = "PAID", .txn = ""
        };
        static const struct {
                const char *channel, *parent, *refund;
                enum po_amount_kind kind;
                int64_t refunded;
                enum verdict verdict;
                int64_t posts;
        } cases[] = {
                { "SQB", "T1", NULL, THIS, 0, VERDICT_POSTED, 300 },
                { "SQB", "", NULL, THIS, 0, VERDICT_POSTED, 300 },
                { "SQB", "T2", NULL, THIS, 0, VERDICT_SUSPENSE, 300 },
                { "SQB", "T2", "REGISTERED", THIS, 0, VERDICT_SUSPENSE, 300 },
                { "WECHAT", "T1", NULL, THIS, 0, VERDICT_SUSPENSE, 300 },
                { "SQB", "T2", NULL, PO_AMOUNT_CUMULATIVE, 200, VERDICT_SUSPENSE, 300 },
                { "SQB", "T1", NULL, PO_AMOUNT_CUMULATIVE, 200, VERDICT_POSTED, 100 },
        };
        start();
        for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
                given.kind = cases[i].kind;
                given.refunded = cases[i].refunded;
                given.refund = cases[i].refund;
                set_up(&given);
                snprintf(order.paid_channel, sizeof order.paid_channel, "%s", cases[i].channel);
                snprintf(order.paid_txn, sizeof order.paid_txn, "T1");
                struct po_notification *notification = notice(&given);
                snprintf(notification->parent, sizeof notification->parent, "%s", cases[i].parent);
                judge_refund(rules_find(rules, "PAYS"), notification, &success, CLAIM, &order,
                             &refund, &judgement);
                ck_assert_msg(judgement.verdict == cases[i].verdict, "%zu: %s", i,
                              verdict_name(judgement.verdict));
                ck_assert_msg(judgement.amount_minor == cases[i].posts, "%zu: posts", i);
                ck_assert(order.moved == (judgement.verdict == VERDICT_POSTED));
                if (judgement.verdict == VERDICT_SUSPENSE)
                        ck_assert_pstr_eq(judgement.review, REVIEW_REFUND_DIFFERS);
        }
}
END_TEST

/* A failure of 300 whose success, claim 55, stands in suspense. */
START_TEST(what_came_back_of_money_in_suspense_goes_from_there)
{
        static const struct {
                const char *name, *event;
                int64_t amount;
                const char *order, *refund; /* NULL: there is none */
                int64_t reserved;
                const char *txn; /* of another success that was posted */
                bool reversed;
                enum verdict verdict;
                const char *result, *review;
                bool silent;
                const char *refund_after;
        } cases[] = {
                { "nobody registered it", "FAILS", 300, "PAID", NULL, 0, "", false, VERDICT_POSTED,
                  "{\"posted\":\"FAILS\"}", NULL, true, "" },
                { "a channel that says it only after", "COMES_BACK", 300, "PAID", NULL, 0, "",
                  false, VERDICT_POSTED, "{\"posted\":\"COMES_BACK\"}", NULL, true, "" },
                { "no order", "COMES_BACK", 300, NULL, NULL, 0, "", false, VERDICT_POSTED,
                  "{\"posted\":\"COMES_BACK\"}", NULL, true, "" },
                { "registered: it failed, too", "FAILS", 300, "PAID", "REGISTERED", 300, "", false,
                  VERDICT_POSTED, "{\"posted\":\"FAILED\"}", NULL, false, "FAILED" },
                { "registered: it came back", "COMES_BACK", 300, "PAID", "REGISTERED", 300, "",
                  false, VERDICT_POSTED, "{\"posted\":\"FAILED\"}", NULL, false, "FAILED" },
                { "registered: it failed before", "FAILS", 300, "PAID", "FAILED", 0, "", false,
                  VERDICT_POSTED, "{\"posted\":\"FAILS\"}", NULL, true, "FAILED" },
                { "another success stays", "FAILS", 300, PARTIALLY, "SUCCEEDED", 0, "F0", false,
                  VERDICT_POSTED, "{\"posted\":\"FAILS\"}", NULL, true, "SUCCEEDED" },
                { "taken before", "FAILS", 300, "PAID", NULL, 0, "", true, VERDICT_SKIPPED,
                  "{\"skipped\":\"REVERSED\"}", NULL, false, "" },
                { "another amount", "FAILS", 299, "PAID", NULL, 0, "", false, VERDICT_SKIPPED,
                  "{\"skipped\":\"SUSPENSE\"}", REVIEW_REFUND_DIFFERS, false, "" },
        };
        start();
        for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
                const struct refund_case given = { .event = cases[i].event,
                                                   .kind = THIS,
                                                   .amount = cases[i].amount,
                                                   .order = cases[i].order,
                                                   .reserved = cases[i].reserved,
                                                   .refund = cases[i].refund,
                                                   .own_reserved = cases[i].reserved,
                                                   .txn = cases[i].txn };
                set_up(&given);
                success.claim_id = 55;
                success.verdict = VERDICT_SUSPENSE;
                success.amount_minor = 300;
                success.reversed = cases[i].reversed;
                memcpy(success.currency, "CNY", sizeof "CNY");
                judge_it(&given, given.order != NULL ? &order : NULL);
                ck_assert_msg(judgement.verdict == cases[i].verdict, "%s: %s", cases[i].name,
                              verdict_name(judgement.verdict));
                ck_assert_msg(strcmp(judgement.result, cases[i].result) == 0, "%s: %s",
                              cases[i].name, judgement.result);
                ck_assert_pstr_eq(judgement.review, cases[i].review);
                ck_assert_int_eq(judgement.reverses, judgement.verdict == VERDICT_POSTED ? 55 : 0);
                ck_assert_msg(judgement.silent == cases[i].silent, "%s: silent", cases[i].name);
                ck_assert_str_eq(refund.status, cases[i].refund_after);
                ck_assert_int_eq(order.refunded + order.refund_reserved, 0);
        }
}
END_TEST

START_TEST(what_goes_to_suspense_in_this_batch_is_taken_from_there_in_the_next)
{
        const struct refund_case given = {
                .event = "FAILS", .kind = THIS, .amount = 300, .order = "PAID", .txn = ""
        };
        start();
        set_up(&given);
        success.claim_id = 55;
        success.suspended_now = true;
        judge_it(&given, &order);
        ck_assert_int_eq(judgement.verdict, VERDICT_PARKED);
        ck_assert(judgement.unblocked);
}
END_TEST

UNIT_MAIN("judge_refund", an_orders_and_a_refunds_state_decide,
          a_success_records_what_posted_it_and_where_reversals_lead_back,
          what_is_posted_in_this_batch_is_taken_back_in_the_next,
          a_refund_of_another_payment_stands_in_suspense,
          what_came_back_of_money_in_suspense_goes_from_there,
          what_goes_to_suspense_in_this_batch_is_taken_from_there_in_the_next,
          another_order_or_currency_is_not_what_was_registered)

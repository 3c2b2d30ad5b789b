#include "ledger/judge.h"

#include <string.h>

#include "base/text.h"
#include "ledger/review.h"

static bool names_this_payment(const struct order *order,
                               const struct po_notification *notification)
{
        return strcmp(order->paid_channel, notification->channel) == 0 &&
               strcmp(order->paid_txn, notification->txn) == 0;
}

static void record_payment(struct order *order, const struct po_notification *notification)
{
        text_copy(order->paid_channel, sizeof order->paid_channel, notification->channel);
        text_copy(order->paid_txn, sizeof order->paid_txn, notification->txn);
        order->paid_amount = notification->amount_minor;
        order->moved = true;
}

/* `amount: any` frees the amount; no order can be paid in another currency than its own. */
static bool amount_agrees(const struct rules *rules, const struct order *order,
                          const struct po_notification *notification)
{
        return strcmp(notification->currency, order->currency) == 0 &&
               (notification->amount_minor == order->amount_minor ||
                !rules_amount_must_match(rules));
}

static void judge_already(const struct rules *rules, const struct event_rule *rule,
                          const struct po_notification *notification, struct order *order,
                          struct judgement *judgement)
{
        if (notification->amount_kind == PO_AMOUNT_NONE || rule->promised) {
                judgement_skip(judgement, order->status);
                return;
        }
        if (order->paid_txn[0] == '\0' && !amount_agrees(rules, order, notification)) {
                judgement_suspend(judgement, order->status, REVIEW_AMOUNT_DIFFERS,
                                  notification->amount_minor);
                return;
        }
        if (order->paid_txn[0] == '\0') {
                /* Another path moved the order: whether it booked the money, only a person can say.
                 */
                judgement_skip(judgement, order->status);
                judgement->review = REVIEW_NO_POSTING_RECORDED;
                record_payment(order, notification);
                return;
        }
        if (names_this_payment(order, notification)) {
                judgement_skip(judgement, order->status);
                return;
        }
        judgement_suspend(judgement, order->status, REVIEW_SECOND_PAYMENT,
                          notification->amount_minor);
}

static void judge_from(const struct rules *rules, const struct event_rule *rule,
                       const struct po_notification *notification, struct order *order,
                       struct judgement *judgement)
{
        bool has_money = notification->amount_kind != PO_AMOUNT_NONE && !rule->promised;
        if (has_money && order->paid_txn[0] != '\0' && !names_this_payment(order, notification)) {
                judgement_suspend(judgement, order->status, REVIEW_SECOND_PAYMENT,
                                  notification->amount_minor);
                return;
        }
        if (has_money && !amount_agrees(rules, order, notification)) {
                judgement_suspend(judgement, order->status, REVIEW_AMOUNT_DIFFERS,
                                  notification->amount_minor);
                return;
        }
        text_copy(order->status, sizeof order->status, rule->to);
        order->moved = true;
        if (has_money)
                record_payment(order, notification);
        judgement_post(judgement, order->status);
}

void judge_otherwise(enum rule_otherwise otherwise, const char *status, int64_t amount_minor,
                     struct judgement *judgement)
{
        if (otherwise == OTHERWISE_SKIP) {
                judgement_skip(judgement, status);
                return;
        }
        if (otherwise == OTHERWISE_REJECT || amount_minor == 0) {
                judgement_reject(judgement, "STATE_REFUSED");
                return;
        }
        judgement_suspend(judgement, status, REVIEW_STATE_REFUSED, amount_minor);
}

void judge(const struct rules *rules, const struct event_rule *rule,
           const struct po_notification *notification, struct order *order,
           struct judgement *judgement_out)
{
        memset(judgement_out, 0, sizeof *judgement_out);
        int64_t money = judge_carries_money(rule, notification) ? notification->amount_minor : 0;
        judgement_out->amount_minor = money;

        if (rule->lines_count > 0 && money == 0) {
                judgement_reject(judgement_out, "AMOUNT_MISSING");
                return;
        }
        if (rule->subject == RULE_POSTS_ONLY) {
                judgement_post(judgement_out, rule->event);
                return;
        }
        if (order == NULL) {
                judgement_park(judgement_out, "ORDER_UNKNOWN");
                return;
        }
        if (states_have(&rule->from, order->status)) {
                judge_from(rules, rule, notification, order, judgement_out);
                return;
        }
        if (states_have(&rule->already, order->status)) {
                judge_already(rules, rule, notification, order, judgement_out);
                return;
        }
        if (states_have(&rule->wait, order->status)) {
                judgement_park(judgement_out, "TOO_EARLY");
                return;
        }
        judge_otherwise(rule->otherwise, order->status, money, judgement_out);
}

bool judge_carries_money(const struct event_rule *rule, const struct po_notification *notification)
{
        return notification->amount_kind == PO_AMOUNT_THIS &&
               (rule->lines_count > 0 || rule->suspense_count > 0);
}

void judge_give_up(const struct event_rule *rule, const struct order *order,
                   struct judgement *judgement)
{
        if (judgement->verdict != VERDICT_PARKED)
                return;
        if (judgement->amount_minor == 0 || rule->suspense_count == 0) {
                judgement_reject(judgement, "PARK_GAVE_UP");
                return;
        }
        judgement_suspend(judgement, order != NULL ? order->status : "UNKNOWN", REVIEW_PARK_GAVE_UP,
                          judgement->amount_minor);
}

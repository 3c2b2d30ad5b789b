#include "ledger/judge.h"

#include <stdio.h>
#include <string.h>

#include "ledger/review.h"

static void hold(struct judgement *judgement, const char *reason)
{
        judgement->verdict = VERDICT_HELD;
        judgement->reason = reason;
}

static void park(struct judgement *judgement, const char *reason)
{
        judgement->verdict = VERDICT_PARKED;
        judgement->reason = reason;
}

static void reject(struct judgement *judgement, const char *reason)
{
        judgement->verdict = VERDICT_REJECTED;
        judgement->reason = reason;
}

static void post(struct judgement *judgement, const char *what)
{
        judgement->verdict = VERDICT_POSTED;
        snprintf(judgement->result, sizeof judgement->result, "{\"posted\":\"%s\"}", what);
}

static void skip(struct judgement *judgement, const char *status)
{
        judgement->verdict = VERDICT_SKIPPED;
        snprintf(judgement->result, sizeof judgement->result, "{\"skipped\":\"%s\"}", status);
}

/* Money that cannot move its order is never refused: it stands in suspense until a person decides.
 */
static void suspend(struct judgement *judgement, const char *status, const char *why)
{
        judgement->verdict = VERDICT_SUSPENSE;
        judgement->reason = NULL;
        judgement->review = why;
        snprintf(judgement->result, sizeof judgement->result, "{\"suspense\":\"%s\"}", status);
}

static bool names_this_payment(const struct order *order,
                               const struct po_notification *notification)
{
        return strcmp(order->paid_channel, notification->channel) == 0 &&
               strcmp(order->paid_txn, notification->txn) == 0;
}

static void record_payment(struct order *order, const struct po_notification *notification)
{
        snprintf(order->paid_channel, sizeof order->paid_channel, "%s", notification->channel);
        snprintf(order->paid_txn, sizeof order->paid_txn, "%s", notification->txn);
        order->paid_amount = notification->amount_minor;
        order->moved = true;
}

static void judge_already(const struct po_notification *notification, struct order *order,
                          struct judgement *judgement)
{
        if (notification->amount_kind == PO_AMOUNT_NONE) {
                skip(judgement, order->status);
                return;
        }
        if (order->paid_txn[0] == '\0') {
                /* Another path moved the order: whether it booked the money, only a person can say.
                 */
                skip(judgement, order->status);
                judgement->review = REVIEW_NO_POSTING_RECORDED;
                record_payment(order, notification);
                return;
        }
        if (names_this_payment(order, notification)) {
                skip(judgement, order->status);
                return;
        }
        suspend(judgement, order->status, REVIEW_SECOND_PAYMENT);
}

static bool amount_agrees(const struct order *order, const struct po_notification *notification)
{
        return notification->amount_minor == order->amount_minor &&
               strcmp(notification->currency, order->currency) == 0;
}

static void judge_from(const struct rules *rules, const struct event_rule *rule,
                       const struct po_notification *notification, struct order *order,
                       struct judgement *judgement)
{
        bool has_money = notification->amount_kind != PO_AMOUNT_NONE;
        if (has_money && order->paid_txn[0] != '\0' && !names_this_payment(order, notification)) {
                suspend(judgement, order->status, REVIEW_SECOND_PAYMENT);
                return;
        }
        if (has_money && rules_amount_must_match(rules) && !amount_agrees(order, notification)) {
                suspend(judgement, order->status, REVIEW_AMOUNT_DIFFERS);
                return;
        }
        snprintf(order->status, sizeof order->status, "%s", rule->to);
        order->moved = true;
        if (has_money)
                record_payment(order, notification);
        post(judgement, order->status);
}

void judge(const struct rules *rules, const struct event_rule *rule,
           const struct po_notification *notification, struct order *order,
           struct judgement *judgement_out)
{
        memset(judgement_out, 0, sizeof *judgement_out);

        if (rule->subject == RULE_REFUND) {
                hold(judgement_out, "REFUND_NOT_POSTED_YET");
                return;
        }
        if (rule->lines_count > 0 && notification->amount_kind != PO_AMOUNT_THIS) {
                reject(judgement_out, "AMOUNT_MISSING");
                return;
        }
        if (rule->subject == RULE_POSTS_ONLY) {
                post(judgement_out, rule->event);
                return;
        }
        if (order == NULL) {
                park(judgement_out, "ORDER_UNKNOWN");
                return;
        }
        if (states_have(&rule->from, order->status)) {
                judge_from(rules, rule, notification, order, judgement_out);
                return;
        }
        if (states_have(&rule->already, order->status)) {
                judge_already(notification, order, judgement_out);
                return;
        }
        if (states_have(&rule->wait, order->status)) {
                park(judgement_out, "TOO_EARLY");
                return;
        }
        if (rule->otherwise == OTHERWISE_SKIP) {
                skip(judgement_out, order->status);
                return;
        }
        if (rule->otherwise == OTHERWISE_REJECT || !judge_carries_money(rule, notification)) {
                reject(judgement_out, "STATE_REFUSED");
                return;
        }
        suspend(judgement_out, order->status, REVIEW_STATE_REFUSED);
}

bool judge_carries_money(const struct event_rule *rule, const struct po_notification *notification)
{
        return notification->amount_kind == PO_AMOUNT_THIS && rule->lines_count > 0;
}

void judge_give_up(const struct event_rule *rule, const struct po_notification *notification,
                   const struct order *order, struct judgement *judgement)
{
        if (judgement->verdict != VERDICT_PARKED)
                return;
        if (!judge_carries_money(rule, notification)) {
                reject(judgement, "PARK_GAVE_UP");
                return;
        }
        suspend(judgement, order != NULL ? order->status : "UNKNOWN", REVIEW_PARK_GAVE_UP);
}

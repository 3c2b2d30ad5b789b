#include "ledger/judge_reversal.h"

#include <string.h>

#include "ledger/judge.h"
#include "ledger/review.h"

/* What the notice says moved, else what the payment was. */
static int64_t amount_of(const struct po_notification *notification, const struct subject *target)
{
        return notification->amount_kind == PO_AMOUNT_THIS ? notification->amount_minor
                                                           : target->amount_minor;
}

/* What the notice says is not what the payment was: the review's reason, or NULL. */
static const char *why_differs(const struct po_notification *notification,
                               const struct subject *target)
{
        if (target->of_another_order)
                return REVIEW_PAYMENT_DIFFERS;
        if (notification->amount_kind == PO_AMOUNT_THIS &&
            (notification->amount_minor != target->amount_minor ||
             strcmp(notification->currency, target->currency) != 0))
                return REVIEW_AMOUNT_DIFFERS;
        return NULL;
}

/* An order that records no payment has this one's state all the same. */
static bool is_paid_by_another(const struct order *order, const struct subject *target)
{
        return order->paid_txn[0] != '\0' && (strcmp(order->paid_channel, target->channel) != 0 ||
                                              strcmp(order->paid_txn, target->txn) != 0);
}

static void unpay(const struct event_rule *rule, struct order *order)
{
        order->paid_channel[0] = order->paid_txn[0] = '\0';
        order->paid_amount = 0;
        memcpy(order->status, rule->to, sizeof order->status);
        order->moved = true;
}

static void judge_posts_only(const struct event_rule *rule,
                             const struct po_notification *notification,
                             const struct subject *target, struct judgement *judgement)
{
        const char *why = why_differs(notification, target);
        if (why != NULL) {
                judgement_suspend(judgement, "POSTED", why, amount_of(notification, target));
                return;
        }
        judgement->reverses = target->claim_id;
        judgement_post(judgement, rule->event);
}

static void judge_posted(const struct event_rule *rule, const struct po_notification *notification,
                         const struct subject *target, struct order *order,
                         struct judgement *judgement)
{
        int64_t amount = amount_of(notification, target);
        const char *why = why_differs(notification, target);
        if (order == NULL) {
                judgement_park(judgement, "ORDER_UNKNOWN");
        } else if (states_have(&rule->wait, order->status)) {
                judgement_park(judgement, "TOO_EARLY");
        } else if (states_have(&rule->already, order->status)) {
                judgement_skip(judgement, order->status);
        } else if (why != NULL) {
                judgement_suspend(judgement, order->status, why, amount);
        } else if (!states_have(&rule->from, order->status)) {
                judge_otherwise(rule->otherwise, order->status, amount, judgement);
        } else if (order->refunded + order->refund_reserved > 0) {
                judgement_suspend(judgement, order->status, REVIEW_REFUND_OPEN, amount);
        } else if (is_paid_by_another(order, target)) {
                judgement_suspend(judgement, order->status, REVIEW_PAYMENT_DIFFERS, amount);
        } else {
                unpay(rule, order);
                judgement->reverses = target->claim_id;
                judgement_post(judgement, order->status);
        }
}

void judge_reversal(const struct event_rule *rule, const struct po_notification *notification,
                    const struct subject *target, struct order *order,
                    struct judgement *judgement_out)
{
        const char *why = why_differs(notification, target);
        memset(judgement_out, 0, sizeof *judgement_out);
        judgement_out->amount_minor = amount_of(notification, target);
        if (target->claim_id == 0 || target->verdict == VERDICT_NONE) {
                judgement_park(judgement_out, "PAYMENT_UNKNOWN");
        } else if (target->reversed) {
                judgement_skip(judgement_out, "REVERSED");
        } else if (target->verdict == VERDICT_POSTED && rule->subject == RULE_POSTS_ONLY) {
                judge_posts_only(rule, notification, target, judgement_out);
        } else if (target->verdict == VERDICT_POSTED) {
                judge_posted(rule, notification, target, order, judgement_out);
        } else if (target->verdict != VERDICT_SUSPENSE) {
                /* Nothing of ours was posted; another path may have booked the payment. */
                judgement_skip(judgement_out, verdict_name(target->verdict));
                judgement_out->review = REVIEW_NO_POSTING_RECORDED;
        } else if (why != NULL) {
                judgement_suspend(judgement_out, order != NULL ? order->status : "UNKNOWN", why,
                                  amount_of(notification, target));
        } else {
                /* It stood in suspense: it goes from there, and its order never had it. */
                judgement_out->reverses = target->claim_id;
                judgement_out->silent = true;
                judgement_post(judgement_out, rule->event);
        }
}

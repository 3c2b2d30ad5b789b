#include "ledger/judge_refund.h"

#include <stdio.h>
#include <string.h>

#include "ledger/judge.h"
#include "ledger/review.h"

/* One case at hand: what every step looks at. */
struct matter {
        const struct event_rule *rule;
        const struct po_notification *notification;
        const struct subject *success; /* of a failure: the success under its number */
        int64_t claim_id;
        struct order *order;
        struct refund *refund;
        struct judgement *judgement;
};

static bool is_in(const char *status, const char *a, const char *b)
{
        return strcmp(status, a) == 0 || strcmp(status, b) == 0;
}

/* `to: refunded_total`. What the order was before its first refund is where reversals lead back. */
static void follow_refunded_total(struct order *order)
{
        if (!is_in(order->status, STATUS_PARTIALLY_REFUNDED, STATUS_REFUNDED))
                memcpy(order->status_before_refund, order->status, sizeof order->status);
        const char *status = STATUS_PARTIALLY_REFUNDED;
        if (order->refunded == 0)
                status = order->status_before_refund;
        else if (order->refunded == order->paid_amount)
                status = STATUS_REFUNDED;
        if (status[0] != '\0')
                snprintf(order->status, sizeof order->status, "%s", status);
}

static void name_refund(const struct matter *matter, bool registered)
{
        struct refund *refund = matter->refund;
        const struct po_notification *notification = matter->notification;
        memcpy(refund->order_no, matter->order->order_no, sizeof refund->order_no);
        memcpy(refund->currency, notification->currency, sizeof refund->currency);
        refund->exists = refund->fresh = true;
        refund->registered = registered;
}

/* Every sum here is of amounts of one order: at most twice 2^53. */
static bool exceeds(const struct order *order, int64_t reserved_for_it, int64_t amount)
{
        return order->refunded + (order->refund_reserved - reserved_for_it) + amount >
               order->paid_amount;
}

static bool is_as_registered(const struct matter *matter)
{
        return strcmp(matter->refund->order_no, matter->order->order_no) == 0 &&
               strcmp(matter->refund->currency, matter->notification->currency) == 0;
}

/* Nothing has moved yet, so what does not fit is refused, not kept in suspense. */
static void judge_registration(const struct matter *matter)
{
        const struct po_notification *notification = matter->notification;
        struct order *order = matter->order;
        struct refund *refund = matter->refund;
        struct judgement *judgement = matter->judgement;
        bool differs = order != NULL && strcmp(order->currency, notification->currency) != 0;
        if (notification->amount_kind != PO_AMOUNT_THIS) {
                judgement_reject(judgement, "AMOUNT_MISSING");
        } else if (order == NULL) {
                judgement_park(judgement, "ORDER_UNKNOWN");
        } else if (refund->exists && is_as_registered(matter) &&
                   refund->amount_minor == notification->amount_minor) {
                judgement_skip(judgement, refund->status);
        } else if (refund->exists || differs) {
                judgement_reject(judgement, "REFUND_DIFFERS");
        } else if (states_have(&matter->rule->wait, order->status)) {
                judgement_park(judgement, "TOO_EARLY");
        } else if (!states_have(&matter->rule->from, order->status)) {
                judge_otherwise(matter->rule->otherwise, order->status, 0, judgement);
        } else if (exceeds(order, 0, notification->amount_minor)) {
                judgement_reject(judgement, "REFUND_EXCEEDS");
        } else {
                name_refund(matter, true);
                refund->amount_minor = refund->reserved = notification->amount_minor;
                snprintf(refund->status, sizeof refund->status, "%s", matter->rule->refund.create);
                order->refund_reserved += refund->amount_minor;
                order->moved = true;
                judgement_post(judgement, refund->status);
        }
}

/* The total refunded of the order when this one is done, as its channel says. */
static int64_t total_of(const struct matter *matter)
{
        const struct po_notification *notification = matter->notification;
        return notification->amount_kind == PO_AMOUNT_NET
                       ? matter->order->paid_amount - notification->amount_minor
                       : notification->amount_minor;
}

/* The notice names a payment, and the order is paid by another one: that one's money stays. */
static bool is_of_another_payment(const struct matter *matter)
{
        const struct order *order = matter->order;
        const struct po_notification *notification = matter->notification;
        return notification->parent[0] != '\0' && order->paid_txn[0] != '\0' &&
               (strcmp(notification->parent, order->paid_txn) != 0 ||
                strcmp(notification->channel, order->paid_channel) != 0);
}

/* What moved by the notice alone. What is refunded of the order's payment is no other one's. */
static int64_t amount_by_notice(const struct matter *matter)
{
        if (matter->notification->amount_kind == PO_AMOUNT_THIS)
                return matter->notification->amount_minor;
        int64_t more = total_of(matter);
        if (!is_of_another_payment(matter))
                more -= matter->order->refunded;
        return more > 0 ? more : 0;
}

/*
 * Whether the notice agrees with the registration. A running total must hold this refund, and no
 * more than the payment: notices of several refunds may come in any order.
 */
static bool amount_agrees(const struct matter *matter)
{
        int64_t amount = matter->refund->amount_minor;
        if (matter->notification->amount_kind == PO_AMOUNT_THIS)
                return matter->notification->amount_minor == amount;
        int64_t total = total_of(matter);
        return total >= amount && total <= matter->order->paid_amount;
}

static void suspend(const struct matter *matter, const char *why, int64_t amount)
{
        judgement_suspend(matter->judgement, matter->order->status, why, amount);
        if (amount > 0)
                return;
        /* By the running total nothing more has moved. */
        judgement_skip(matter->judgement, matter->order->status);
}

static void pay(const struct matter *matter, int64_t amount)
{
        struct order *order = matter->order;
        struct refund *refund = matter->refund;
        const struct po_notification *notification = matter->notification;
        order->refund_reserved -= refund->reserved;
        order->refunded += amount;
        order->moved = true;
        refund->reserved = 0;
        refund->moved = refund->settled_now = true;
        refund->claim_id = matter->claim_id;
        snprintf(refund->status, sizeof refund->status, "%s", matter->rule->refund.to);
        snprintf(refund->channel, sizeof refund->channel, "%s", notification->channel);
        snprintf(refund->txn, sizeof refund->txn, "%s", notification->txn);
        follow_refunded_total(order);
        matter->judgement->amount_minor = amount;
        judgement_post(matter->judgement, refund->status);
}

static void judge_unregistered(const struct matter *matter)
{
        int64_t amount = amount_by_notice(matter);
        if (strcmp(matter->order->currency, matter->notification->currency) != 0) {
                suspend(matter, REVIEW_REFUND_DIFFERS, amount);
                return;
        }
        if (amount == 0) {
                judgement_skip(matter->judgement, matter->order->status);
                return;
        }
        if (exceeds(matter->order, 0, amount)) {
                suspend(matter, REVIEW_REFUND_EXCEEDS, amount);
                return;
        }
        if (!states_have(&matter->rule->from, matter->order->status)) {
                judge_otherwise(matter->rule->otherwise, matter->order->status, amount,
                                matter->judgement);
                return;
        }
        name_refund(matter, false);
        matter->refund->amount_minor = amount;
        pay(matter, amount);
        matter->judgement->review = REVIEW_REFUND_UNREGISTERED;
}

/* A running total may hold other refunds, too; what moved of this one its registration says. */
static int64_t amount_of_registered(const struct matter *matter)
{
        bool says = matter->notification->amount_kind == PO_AMOUNT_THIS;
        return says || !is_as_registered(matter) ? amount_by_notice(matter)
                                                 : matter->refund->amount_minor;
}

static void judge_registered(const struct matter *matter)
{
        const struct refund *refund = matter->refund;
        int64_t amount = amount_of_registered(matter);
        if (!is_as_registered(matter) || !amount_agrees(matter)) {
                suspend(matter, REVIEW_REFUND_DIFFERS, amount);
                return;
        }
        if (exceeds(matter->order, refund->reserved, refund->amount_minor)) {
                suspend(matter, REVIEW_REFUND_EXCEEDS, amount);
                return;
        }
        if (!states_have(&matter->rule->refund.from, refund->status) ||
            !states_have(&matter->rule->from, matter->order->status)) {
                judge_otherwise(matter->rule->otherwise, matter->order->status, amount,
                                matter->judgement);
                return;
        }
        pay(matter, refund->amount_minor);
}

static bool is_another_success(const struct matter *matter)
{
        const struct refund *refund = matter->refund;
        return refund->txn[0] != '\0' && (strcmp(refund->txn, matter->notification->txn) != 0 ||
                                          strcmp(refund->channel, matter->notification->channel));
}

static void judge_success(const struct matter *matter)
{
        struct order *order = matter->order;
        struct refund *refund = matter->refund;
        struct judgement *judgement = matter->judgement;
        if (matter->notification->amount_kind == PO_AMOUNT_NONE) {
                judgement_reject(judgement, "AMOUNT_MISSING");
                return;
        }
        if (order == NULL) {
                /* Of a running total nobody can say then what moved. */
                if (matter->notification->amount_kind == PO_AMOUNT_THIS)
                        judgement->amount_minor = matter->notification->amount_minor;
                judgement_park(judgement, "ORDER_UNKNOWN");
                return;
        }
        judgement->amount_minor = amount_by_notice(matter);
        if (states_have(&matter->rule->wait, order->status) ||
            (refund->exists && states_have(&matter->rule->refund.wait, refund->status))) {
                judgement_park(judgement, "TOO_EARLY");
                return;
        }
        if (refund->exists && states_have(&matter->rule->refund.already, refund->status)) {
                if (is_another_success(matter))
                        suspend(matter, REVIEW_REFUND_DIFFERS, amount_by_notice(matter));
                else
                        judgement_skip(judgement, refund->status);
                return;
        }
        if (is_of_another_payment(matter))
                suspend(matter, REVIEW_REFUND_DIFFERS, amount_by_notice(matter));
        else if (refund->exists)
                judge_registered(matter);
        else
                judge_unregistered(matter);
}

/* The money came back: exactly what was posted is taken back, whatever state the order is in. */
static void reverse(const struct matter *matter)
{
        struct order *order = matter->order;
        struct refund *refund = matter->refund;
        if (refund->settled_now) {
                judgement_park(matter->judgement, "TOO_EARLY");
                matter->judgement->unblocked = true;
                return;
        }
        matter->judgement->reverses = refund->claim_id;
        order->refunded -= refund->amount_minor;
        order->moved = true;
        if (matter->rule->to_refunded_total && states_have(&matter->rule->from, order->status))
                follow_refunded_total(order);
        refund->claim_id = 0;
        refund->channel[0] = refund->txn[0] = '\0';
        refund->moved = true;
        snprintf(refund->status, sizeof refund->status, "%s", matter->rule->refund.to);
        matter->judgement->amount_minor = refund->amount_minor;
        judgement_post(matter->judgement, refund->status);
}

static void release(const struct matter *matter)
{
        struct refund *refund = matter->refund;
        if (refund->reserved != 0 && !matter->rule->refund.keeps) {
                matter->order->refund_reserved -= refund->reserved;
                matter->order->moved = true;
                refund->reserved = 0;
        }
        refund->moved = true;
        snprintf(refund->status, sizeof refund->status, "%s", matter->rule->refund.to);
        judgement_post(matter->judgement, refund->status);
}

/* One that may have overtaken its success is a person's matter: the success will be posted. */
static void judge_unknown_failure(const struct matter *matter)
{
        judgement_skip(matter->judgement, "UNKNOWN");
        if (matter->rule->refund.reverse.count > 0)
                matter->judgement->review = REVIEW_REFUND_UNKNOWN;
}

static bool failure_differs(const struct matter *matter)
{
        const struct po_notification *notification = matter->notification;
        const struct refund *refund = matter->refund;
        return matter->order == NULL || strcmp(refund->order_no, matter->order->order_no) != 0 ||
               (notification->amount_kind == PO_AMOUNT_THIS &&
                (notification->amount_minor != refund->amount_minor ||
                 strcmp(notification->currency, refund->currency) != 0));
}

/* After a success money may have come back, and how much is a person's to say. */
static void judge_differing_failure(const struct matter *matter)
{
        const struct refund *refund = matter->refund;
        if (refund->claim_id == 0) {
                judgement_reject(matter->judgement, "REFUND_DIFFERS");
                return;
        }
        judgement_skip(matter->judgement, refund->status);
        matter->judgement->review = REVIEW_REFUND_DIFFERS;
}

/* It fails, too, if its number is of this order and no success of it was posted. */
static bool releases(const struct matter *matter)
{
        const struct refund *refund = matter->refund;
        return refund->exists && refund->claim_id == 0 && matter->order != NULL &&
               strcmp(refund->order_no, matter->order->order_no) == 0 &&
               strcmp(refund->status, matter->rule->refund.to) != 0;
}

/* The success stands in suspense: it goes from there, and no total of the order ever had it. */
static void take_from_suspense(const struct matter *matter)
{
        const struct subject *success = matter->success;
        struct judgement *judgement = matter->judgement;
        if (success->reversed) {
                judgement_skip(judgement, "REVERSED");
                return;
        }
        if (matter->notification->amount_kind == PO_AMOUNT_THIS &&
            (matter->notification->amount_minor != success->amount_minor ||
             strcmp(matter->notification->currency, success->currency) != 0)) {
                judgement_skip(judgement, "SUSPENSE");
                judgement->review = REVIEW_REFUND_DIFFERS;
                return;
        }
        judgement->reverses = success->claim_id;
        judgement->amount_minor = success->amount_minor;
        if (releases(matter)) {
                release(matter);
                return;
        }
        judgement->silent = true;
        judgement_post(judgement, matter->rule->event);
}

static void judge_failure(const struct matter *matter)
{
        const struct refund_move *move = &matter->rule->refund;
        struct refund *refund = matter->refund;
        struct judgement *judgement = matter->judgement;
        if (matter->success->suspended_now) {
                judgement_park(judgement, "TOO_EARLY");
                judgement->unblocked = true;
        } else if (matter->success->verdict == VERDICT_SUSPENSE) {
                take_from_suspense(matter);
        } else if (!refund->exists && move->wait.count > 0) {
                judgement_park(judgement, "REFUND_UNKNOWN");
        } else if (!refund->exists) {
                judge_unknown_failure(matter);
        } else if (failure_differs(matter)) {
                judge_differing_failure(matter);
        } else if (states_have(&move->reverse, refund->status) && refund->claim_id != 0) {
                reverse(matter);
        } else if (states_have(&move->from, refund->status)) {
                release(matter);
        } else if (states_have(&move->already, refund->status)) {
                judgement_skip(judgement, refund->status);
        } else if (states_have(&move->wait, refund->status)) {
                judgement_park(judgement, "TOO_EARLY");
        } else {
                judge_otherwise(matter->rule->otherwise, refund->status, 0, judgement);
        }
}

void judge_refund(const struct event_rule *rule, const struct po_notification *notification,
                  const struct subject *success, int64_t claim_id, struct order *order,
                  struct refund *refund, struct judgement *judgement_out)
{
        const struct matter matter = { rule,  notification, success,      claim_id,
                                       order, refund,       judgement_out };
        memset(judgement_out, 0, sizeof *judgement_out);
        switch (rule->refund.act) {
        case REFUND_REGISTERS:
                judge_registration(&matter);
                return;
        case REFUND_PAYS:
                judge_success(&matter);
                return;
        case REFUND_RELEASES:
                judge_failure(&matter);
                return;
        }
}

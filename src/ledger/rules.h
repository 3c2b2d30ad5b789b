/*
 * What each event means: which order states it moves, what it posts, what it tells others.
 * Read from the configuration's `orders` and `events`; every problem is found at load, with
 * file:line:column. Immutable afterwards.
 */
#ifndef LEDGER_RULES_H
#define LEDGER_RULES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/limits.h"
#include "config/document.h"
#include "postonce/error.h"
#include "postonce/notification.h"

/* A list of order states. */
struct states {
        size_t count;
        char words[RULE_STATES_MAX][STATUS_BYTES];
};
bool states_have(const struct states *states, const char *status);

enum rule_subject {
        RULE_POSTS_ONLY, /* no `order:`: entries and outbox, no state */
        RULE_ORDER,      /* moves an order */
        RULE_REFUND,     /* moves a refund, and with it its order */
};

/* What an event does to a refund. */
enum refund_act {
        REFUND_REGISTERS, /* `create`: reserves its amount on the order */
        REFUND_PAYS,      /* the money reached the payer: reserved, or new, becomes refunded */
        REFUND_RELEASES,  /* it did not, or came back: frees what is reserved (but see `keeps`),
                             reverses the posting */
};

/* What `order: { to: refunded_total }` makes of an order by what was refunded of its payment. */
#define STATUS_PARTIALLY_REFUNDED "PARTIALLY_REFUNDED"
#define STATUS_REFUNDED           "REFUNDED"
/* A refund before its success, and after; the other states are the configuration's own. */
#define REFUND_REGISTERED "REGISTERED"
#define REFUND_SUCCEEDED  "SUCCEEDED"

/* What to do in a state that is in none of the lists. */
enum rule_otherwise { OTHERWISE_SUSPENSE, OTHERWISE_SKIP, OTHERWISE_REJECT };

enum line_amount { LINE_AMOUNT, LINE_FEE, LINE_NET }; /* net: amount less fee */

/* One line: a debit, a credit, or both, of that amount. Account templates may hold {channel},
 * {tenant}, {currency}. An empty template: that side is not in this line. */
struct rule_line {
        enum line_amount amount;
        char debit[ACCOUNT_CODE_BYTES];
        char credit[ACCOUNT_CODE_BYTES];
};

/* How a refund moves. */
struct refund_move {
        enum refund_act act;
        struct states from, wait, already;
        struct states reverse; /* states whose posting it takes back */
        bool keeps; /* of REFUND_RELEASES: it may still be paid, so what is reserved stays */
        char to[STATUS_BYTES];
        char create[STATUS_BYTES]; /* of REFUND_REGISTERS; else "" */
};

struct event_rule {
        char event[PO_EVENT_BYTES];
        enum rule_subject subject;
        /* How the order moves. */
        struct states from, wait, already;
        char to[STATUS_BYTES];     /* "": it stays */
        bool to_refunded_total;    /* `to` is computed from what is refunded; then it is "" */
        char create[STATUS_BYTES]; /* state of an order made from the notification; "": none is made
                                    */
        struct refund_move refund; /* of RULE_REFUND */
        char reverses[PO_EVENT_BYTES]; /* event whose posting is taken back; "": none */
        char parent[PO_EVENT_BYTES];   /* event that a refund's `parent` is the txn of */
        /* Of a refund's rule with `reverse`: the event whose success, if it stands in suspense, it
         * takes from there; "": none. */
        char takes_back[PO_EVENT_BYTES];
        bool promised; /* its amount is not money yet: no payment is recorded, nothing posted */
        enum rule_otherwise otherwise;
        size_t lines_count;
        struct rule_line lines[RULE_LINES_MAX];
        /*
         * What is posted when the order cannot be moved: the lines with every credit to
         * orders.suspense; where money leaves the channel (a refund, a reversal) every debit.
         */
        size_t suspense_count;
        struct rule_line suspense[RULE_LINES_MAX];
        char outbox[PO_EVENT_BYTES]; /* type of the outbox row; "": none */
};

struct rules;

/*
 * orders, events: the configuration's maps; orders may be NULL (defaults), events is required.
 * SYSTEMIC: an unknown or repeated member, a rule whose debits and credits do not balance for
 * every fee, a list that names a state twice, and what machine_check() finds.
 */
PO_MUST_USE enum po_class rules_read(const struct node *orders, const struct node *events,
                                     struct rules **rules_out, struct po_error *error);
void rules_free(struct rules *rules); /* takes NULL */

/* The rule of an event, or NULL. */
const struct event_rule *rules_find(const struct rules *rules, const char *event);
size_t rules_count(const struct rules *rules);
const struct event_rule *rules_at(const struct rules *rules, size_t index);

/* `orders`: the state of a new order; the states that other systems set; whether amounts must
 * match. */
const char *rules_initial(const struct rules *rules);
const struct states *rules_external(const struct rules *rules);
bool rules_amount_must_match(const struct rules *rules);
/* The state of a refund that `postonce refund register` makes, and the rule that says which orders
 * take one; NULL: no rule registers refunds. */
const struct event_rule *rules_registering(const struct rules *rules);
/* Whether any rule or `orders` names the state, of an order. */
bool rules_know_status(const struct rules *rules, const char *status);

#endif

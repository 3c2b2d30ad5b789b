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
        RULE_REFUND,     /* moves a refund: understood, and held until refunds are posted */
};

/* What to do in a state that is in none of the lists. */
enum rule_otherwise { OTHERWISE_SUSPENSE, OTHERWISE_SKIP, OTHERWISE_REJECT };

/* One line: a debit, a credit, or both, of the notification's amount. Account templates may hold
 * {channel}, {tenant}, {currency}. An empty template: that side is not in this line. */
struct rule_line {
        char debit[ACCOUNT_CODE_BYTES];
        char credit[ACCOUNT_CODE_BYTES];
};

struct event_rule {
        char event[PO_EVENT_BYTES];
        enum rule_subject subject;
        struct states from, wait, already;
        char to[STATUS_BYTES];
        char create[STATUS_BYTES]; /* state of an order made from the notification; "": none is made
                                    */
        enum rule_otherwise otherwise;
        size_t lines_count;
        struct rule_line lines[RULE_LINES_MAX];
        struct rule_line suspense[RULE_LINES_MAX]; /* the same, every credit to orders.suspense */
        char outbox[PO_EVENT_BYTES];               /* type of the outbox row; "": none */
};

struct rules;

/*
 * orders, events: the configuration's maps; orders may be NULL (defaults), events is required.
 * SYSTEMIC: an unknown or repeated member, a rule whose debits and credits do not balance, a state
 * no rule and no `orders` member leads to, a list that names a state twice.
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
/* Whether any rule or `orders` names the state. */
bool rules_know_status(const struct rules *rules, const char *status);

#endif

#include "ledger/rules.h"

#include <stdlib.h>
#include <string.h>

#include "config/schema.h"
#include "ledger/machine.h"
#include "ledger/rule_read.h"

struct orders {
        char initial[STATUS_BYTES];
        struct states external;
        char amount[16];
        char suspense[ACCOUNT_CODE_BYTES];
};

struct rules {
        struct orders orders;
        size_t count;
        struct event_rule *rules;
};

bool states_have(const struct states *states, const char *status)
{
        for (size_t i = 0; i < states->count; i++)
                if (strcmp(states->words[i], status) == 0)
                        return true;
        return false;
}

static const char *const amount_words[] = { "must_match", "any", NULL };
static const struct field order_fields[] = {
        WORD("initial", orders, initial, false, "PENDING_PAY", "state of a newly registered order"),
        STATES("external", orders, external, false, "states that other systems set"),
        { .name = "amount",
          .kind = FIELD_WORD,
          .offset = offsetof(struct orders, amount),
          .size = sizeof(((struct orders *)0)->amount),
          .words = amount_words,
          .fallback = "must_match",
          .help = "whether a payment must be of the order's amount and currency" },
        { .name = "suspense",
          .kind = FIELD_CUSTOM,
          .reader = rule_read_template,
          .offset = offsetof(struct orders, suspense),
          .size = ACCOUNT_CODE_BYTES,
          .fallback = "'suspense:{channel}'",
          .help = "account of money that could not move its order" },
        { .name = NULL },
};

static void swap_sides(struct rule_line *line)
{
        struct rule_line turned = { .amount = line->amount };
        memcpy(turned.debit, line->credit, sizeof turned.debit);
        memcpy(turned.credit, line->debit, sizeof turned.credit);
        *line = turned;
}

/*
 * What moved on the channel's side is booked as ever; the other side stands in suspense: whose it
 * is, a person must say. A reversal has the lines of what it undoes, the other way round.
 */
static void fill_suspense(struct rules *rules, struct event_rule *rule)
{
        const struct event_rule *source =
                rule->reverses[0] != '\0' ? rules_find(rules, rule->reverses) : rule;
        bool leaves = rule->reverses[0] != '\0' || rule->subject == RULE_REFUND;
        rule->suspense_count = source->lines_count;
        for (size_t i = 0; i < source->lines_count; i++) {
                struct rule_line *line = &rule->suspense[i];
                *line = source->lines[i];
                if (rule->reverses[0] != '\0')
                        swap_sides(line);
                char *side = leaves ? line->debit : line->credit;
                if (side[0] != '\0')
                        memcpy(side, rules->orders.suspense, sizeof rules->orders.suspense);
        }
}

static enum po_class check_reverses(const struct rules *rules, const struct node *events,
                                    struct po_error *error)
{
        for (size_t i = 0; i < rules->count; i++) {
                const struct event_rule *rule = &rules->rules[i];
                if (rule->reverses[0] == '\0')
                        continue;
                const struct event_rule *target = rules_find(rules, rule->reverses);
                if (target == NULL || target->subject == RULE_REFUND || target->reverses[0] != '\0')
                        return node_fail(node_at(events, i), error,
                                         "event %s: reverses %s, which is no event that posts a "
                                         "payment",
                                         rule->event, rule->reverses);
        }
        return PO_OK;
}

/* What a refund's failure takes back is what leads to the states that it reverses: the first such.
 */
static void fill_takes_back(const struct rules *rules, struct event_rule *rule)
{
        for (size_t i = 0; i < rules->count && rule->takes_back[0] == '\0'; i++) {
                const struct event_rule *success = &rules->rules[i];
                if (success->subject == RULE_REFUND && success->refund.act == REFUND_PAYS &&
                    states_have(&rule->refund.reverse, success->refund.to))
                        memcpy(rule->takes_back, success->event, sizeof rule->takes_back);
        }
}

static enum po_class fill(struct rules *rules, const struct node *orders, const struct node *events,
                          struct po_error *error)
{
        if (orders == NULL && node_aside(events, "orders", "{}", &orders, error) != PO_OK)
                return error->kind;
        if (node_kind(orders) != NODE_MAP)
                return node_fail(orders, error, "orders must be a map");
        if (schema_read(orders, order_fields, &rules->orders, error) != PO_OK)
                return error->kind;
        if (node_kind(events) != NODE_MAP || node_count(events) == 0)
                return node_fail(events, error, "events must be a map of at least one event");
        rules->rules = calloc(node_count(events), sizeof *rules->rules);
        if (rules->rules == NULL)
                return po_fail(error, PO_SYSTEMIC, 0, "out of memory for the event rules");
        for (; rules->count < node_count(events); rules->count++)
                if (rule_read(node_key(events, rules->count), node_at(events, rules->count),
                              &rules->rules[rules->count], error) != PO_OK)
                        return error->kind;
        if (check_reverses(rules, events, error) != PO_OK)
                return error->kind;
        for (size_t i = 0; i < rules->count; i++)
                fill_suspense(rules, &rules->rules[i]);
        for (size_t i = 0; i < rules->count; i++)
                if (rules->rules[i].refund.reverse.count > 0)
                        fill_takes_back(rules, &rules->rules[i]);
        return machine_check(rules, events, error);
}

enum po_class rules_read(const struct node *orders, const struct node *events,
                         struct rules **rules_out, struct po_error *error)
{
        *rules_out = NULL;
        struct rules *rules = calloc(1, sizeof *rules);
        if (rules == NULL)
                return po_fail(error, PO_SYSTEMIC, 0, "out of memory for the event rules");
        if (fill(rules, orders, events, error) != PO_OK) {
                rules_free(rules);
                return error->kind;
        }
        *rules_out = rules;
        return PO_OK;
}

void rules_free(struct rules *rules)
{
        if (rules == NULL)
                return;
        free(rules->rules);
        free(rules);
}

const struct event_rule *rules_find(const struct rules *rules, const char *event)
{
        for (size_t i = 0; i < rules->count; i++)
                if (strcmp(rules->rules[i].event, event) == 0)
                        return &rules->rules[i];
        return NULL;
}

size_t rules_count(const struct rules *rules)
{
        return rules->count;
}

const struct event_rule *rules_at(const struct rules *rules, size_t index)
{
        return &rules->rules[index];
}

const char *rules_initial(const struct rules *rules)
{
        return rules->orders.initial;
}

const struct states *rules_external(const struct rules *rules)
{
        return &rules->orders.external;
}

bool rules_amount_must_match(const struct rules *rules)
{
        return strcmp(rules->orders.amount, "must_match") == 0;
}

const struct event_rule *rules_registering(const struct rules *rules)
{
        for (size_t i = 0; i < rules->count; i++)
                if (rules->rules[i].subject == RULE_REFUND &&
                    rules->rules[i].refund.act == REFUND_REGISTERS)
                        return &rules->rules[i];
        return NULL;
}

bool rules_know_status(const struct rules *rules, const char *status)
{
        if (status[0] == '\0') /* what members that are left out hold */
                return false;
        if (strcmp(rules->orders.initial, status) == 0 ||
            states_have(&rules->orders.external, status))
                return true;
        for (size_t i = 0; i < rules->count; i++) {
                const struct event_rule *rule = &rules->rules[i];
                if (strcmp(rule->to, status) == 0 || strcmp(rule->create, status) == 0 ||
                    states_have(&rule->from, status) || states_have(&rule->wait, status) ||
                    states_have(&rule->already, status))
                        return true;
                if (rule->to_refunded_total && (strcmp(status, STATUS_PARTIALLY_REFUNDED) == 0 ||
                                                strcmp(status, STATUS_REFUNDED) == 0))
                        return true;
        }
        return false;
}

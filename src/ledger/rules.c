#include "ledger/rules.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/schema.h"
#include "ledger/account.h"

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

/* [A-Z][A-Z0-9_]*: what outcome.result_json and the CHECKs can hold without escaping. */
static bool is_word(const char *text)
{
        if (text[0] < 'A' || text[0] > 'Z')
                return false;
        return strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == strlen(text);
}

static enum po_class read_word(const struct node *node, const struct field *field, void *target,
                               struct po_error *error)
{
        char *word = target;
        if (schema_word(node, word, field->size, error) != PO_OK)
                return error->kind;
        if (!is_word(word))
                return node_fail(node, error,
                                 "\"%s\" must be a word in upper case: [A-Z][A-Z0-9_]*", word);
        return PO_OK;
}

static enum po_class read_states(const struct node *node, const struct field *field, void *target,
                                 struct po_error *error)
{
        (void)field;
        struct states *states = target;
        if (schema_words(node, false, states->words, sizeof states->words[0], RULE_STATES_MAX,
                         &states->count, error) != PO_OK)
                return error->kind;
        for (size_t i = 0; i < states->count; i++)
                if (!is_word(states->words[i]))
                        return node_fail(node_at(node, i), error,
                                         "\"%s\" must be a word in upper case: [A-Z][A-Z0-9_]*",
                                         states->words[i]);
        return PO_OK;
}

#define WORD(member_name, struct_name, member, is_required, default_text, help_text)               \
        {                                                                                          \
                .name = member_name, .kind = FIELD_CUSTOM, .reader = read_word,                    \
                .offset = offsetof(struct struct_name, member),                                    \
                .size = sizeof(((struct struct_name *)0)->member), .required = is_required,        \
                .fallback = default_text, .help = help_text                                        \
        }
#define STATES(member_name, struct_name, member, is_required, help_text)                           \
        {                                                                                          \
                .name = member_name, .kind = FIELD_CUSTOM, .reader = read_states,                  \
                .offset = offsetof(struct struct_name, member), .required = is_required,           \
                .help = help_text                                                                  \
        }

static enum po_class read_template(const struct node *node, const struct field *field, void *target,
                                   struct po_error *error);

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
          .reader = read_template,
          .offset = offsetof(struct orders, suspense),
          .size = ACCOUNT_CODE_BYTES,
          .fallback = "'suspense:{channel}'",
          .help = "account of money that could not move its order" },
        { .name = NULL },
};

static const struct field move_fields[] = {
        STATES("from", event_rule, from, true, "states that this event moves"),
        STATES("wait", event_rule, wait, false, "states that are too early for it"),
        STATES("already", event_rule, already, false, "states that are further on: nothing to do"),
        WORD("to", event_rule, to, true, NULL, "the state it moves to"),
        WORD("create", event_rule, create, false, NULL, "an unknown order is made in this state"),
        { .name = NULL },
};

static enum po_class read_move(const struct node *node, const struct field *field, void *target,
                               struct po_error *error)
{
        struct event_rule *rule = (struct event_rule *)((char *)target - field->offset);
        if (node_kind(node) != NODE_MAP)
                return node_fail(node, error, "\"%s\" must be a map with from and to", field->name);
        /* A rule with `refund:` may also have `order:`; both are read, the refund judges. */
        bool refund = strcmp(field->name, "refund") == 0;
        struct event_rule scratch = { 0 };
        if (schema_read(node, move_fields, refund ? &scratch : rule, error) != PO_OK)
                return error->kind;
        if (refund)
                rule->subject = RULE_REFUND;
        else if (rule->subject == RULE_POSTS_ONLY)
                rule->subject = RULE_ORDER;
        return PO_OK;
}

static enum po_class read_template(const struct node *node, const struct field *field, void *target,
                                   struct po_error *error)
{
        char *template = target;
        const char *bad;
        if (schema_word(node, template, field->size, error) != PO_OK)
                return error->kind;
        if (!account_template_ok(template, &bad))
                return node_fail(
                        node, error,
                        "account \"%s\": \"%.20s\" is none of {channel}, {tenant}, {currency}",
                        template, bad);
        return PO_OK;
}

struct line_text {
        struct rule_line line;
        char amount[16];
};
static const char *const line_amounts[] = { "amount", NULL };
static const struct field line_fields[] = {
        { .name = "debit",
          .kind = FIELD_CUSTOM,
          .reader = read_template,
          .offset = offsetof(struct line_text, line.debit),
          .size = ACCOUNT_CODE_BYTES,
          .help = "account that receives the amount" },
        { .name = "credit",
          .kind = FIELD_CUSTOM,
          .reader = read_template,
          .offset = offsetof(struct line_text, line.credit),
          .size = ACCOUNT_CODE_BYTES,
          .help = "account that gives it" },
        { .name = "amount",
          .kind = FIELD_WORD,
          .offset = offsetof(struct line_text, amount),
          .size = sizeof(((struct line_text *)0)->amount),
          .words = line_amounts,
          .required = true,
          .help = "which amount of the notification" },
        { .name = NULL },
};

static enum po_class read_post(const struct node *node, const struct field *field, void *target,
                               struct po_error *error)
{
        struct event_rule *rule = (struct event_rule *)((char *)target - field->offset);
        if (node_kind(node) != NODE_LIST)
                return node_fail(node, error, "post must be a list of lines");
        if (node_count(node) > RULE_LINES_MAX)
                return node_fail(node, error, "post has %zu lines, at most %d are possible",
                                 node_count(node), RULE_LINES_MAX);
        int debits = 0, credits = 0;
        for (size_t i = 0; i < node_count(node); i++) {
                const struct node *item = node_at(node, i);
                struct line_text line = { 0 };
                if (node_kind(item) != NODE_MAP)
                        return node_fail(item, error,
                                         "a line must be { debit: …, credit: …, "
                                         "amount: amount }");
                if (schema_read(item, line_fields, &line, error) != PO_OK)
                        return error->kind;
                if (line.line.debit[0] == '\0' && line.line.credit[0] == '\0')
                        return node_fail(item, error, "a line needs debit, credit or both");
                debits += line.line.debit[0] != '\0';
                credits += line.line.credit[0] != '\0';
                rule->lines[rule->lines_count++] = line.line;
        }
        if (debits != credits)
                return node_fail(node, error,
                                 "unbalanced: amount is debited %d times and credited %d times",
                                 debits, credits);
        return PO_OK;
}

static const char *const otherwise_words[] = { "suspense", "skip", "reject", NULL };

static enum po_class read_otherwise(const struct node *node, const struct field *field,
                                    void *target, struct po_error *error)
{
        (void)field;
        size_t index;
        if (schema_choice(node, otherwise_words, &index, error) != PO_OK)
                return error->kind;
        *(enum rule_otherwise *)target = (enum rule_otherwise)index;
        return PO_OK;
}

static const struct field rule_fields[] = {
        { .name = "order",
          .kind = FIELD_CUSTOM,
          .reader = read_move,
          .offset = offsetof(struct event_rule, from),
          .help = "how it moves the order: from, to, already, wait, create" },
        { .name = "refund",
          .kind = FIELD_CUSTOM,
          .reader = read_move,
          .offset = offsetof(struct event_rule, from),
          .help = "how it moves the refund; such notifications are held for now" },
        { .name = "otherwise",
          .kind = FIELD_CUSTOM,
          .reader = read_otherwise,
          .offset = offsetof(struct event_rule, otherwise),
          .help = "in any other state: suspense (the default), skip or reject" },
        { .name = "post",
          .kind = FIELD_CUSTOM,
          .reader = read_post,
          .offset = offsetof(struct event_rule, lines),
          .help = "lines { debit, credit, amount }, balanced" },
        WORD("outbox", event_rule, outbox, false, NULL, "type of the outbox row; none without"),
        { .name = NULL },
};

static enum po_class read_rule(const struct node *key, const struct node *node,
                               struct event_rule *rule, struct po_error *error)
{
        const struct field event = { .name = "event", .size = sizeof rule->event };
        if (read_word(key, &event, rule->event, error) != PO_OK)
                return error->kind;
        if (node_kind(node) != NODE_MAP)
                return node_fail(node, error, "rule of %s must be a map", rule->event);
        if (schema_read(node, rule_fields, rule, error) != PO_OK)
                return error->kind;
        if (rule->subject == RULE_POSTS_ONLY && rule->lines_count == 0)
                return node_fail(node, error,
                                 "event %s does nothing: it has neither order nor post",
                                 rule->event);
        for (size_t i = 0; i < rule->from.count; i++)
                if (states_have(&rule->already, rule->from.words[i]) ||
                    states_have(&rule->wait, rule->from.words[i]))
                        return node_fail(node, error, "event %s: %s is in from and in another list",
                                         rule->event, rule->from.words[i]);
        for (size_t i = 0; i < rule->wait.count; i++)
                if (states_have(&rule->already, rule->wait.words[i]))
                        return node_fail(node, error, "event %s: %s is in wait and in already",
                                         rule->event, rule->wait.words[i]);
        return PO_OK;
}

/* What `to: refunded_total` will make of an order. */
static bool refund_leads_to(const char *status)
{
        return strcmp(status, "PARTIALLY_REFUNDED") == 0 || strcmp(status, "REFUNDED") == 0;
}

/* A state that nothing leads to is a misspelling, and would make its rule silent. */
static bool is_reachable(const struct rules *rules, const char *status)
{
        if (strcmp(rules->orders.initial, status) == 0 ||
            states_have(&rules->orders.external, status))
                return true;
        for (size_t i = 0; i < rules->count; i++)
                if (strcmp(rules->rules[i].to, status) == 0 ||
                    strcmp(rules->rules[i].create, status) == 0 ||
                    (rules->rules[i].subject == RULE_REFUND && refund_leads_to(status)))
                        return true;
        return false;
}

static enum po_class check_states(const struct rules *rules, const struct node *events,
                                  struct po_error *error)
{
        for (size_t i = 0; i < rules->count; i++) {
                const struct event_rule *rule = &rules->rules[i];
                const struct states *lists[] = { &rule->from, &rule->wait, &rule->already };
                for (size_t list = 0; list < 3; list++)
                        for (size_t j = 0; j < lists[list]->count; j++)
                                if (!is_reachable(rules, lists[list]->words[j]))
                                        return node_fail(
                                                node_at(events, i), error,
                                                "event %s: nothing leads to state %s: is it "
                                                "misspelt, or missing in orders.external?",
                                                rule->event, lists[list]->words[j]);
        }
        return PO_OK;
}

/* What the channel received stays where it is; whose it is, a person must say. */
static void fill_suspense(struct rules *rules)
{
        for (size_t i = 0; i < rules->count; i++) {
                struct event_rule *rule = &rules->rules[i];
                for (size_t j = 0; j < rule->lines_count; j++) {
                        rule->suspense[j] = rule->lines[j];
                        if (rule->lines[j].credit[0] != '\0')
                                memcpy(rule->suspense[j].credit, rules->orders.suspense,
                                       sizeof rules->orders.suspense);
                }
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
                if (read_rule(node_key(events, rules->count), node_at(events, rules->count),
                              &rules->rules[rules->count], error) != PO_OK)
                        return error->kind;
        fill_suspense(rules);
        return check_states(rules, events, error);
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

bool rules_know_status(const struct rules *rules, const char *status)
{
        if (status[0] == '\0') /* what members that are left out hold */
                return false;
        if (is_reachable(rules, status))
                return true;
        for (size_t i = 0; i < rules->count; i++) {
                const struct event_rule *rule = &rules->rules[i];
                if (states_have(&rule->from, status) || states_have(&rule->wait, status) ||
                    states_have(&rule->already, status))
                        return true;
        }
        return false;
}

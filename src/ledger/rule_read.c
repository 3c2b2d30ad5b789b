#include "ledger/rule_read.h"

#include <stdio.h>
#include <string.h>

#include "config/schema.h"
#include "ledger/account.h"

/* [A-Z][A-Z0-9_]*: what outcome.result_json and the CHECKs can hold without escaping. */
static bool is_word(const char *text)
{
        if (text[0] < 'A' || text[0] > 'Z')
                return false;
        return strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == strlen(text);
}

enum po_class rule_read_word(const struct node *node, const struct field *field, void *target,
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

enum po_class rule_read_states(const struct node *node, const struct field *field, void *target,
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

/* The one word in lower case: what the order's state follows from. */
#define REFUNDED_TOTAL "refunded_total"

static enum po_class read_to(const struct node *node, const struct field *field, void *target,
                             struct po_error *error)
{
        struct event_rule *rule = (struct event_rule *)((char *)target - field->offset);
        if (schema_word(node, rule->to, sizeof rule->to, error) != PO_OK)
                return error->kind;
        if (strcmp(rule->to, REFUNDED_TOTAL) != 0)
                return rule_read_word(node, field, target, error);
        rule->to_refunded_total = true;
        rule->to[0] = '\0';
        return PO_OK;
}

static const struct field move_fields[] = {
        STATES("from", event_rule, from, true, "states that this event moves"),
        STATES("wait", event_rule, wait, false, "states that are too early for it"),
        STATES("already", event_rule, already, false, "states that are further on: nothing to do"),
        { .name = "to",
          .kind = FIELD_CUSTOM,
          .reader = read_to,
          .offset = offsetof(struct event_rule, to),
          .size = STATUS_BYTES,
          .help = "the state it moves to; of a refund: refunded_total" },
        WORD("create", event_rule, create, false, NULL, "an unknown order is made in this state"),
        { .name = NULL },
};

static const struct field refund_fields[] = {
        STATES("from", refund_move, from, false, "states that this event moves"),
        STATES("wait", refund_move, wait, false, "states that are too early for it"),
        STATES("already", refund_move, already, false, "states that are further on"),
        STATES("reverse", refund_move, reverse, false, "states whose posting it takes back"),
        WORD("to", refund_move, to, false, NULL, "the state it moves to"),
        WORD("create", refund_move, create, false, NULL, "registers the refund in this state"),
        { .name = "keeps",
          .kind = FIELD_BOOLEAN,
          .offset = offsetof(struct refund_move, keeps),
          .fallback = "false",
          .help = "it may still be paid: what is reserved stays reserved" },
        { .name = NULL },
};

static enum po_class read_move(const struct node *node, const struct field *field, void *target,
                               struct po_error *error)
{
        struct event_rule *rule = (struct event_rule *)((char *)target - field->offset);
        if (node_kind(node) != NODE_MAP)
                return node_fail(node, error, "\"%s\" must be a map with from and to", field->name);
        if (rule->subject == RULE_POSTS_ONLY)
                rule->subject = RULE_ORDER;
        return schema_read(node, move_fields, rule, error);
}

/* Of one that registers: create alone. Of any other: from (or reverse) and to. */
static enum po_class read_refund(const struct node *node, const struct field *field, void *target,
                                 struct po_error *error)
{
        struct refund_move *refund = target;
        struct event_rule *rule = (struct event_rule *)((char *)target - field->offset);
        if (node_kind(node) != NODE_MAP)
                return node_fail(node, error, "\"%s\" must be a map with create, or from and to",
                                 field->name);
        if (schema_read(node, refund_fields, refund, error) != PO_OK)
                return error->kind;
        rule->subject = RULE_REFUND;
        if (refund->create[0] != '\0') {
                if (node_count(node) > 1)
                        return node_fail(node, error, "create stands alone: the refund is new");
                return PO_OK;
        }
        if (refund->from.count + refund->reverse.count == 0)
                return node_fail(node, error, "required member \"from\" is missing");
        if (refund->to[0] == '\0')
                return node_fail(node, error, "required member \"to\" is missing");
        return PO_OK;
}

enum po_class rule_read_template(const struct node *node, const struct field *field, void *target,
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
static const char *const line_amounts[] = { "amount", "fee", "net", NULL };
static const struct field line_fields[] = {
        { .name = "debit",
          .kind = FIELD_CUSTOM,
          .reader = rule_read_template,
          .offset = offsetof(struct line_text, line.debit),
          .size = ACCOUNT_CODE_BYTES,
          .help = "account that receives the amount" },
        { .name = "credit",
          .kind = FIELD_CUSTOM,
          .reader = rule_read_template,
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

static enum line_amount line_amount_of(const char *word)
{
        enum line_amount amount = LINE_AMOUNT;
        while (strcmp(line_amounts[amount], word) != 0)
                amount++;
        return amount;
}

/* How often amount and fee are debited and credited; net is amount less fee. */
struct balance_form {
        int debits[2], credits[2];
};

static void form_add_side(int side[2], enum line_amount amount)
{
        side[0] += amount != LINE_FEE;
        side[1] += amount == LINE_FEE ? 1 : amount == LINE_NET ? -1 : 0;
}

static void form_add(struct balance_form *form, const struct rule_line *line)
{
        if (line->debit[0] != '\0')
                form_add_side(form->debits, line->amount);
        if (line->credit[0] != '\0')
                form_add_side(form->credits, line->amount);
}

static enum po_class form_check(const struct balance_form *form, const struct node *node,
                                struct po_error *error)
{
        for (int i = 0; i < 2; i++)
                if (form->debits[i] != form->credits[i])
                        return node_fail(node, error,
                                         "unbalanced: %s is debited %d times and credited %d times",
                                         line_amounts[i], form->debits[i], form->credits[i]);
        return PO_OK;
}

static enum po_class read_post(const struct node *node, const struct field *field, void *target,
                               struct po_error *error)
{
        struct event_rule *rule = (struct event_rule *)((char *)target - field->offset);
        if (node_kind(node) != NODE_LIST)
                return node_fail(node, error, "post must be a list of lines");
        if (node_count(node) > RULE_LINES_MAX)
                return node_fail(node, error, "post has %zu lines, at most %d are possible",
                                 node_count(node), RULE_LINES_MAX);
        struct balance_form form = { 0 };
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
                line.line.amount = line_amount_of(line.amount);
                form_add(&form, &line.line);
                rule->lines[rule->lines_count++] = line.line;
        }
        return form_check(&form, node, error);
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

static const char *const money_words[] = { "moves", "promised", NULL };

static enum po_class read_money(const struct node *node, const struct field *field, void *target,
                                struct po_error *error)
{
        (void)field;
        size_t index;
        if (schema_choice(node, money_words, &index, error) != PO_OK)
                return error->kind;
        *(bool *)target = index == 1;
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
          .reader = read_refund,
          .offset = offsetof(struct event_rule, refund),
          .help = "how it moves the refund: create; or from, wait, already, reverse, to, keeps" },
        WORD("reverses", event_rule, reverses, false, NULL,
             "the event whose posting it takes back"),
        WORD("parent", event_rule, parent, false, "PAYMENT_RECEIVED",
             "the event whose txn is a refund's parent"),
        { .name = "money",
          .kind = FIELD_CUSTOM,
          .reader = read_money,
          .offset = offsetof(struct event_rule, promised),
          .help = "moves (the default), or promised: no payment is recorded yet" },
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

static enum po_class check_lists(const struct node *node, const char *event,
                                 const struct states *from, const struct states *wait,
                                 const struct states *already, struct po_error *error)
{
        for (size_t i = 0; i < from->count; i++)
                if (states_have(already, from->words[i]) || states_have(wait, from->words[i]))
                        return node_fail(node, error, "event %s: %s is in from and in another list",
                                         event, from->words[i]);
        for (size_t i = 0; i < wait->count; i++)
                if (states_have(already, wait->words[i]))
                        return node_fail(node, error, "event %s: %s is in wait and in already",
                                         event, wait->words[i]);
        return PO_OK;
}

static enum po_class check_order(const struct node *node, const struct event_rule *rule,
                                 struct po_error *error)
{
        if (rule->to_refunded_total)
                return node_fail(node, error, "event %s: " REFUNDED_TOTAL " needs `refund`",
                                 rule->event);
        if (rule->subject == RULE_ORDER && rule->to[0] == '\0')
                return node_fail(node_member(node, "order"), error,
                                 "required member \"to\" is missing");
        if (rule->promised && rule->lines_count > 0)
                return node_fail(node, error, "event %s: promised money is not posted",
                                 rule->event);
        if (rule->reverses[0] != '\0' && rule->lines_count > 0)
                return node_fail(node, error, "event %s: a reversal posts what %s posted, no lines",
                                 rule->event, rule->reverses);
        return PO_OK;
}

/* Which of the three a refund's rule is follows from its members. */
static enum po_class check_refund(const struct node *node, struct event_rule *rule,
                                  struct po_error *error)
{
        struct refund_move *refund = &rule->refund;
        if (rule->to[0] != '\0' || rule->create[0] != '\0' || rule->reverses[0] != '\0' ||
            rule->promised)
                return node_fail(node, error,
                                 "event %s: a refund moves its order to " REFUNDED_TOTAL
                                 " or not at all",
                                 rule->event);
        if (refund->create[0] != '\0')
                refund->act = REFUND_REGISTERS;
        else if (rule->to_refunded_total && refund->reverse.count == 0)
                refund->act = REFUND_PAYS;
        else
                refund->act = REFUND_RELEASES;
        if (refund->act != REFUND_PAYS && rule->lines_count > 0)
                return node_fail(node, error,
                                 "event %s: only a refund that reached the payer is posted: "
                                 "order: { to: " REFUNDED_TOTAL " }",
                                 rule->event);
        if (refund->act == REFUND_PAYS && refund->keeps)
                return node_fail(node, error, "event %s: keeps is for what is not paid yet",
                                 rule->event);
        if (refund->act == REFUND_RELEASES && strcmp(refund->to, REFUND_SUCCEEDED) == 0)
                return node_fail(node, error,
                                 "event %s: " REFUND_SUCCEEDED
                                 " needs order: { from: …, to: " REFUNDED_TOTAL " }",
                                 rule->event);
        return PO_OK;
}

enum po_class rule_read(const struct node *key, const struct node *node, struct event_rule *rule,
                        struct po_error *error)
{
        const struct field event = { .name = "event", .size = sizeof rule->event };
        if (rule_read_word(key, &event, rule->event, error) != PO_OK)
                return error->kind;
        if (node_kind(node) != NODE_MAP)
                return node_fail(node, error, "rule of %s must be a map", rule->event);
        if (schema_read(node, rule_fields, rule, error) != PO_OK)
                return error->kind;
        if (rule->subject == RULE_POSTS_ONLY && rule->lines_count == 0 && rule->reverses[0] == '\0')
                return node_fail(node, error,
                                 "event %s does nothing: it has neither order nor post",
                                 rule->event);
        if (check_lists(node, rule->event, &rule->from, &rule->wait, &rule->already, error) !=
            PO_OK)
                return error->kind;
        if (check_lists(node, rule->event, &rule->refund.from, &rule->refund.wait,
                        &rule->refund.already, error) != PO_OK)
                return error->kind;
        return rule->subject == RULE_REFUND ? check_refund(node, rule, error)
                                            : check_order(node, rule, error);
}

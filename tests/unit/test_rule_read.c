/* One event's rule by itself: what rules_read() is not asked for in test_rules. */
#include "unit.h"

#include "ledger/rule_read.h"

static struct po_error error;

static enum po_class parse(const char *events, struct event_rule *rule)
{
        struct document *document;
        ck_assert_int_eq(document_parse(&document, "e", events, strlen(events), &error), PO_OK);
        const struct node *root = document_root(document);
        memset(rule, 0, sizeof *rule);
        enum po_class kind = rule_read(node_key(root, 0), node_at(root, 0), rule, &error);
        document_close(document);
        return kind;
}

START_TEST(money_is_promised_or_moves)
{
        struct event_rule rule;
        ck_assert_int_eq(parse("A:\n  order: { from: [X], to: Y }\n", &rule), PO_OK);
        ck_assert(!rule.promised);
        ck_assert_int_eq(parse("A:\n  order: { from: [X], to: Y }\n  money: promised\n", &rule),
                         PO_OK);
        ck_assert(rule.promised);
        ck_assert_int_eq(parse("A:\n  money: promised\n"
                               "  post: [ { debit: a, credit: b, amount: amount } ]\n",
                               &rule),
                         PO_SYSTEMIC);
        unit_assert_in(error.text, "promised money is not posted");
        ck_assert_int_eq(parse("A:\n  order: { from: [X], to: Y }\n  money: lent\n", &rule),
                         PO_SYSTEMIC);
}
END_TEST

START_TEST(lists_of_refunds_do_not_overlap_either)
{
        struct event_rule rule;
        ck_assert_int_eq(parse("A:\n  refund: { from: [X], already: [X], to: Y }\n", &rule),
                         PO_SYSTEMIC);
        unit_assert_in(error.text, "X is in from and in another list");
        ck_assert_int_eq(
                parse("A:\n  refund: { from: [X], wait: [Z], already: [Z], to: Y }\n", &rule),
                PO_SYSTEMIC);
        unit_assert_in(error.text, "Z is in wait and in already");
}
END_TEST

START_TEST(a_reversal_may_do_without_an_order)
{
        struct event_rule rule;
        ck_assert_int_eq(parse("A:\n  reverses: B\n", &rule), PO_OK);
        ck_assert_int_eq(rule.subject, RULE_POSTS_ONLY);
        ck_assert_str_eq(rule.reverses, "B");
}
END_TEST

UNIT_MAIN("rule_read", money_is_promised_or_moves, lists_of_refunds_do_not_overlap_either,
          a_reversal_may_do_without_an_order)

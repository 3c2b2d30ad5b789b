#include "unit.h"

#include "channel/rule_load.h"
#include "config/document.h"

static struct document *document;
static struct rule rule;
static bool unrolled;
static struct po_error error;

static enum po_class load(const char *text)
{
        memset(&rule, 0, sizeof rule);
        ck_assert_int_eq(document_parse(&document, "t.yaml", text, strlen(text), &error), PO_OK);
        return rule_load(document_root(document), unrolled, &rule, &error);
}

/* complaint: what stands after "t.yaml:" */
static void assert_refused(const char *text, const char *complaint)
{
        char expected[256];
        snprintf(expected, sizeof expected, "t.yaml:%s", complaint);
        enum po_class kind = load(text);
        ck_assert_msg(kind == PO_SYSTEMIC, "taken: %s", text);
        unit_assert_in(error.text, expected);
        document_close(document);
}

START_TEST(a_rule_with_everything_is_read_as_it_is_written)
{
        ck_assert_msg(
                load("when: [[/a, eq, PAID], [/b, in, [X, Y]], [/c, prefix, R.],\n"
                     "       [/d, exists], [/e, absent], [/f, gt0]]\n"
                     "event: REFUND_SUCCEEDED\n"
                     "txn: [/sn, /rf|/ct]\n"
                     "order: /o\n"
                     "parent: /sn\n"
                     "refund_no: /rf\n"
                     "amount: { at: /t, minus: /n, format: decimal, kind: net }\n"
                     "currency: { at: /c, default: CNY, upper: true, map: { \"156\": CNY } }\n"
                     "occurred_at: { at: /w, format: ms }\n") == PO_OK,
                "%s", error.text);
        ck_assert_uint_eq(rule.when.count, 6);
        ck_assert_int_eq(rule.when.items[1].test, CONDITION_IN);
        ck_assert_uint_eq(rule.when.items[1].words_count, 2);
        ck_assert_str_eq(rule.when.items[1].words[1], "Y");
        ck_assert_int_eq(rule.when.items[5].test, CONDITION_GT0);
        ck_assert_str_eq(rule.event, "REFUND_SUCCEEDED");
        ck_assert_uint_eq(rule.txn.count, 2);
        ck_assert_str_eq(rule.txn.items[1].source, "/rf|/ct");
        ck_assert_uint_eq(rule.parent.count, 1);
        ck_assert_int_eq(rule.amount.form.format, AMOUNT_DECIMAL);
        ck_assert_int_eq(rule.amount.form.kind, PO_AMOUNT_NET);
        ck_assert(pointer_is_given(&rule.amount.minus));
        ck_assert_str_eq(rule.currency.fallback, "CNY");
        ck_assert(rule.currency.upper);
        ck_assert_str_eq(rule.currency.names[0].text, "156");
        ck_assert_str_eq(rule.currency.names[0].code, "CNY");
        ck_assert_int_eq(rule.occurred_at.form.format, MOMENT_MILLISECONDS);
        document_close(document);
}
END_TEST

START_TEST(what_a_rule_leaves_out_is_not_given)
{
        ck_assert_int_eq(load("{ when: [], event: A, txn: /t }"), PO_OK);
        ck_assert(!rule.ignore);
        ck_assert(!pointer_is_given(&rule.order));
        ck_assert(!pointer_is_given(&rule.amount.at));
        ck_assert(!pointer_is_given(&rule.occurred_at.at));
        ck_assert_uint_eq(rule.parent.count, 0);
        document_close(document);
}
END_TEST

START_TEST(an_amount_is_that_of_this_movement_unless_it_says_otherwise)
{
        ck_assert_int_eq(load("{ when: [], event: A, txn: /t, amount: { at: /a, format: minor },"
                              "  currency: { const: CNY } }"),
                         PO_OK);
        ck_assert_int_eq(rule.amount.form.kind, PO_AMOUNT_THIS);
        document_close(document);
}
END_TEST

START_TEST(a_rule_wants_event_and_txn_or_ignore)
{
        ck_assert_int_eq(load("{ when: [[/a, exists]], ignore: true }"), PO_OK);
        ck_assert(rule.ignore);
        document_close(document);
        assert_refused("{ when: [], txn: /t }", "1:1: a rule wants event and txn");
        assert_refused("{ when: [], event: A }", "1:1: a rule wants event and txn");
        assert_refused("{ when: [], ignore: false }", "1:1: a rule wants event and txn");
        assert_refused("{ when: [], ignore: true, event: A }", "1:1: a rule with ignore");
        assert_refused("{ event: A, txn: /t }", "1:1: required member \"when\"");
}
END_TEST

START_TEST(a_wrong_condition_is_refused_where_it_stands)
{
        assert_refused("{ when: [[/a, eq]], ignore: true }", "1:10: \"eq\" wants one thing");
        assert_refused("{ when: [[/a, exists, b]], ignore: true }", "1:10: \"exists\" compares");
        assert_refused("{ when: [[/a]], ignore: true }", "1:10: a condition is");
        assert_refused("{ when: [/a, eq, b], ignore: true }", "1:10: a condition is");
        assert_refused("{ when: { a: b }, ignore: true }", "1:9: when wants a list");
        assert_refused("{ when: [[/a, is, b]], ignore: true }", "1:15: ");
        assert_refused("{ when: [[a, eq, b]], ignore: true }", "1:11: a pointer starts with '/'");
        assert_refused("{ when: [[/a, in, b]], ignore: true }", "1:19: \"in\" wants a list");
        assert_refused("{ when: [[/a, in, []]], ignore: true }", "1:19: \"in\" wants a list");
        assert_refused("{ when: [[/a, in, [b, [c]]]], ignore: true }", "1:23: ");
        assert_refused("{ when: [[/a, eq, [b]]], ignore: true }", "1:19: ");
}
END_TEST

START_TEST(a_wrong_value_is_refused_where_it_stands)
{
        assert_refused("{ when: [], event: Paid, txn: /t }", "1:20: an event is a word");
        assert_refused("{ when: [], event: A, txn: t }", "1:28: a pointer starts with '/'");
        assert_refused("{ when: [], event: A, txn: [] }", "1:28: txn wants 1 to 4 pointers");
        assert_refused("{ when: [], event: A, txn: [/1, /2, /3, /4, /5] }", "1:28: txn wants");
        assert_refused("{ when: [], event: A, txn: /t, order: [/o] }", "1:39: ");
        assert_refused("{ when: [], event: A, txn: /t, odrer: /o }", "1:32: unknown member");
        assert_refused("{ when: [], event: A, txn: /t,\n  occurred_at: { at: /w } }",
                       "2:16: required member \"format\"");
        assert_refused("{ when: [], event: A, txn: /t,\n  occurred_at: { at: /w, format: iso } }",
                       "2:34: ");
        assert_refused("{ when: [], event: A, txn: /t,\n  occurred_at: /w }", "2:16: ");
}
END_TEST

START_TEST(a_wrong_amount_or_currency_is_refused_where_it_stands)
{
        static const struct {
                const char *members, *complaint;
        } wrong[] = {
                { "amount: { at: /a, format: minor }", "1:1: amount and currency stand together" },
                { "currency: { const: CNY }", "1:1: amount and currency stand together" },
                { "amount: { at: /a, format: yuan }, currency: { const: CNY }", "2:27: " },
                { "amount: { at: /a }, currency: { const: CNY }", "2:9: required member" },
                { "amount: { format: minor }, currency: { const: CNY }", "2:9: required member" },
                { "amount: { at: /a, format: minor, kind: total }, currency: { const: CNY }",
                  "2:40: " },
                { "amount: { at: /a, format: minor }, currency: { const: RMB }",
                  "2:55: no currency code" },
                { "amount: { at: /a, format: minor }, currency: {}",
                  "2:46: currency wants either" },
                { "amount: { at: /a, format: minor }, currency: { const: CNY, at: /c }",
                  "2:46: currency wants either" },
                { "amount: { at: /a, format: minor }, currency: { const: CNY, upper: true }",
                  "2:46: default, upper and map go with at" },
                { "amount: { at: /a, format: minor }, currency: { at: /c, map: {} }", "2:61: map" },
                { "amount: { at: /a, format: minor }, currency: { at: /c, map: { a: RMB } }",
                  "2:66: no currency code" },
                { "amount: { at: /a, format: minor }, currency: { at: /c, map: { rmb: CNY }, "
                  "upper: true }",
                  "2:46: with upper the words" },
        };
        for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
                char text[256];
                snprintf(text, sizeof text, "{ when: [], event: A, txn: /t,\n%s }",
                         wrong[i].members);
                assert_refused(text, wrong[i].complaint);
        }
}
END_TEST

START_TEST(a_rule_that_unrolls_is_read_as_it_is_written)
{
        ck_assert_msg(load("when: [[/l, exists]]\n"
                           "each: /l\n"
                           "where: [[\"@/s\", eq, \"3\"]]\n"
                           "continue: true\n"
                           "event: { at: \"@/k\", map: { \"1\": A, \"2\": B } }\n"
                           "txn: \"@/t\"\n"
                           "amount: { at: \"@/a\", format: minor, sign: minus }\n"
                           "currency: { const: CNY }\n"
                           "occurred_at: { at: \"@/w\", format: datetime, zone: \"+08:00\" }\n") ==
                              PO_OK,
                      "%s", error.text);
        ck_assert(pointer_is_given(&rule.each));
        ck_assert(rule.goes_on);
        ck_assert_uint_eq(rule.where.count, 1);
        ck_assert_str_eq(rule.event, "");
        ck_assert_str_eq(rule.event_map.names[1].text, "2");
        ck_assert_str_eq(rule.event_map.names[1].word, "B");
        ck_assert(rule.amount.form.flip);
        ck_assert_int_eq(rule.occurred_at.form.zone_minutes, 480);
        document_close(document);
}
END_TEST

START_TEST(an_item_is_pointed_into_only_where_a_list_is_unrolled)
{
        assert_refused("{ when: [], event: A, txn: \"@/t\" }", "1:1: \"@/\" points into an item");
        assert_refused("{ when: [], event: A, txn: [/t, \"@/t\"] }", "1:1: \"@/\"");
        assert_refused("{ when: [], event: A, txn: /t, order: \"/o|@/o\" }", "1:1: \"@/\"");
        assert_refused("{ when: [[\"@/a\", exists]], each: /l, event: A, txn: /t }", "1:9: \"@/\"");
        assert_refused("{ when: [], where: [[/a, exists]], event: A, txn: /t }",
                       "1:20: where chooses items");
        unrolled = true;
        ck_assert_int_eq(load("{ when: [[\"@/a\", exists]], event: A, txn: \"@/t\" }"), PO_OK);
        document_close(document);
}
END_TEST

START_TEST(a_wrong_event_zone_or_sign_is_refused_where_it_stands)
{
        assert_refused("{ when: [], txn: /t, event: { at: /a } }", "1:29: required member \"map\"");
        assert_refused("{ when: [], txn: /t, event: { at: /a, map: {} } }", "1:44: map wants");
        assert_refused("{ when: [], txn: /t, event: { at: /a, map: { x: y } } }",
                       "1:49: our words are of");
        assert_refused("{ when: [], event: A, txn: /t,\n"
                       "  occurred_at: { at: /w, format: datetime } }",
                       "2:16: datetime and compact want a zone");
        assert_refused("{ when: [], event: A, txn: /t,\n"
                       "  occurred_at: { at: /w, format: ms, zone: Z } }",
                       "2:16: zone goes with");
        assert_refused("{ when: [], event: A, txn: /t,\n"
                       "  occurred_at: { at: /w, format: compact, zone: \"8\" } }",
                       "2:49: a zone is written");
        assert_refused("{ when: [], event: A, txn: /t, currency: { const: CNY },\n"
                       "  amount: { at: /a, format: minor, sign: both } }",
                       "2:42: ");
        assert_refused("{ when: [], ignore: true, continue: true }", "1:1: a rule with ignore");
}
END_TEST

START_TEST(a_fee_goes_with_this_movements_own_amount)
{
        ck_assert_msg(load("{ when: [], event: A, txn: /t, amount: { at: /a, format: number },"
                           "  fee: { at: /f, format: minor }, currency: { const: CNY } }") == PO_OK,
                      "%s", error.text);
        ck_assert_int_eq(rule.amount.form.format, AMOUNT_NUMBER);
        ck_assert_int_eq(rule.fee.form.format, AMOUNT_MINOR);
        ck_assert_str_eq(rule.fee.at.source, "/f");
        document_close(document);
        assert_refused("{ when: [], event: A, txn: /t, fee: { at: /f, format: minor } }",
                       "1:37: a fee goes with");
        assert_refused(
                "{ when: [], event: A, txn: /t, amount: { at: /a, format: minor, kind: net },"
                "  fee: { at: /f, format: minor }, currency: { const: CNY } }",
                "1:84: a fee goes with");
        assert_refused("{ when: [], event: A, txn: /t, amount: { at: /a, format: minor },"
                       "  fee: { at: \"@/f\", format: minor }, currency: { const: CNY } }",
                       "1:1: \"@/\" points into an item");
}
END_TEST

UNIT_MAIN("rule_load", a_rule_with_everything_is_read_as_it_is_written,
          what_a_rule_leaves_out_is_not_given,
          an_amount_is_that_of_this_movement_unless_it_says_otherwise,
          a_rule_wants_event_and_txn_or_ignore, a_wrong_condition_is_refused_where_it_stands,
          a_wrong_value_is_refused_where_it_stands,
          a_wrong_amount_or_currency_is_refused_where_it_stands,
          a_rule_that_unrolls_is_read_as_it_is_written,
          an_item_is_pointed_into_only_where_a_list_is_unrolled,
          a_wrong_event_zone_or_sign_is_refused_where_it_stands,
          a_fee_goes_with_this_movements_own_amount)

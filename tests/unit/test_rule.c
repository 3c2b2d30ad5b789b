#include "unit.h"

#include <json-c/json_tokener.h>

#include "channel/rule_load.h"
#include "config/document.h"

/* Everything made here lives as long as the case's process. */
static struct rule rule;
static const struct exponent_table exponents = { .count = 1, .items = { { "ISK", 2 } } };
static struct po_notification notification;
static struct po_error error;

static void load(const char *text)
{
        struct document *document;
        memset(&rule, 0, sizeof rule);
        ck_assert_int_eq(document_parse(&document, "t.yaml", text, strlen(text), &error), PO_OK);
        enum po_class kind = rule_load(document_root(document), false, &rule, &error);
        ck_assert_msg(kind == PO_OK, "%s", error.text);
}

static struct json_object *body(const char *json)
{
        struct json_object *root = json_tokener_parse(json);
        ck_assert_ptr_nonnull(root);
        return root;
}

static bool matches(const char *condition, const char *json)
{
        char text[256];
        snprintf(text, sizeof text, "{ when: [%s], ignore: true }", condition);
        load(text);
        return conditions_fail(&rule.when, &(struct scope){ .root = body(json) }) == NULL;
}

static enum po_class apply(const char *json)
{
        memset(&notification, 0, sizeof notification);
        const struct scope scope = { .root = body(json) };
        return rule_apply(&rule, &exponents, &scope, &notification, &error);
}

static void assert_refused(const char *json, const char *reason)
{
        error.reason = "none";
        enum po_class kind = apply(json);
        ck_assert_msg(kind == PO_RECORD && strcmp(error.reason, reason) == 0, "%s: %s", json,
                      error.reason);
}

static const char refund_rule[] =
        "when: []\n"
        "event: REFUND_SUCCEEDED\n"
        "txn: [/sn, /rf|/tsn]\n"
        "order: /order\n"
        "parent: [/shop, /sn]\n"
        "refund_no: /rf|/tsn\n"
        "amount: { at: /total, minus: /net, format: minor, kind: cumulative }\n"
        "currency: { at: /cur, default: CNY, upper: true, map: { CNY: CNY, YEN: JPY } }\n"
        "occurred_at: { at: /when, format: s }\n";

START_TEST(eq_and_in_compare_whole_texts)
{
        ck_assert(matches("[/a, eq, PAID]", "{\"a\":\"PAID\"}"));
        ck_assert(!matches("[/a, eq, PAID]", "{\"a\":\"PAID2\"}"));
        ck_assert(!matches("[/a, eq, PAID]", "{\"a\":\"paid\"}"));
        ck_assert(!matches("[/a, eq, PAID]", "{\"b\":\"PAID\"}"));
        ck_assert(matches("[/a, in, [X, Y]]", "{\"a\":\"Y\"}"));
        ck_assert(!matches("[/a, in, [X, Y]]", "{\"a\":\"Z\"}"));
}
END_TEST

START_TEST(numbers_and_truth_values_compare_as_they_are_written)
{
        ck_assert(matches("[/a, eq, 3]", "{\"a\":3}"));
        ck_assert(matches("[/a, eq, true]", "{\"a\":true}"));
        ck_assert(matches("[/a, eq, \"true\"]", "{\"a\":\"true\"}"));
        ck_assert(matches("[/a, eq, \"3.50\"]", "{\"a\":3.50}"));
        ck_assert(!matches("[/a, eq, \"3.5\"]", "{\"a\":3.50}"));
        ck_assert(!matches("[/a, eq, x]", "{\"a\":[\"x\"]}"));
}
END_TEST

START_TEST(null_and_the_empty_text_do_not_exist)
{
        ck_assert(matches("[/a, exists]", "{\"a\":0}"));
        ck_assert(matches("[/a, exists]", "{\"a\":{}}"));
        ck_assert(!matches("[/a, exists]", "{\"a\":null}"));
        ck_assert(!matches("[/a, exists]", "{\"a\":\"\"}"));
        ck_assert(matches("[/a, absent]", "{\"a\":\"\"}"));
        ck_assert(matches("[/a, absent]", "{}"));
        ck_assert(!matches("[/a, absent]", "{\"a\":false}"));
}
END_TEST

START_TEST(a_prefix_is_the_beginning_of_a_text)
{
        ck_assert(matches("[/a, prefix, REFUND.]", "{\"a\":\"REFUND.SUCCESS\"}"));
        ck_assert(matches("[/a, prefix, REFUND.]", "{\"a\":\"REFUND.\"}"));
        ck_assert(!matches("[/a, prefix, REFUND.]", "{\"a\":\"REFUND\"}"));
}
END_TEST

START_TEST(gt0_is_a_number_above_zero)
{
        static const char *const above[] = { "\"0.01\"", "1", "\"100\"", "0.5", "1e2" };
        static const char *const not_above[] = { "\"0.00\"", "0",  "-1",    "\"-0.01\"", "\"\"",
                                                 "\"x1\"",   "[]", "0.0e5", "true",      "null" };
        char json[32];
        for (size_t i = 0; i < sizeof above / sizeof above[0]; i++) {
                snprintf(json, sizeof json, "{\"a\":%s}", above[i]);
                ck_assert_msg(matches("[/a, gt0]", json), "%s", json);
        }
        for (size_t i = 0; i < sizeof not_above / sizeof not_above[0]; i++) {
                snprintf(json, sizeof json, "{\"a\":%s}", not_above[i]);
                ck_assert_msg(!matches("[/a, gt0]", json), "%s", json);
        }
}
END_TEST

START_TEST(all_conditions_must_hold)
{
        ck_assert(matches("[/a, eq, 1], [/b, eq, 2]", "{\"a\":1,\"b\":2}"));
        ck_assert(!matches("[/a, eq, 1], [/b, eq, 2]", "{\"a\":1,\"b\":3}"));
        ck_assert(!matches("[/a, eq, 1], [/b, eq, 2]", "{\"a\":0,\"b\":2}"));
        ck_assert(matches("", "{}"));
}
END_TEST

START_TEST(a_body_becomes_a_notification)
{
        load(refund_rule);
        ck_assert_int_eq(apply("{\"sn\":\"7/8\",\"rf\":\"R:1\",\"order\":\"O-1\",\"shop\":5,"
                               "\"total\":\"128\",\"net\":98,\"cur\":\"yen\",\"when\":\"2\"}"),
                         PO_OK);
        ck_assert_str_eq(notification.event, "REFUND_SUCCEEDED");
        ck_assert_str_eq(notification.txn, "7%2F8/R%3A1");
        ck_assert_str_eq(notification.order_no, "O-1");
        ck_assert_str_eq(notification.parent, "5/7%2F8");
        ck_assert_str_eq(notification.refund_no, "R:1");
        ck_assert_int_eq(notification.amount_kind, PO_AMOUNT_CUMULATIVE);
        ck_assert_int_eq(notification.amount_minor, 30);
        ck_assert_str_eq(notification.currency, "JPY");
        ck_assert_int_eq(notification.occurred_at_us, 2000000);
}
END_TEST

START_TEST(the_channels_word_says_the_event)
{
        load("when: []\ntxn: /t\n"
             "event: { at: /s, map: { OK: PAYMENT_RECEIVED, \"true\": PAYMENT_AUTHORISED } }\n");
        ck_assert_int_eq(apply("{\"t\":1,\"s\":\"OK\"}"), PO_OK);
        ck_assert_str_eq(notification.event, "PAYMENT_RECEIVED");
        ck_assert_int_eq(apply("{\"t\":1,\"s\":true}"), PO_OK);
        ck_assert_str_eq(notification.event, "PAYMENT_AUTHORISED");
        assert_refused("{\"t\":1,\"s\":\"ok\"}", "EVENT_UNKNOWN");
        assert_refused("{\"t\":1,\"s\":[]}", "EVENT_UNKNOWN");
        assert_refused("{\"t\":1}", "EVENT_UNKNOWN");
}
END_TEST

START_TEST(the_channels_own_exponents_count)
{
        load("{ when: [], event: A, txn: /t, amount: { at: /a, format: minor },"
             "  currency: { at: /c } }");
        ck_assert_int_eq(apply("{\"t\":1,\"a\":12800,\"c\":\"ISK\"}"), PO_OK);
        ck_assert_int_eq(notification.amount_minor, 128);
        ck_assert_int_eq(apply("{\"t\":1,\"a\":12800,\"c\":\"JPY\"}"), PO_OK);
        ck_assert_int_eq(notification.amount_minor, 12800);
}
END_TEST

START_TEST(what_only_helps_may_be_absent)
{
        load(refund_rule);
        ck_assert_int_eq(apply("{\"sn\":1,\"tsn\":2,\"total\":128,\"net\":98}"), PO_OK);
        ck_assert_str_eq(notification.txn, "1/2");
        ck_assert_str_eq(notification.order_no, "");
        ck_assert_str_eq(notification.parent, "");
        ck_assert_str_eq(notification.refund_no, "2");
        ck_assert_str_eq(notification.currency, "CNY");
        ck_assert(notification.occurred_at_us == PO_TIME_UNKNOWN);
}
END_TEST

START_TEST(what_identifies_or_moves_money_must_be_there)
{
        load(refund_rule);
        assert_refused("{\"tsn\":2,\"total\":128,\"net\":98}", "TXN_EMPTY");
        assert_refused("{\"sn\":1,\"tsn\":\"\",\"total\":128,\"net\":98}", "TXN_EMPTY");
        assert_refused("{\"sn\":1,\"tsn\":2,\"net\":98}", "AMOUNT_MISSING");
        assert_refused("{\"sn\":1,\"tsn\":2,\"total\":128}", "AMOUNT_MISSING");

        load("{ when: [], event: A, txn: /t, amount: { at: /a, format: minor },"
             "  currency: { at: /c } }");
        assert_refused("{\"t\":1,\"a\":1}", "CURRENCY_MISSING");
        assert_refused("{\"t\":1,\"a\":1,\"c\":\"cny\"}", "CURRENCY_UNKNOWN");
        assert_refused("{\"t\":1,\"a\":1,\"c\":\"A CURRENCY WITHOUT END\"}", "CURRENCY_UNKNOWN");
        ck_assert_int_eq(apply("{\"t\":1,\"a\":1,\"c\":\"CNY\"}"), PO_OK);
}
END_TEST

START_TEST(a_word_that_the_map_of_currencies_lacks_is_refused)
{
        load(refund_rule);
        assert_refused("{\"sn\":1,\"tsn\":2,\"total\":128,\"net\":98,\"cur\":\"USD\"}",
                       "CURRENCY_UNKNOWN");
}
END_TEST

START_TEST(a_rule_without_an_amount_gives_none)
{
        load("{ when: [], event: ORDER_NOTED, txn: /t }");
        ck_assert_int_eq(apply("{\"t\":1,\"amount\":5}"), PO_OK);
        ck_assert_int_eq(notification.amount_kind, PO_AMOUNT_NONE);
        ck_assert_int_eq(notification.amount_minor, 0);
        ck_assert_str_eq(notification.currency, "");
}
END_TEST

START_TEST(bad_texts_and_times_are_refused)
{
        load(refund_rule);
        assert_refused("{\"sn\":1.5,\"tsn\":2,\"total\":128,\"net\":98}", "WRONG_TYPE");
        assert_refused("{\"sn\":\"1 \",\"tsn\":2,\"total\":128,\"net\":98}", "PADDED_TEXT");
        assert_refused("{\"sn\":1,\"tsn\":2,\"total\":128,\"net\":98,\"order\":\"a\\u0001\"}",
                       "CONTROL_CHARACTER");
        assert_refused("{\"sn\":1,\"tsn\":2,\"total\":128,\"net\":98,\"when\":\"noon\"}",
                       "TIME_MALFORMED");
}
END_TEST

UNIT_MAIN("rule", eq_and_in_compare_whole_texts,
          numbers_and_truth_values_compare_as_they_are_written,
          null_and_the_empty_text_do_not_exist, a_prefix_is_the_beginning_of_a_text,
          gt0_is_a_number_above_zero, all_conditions_must_hold, a_body_becomes_a_notification,
          the_channels_word_says_the_event, the_channels_own_exponents_count,
          what_only_helps_may_be_absent, what_identifies_or_moves_money_must_be_there,
          a_word_that_the_map_of_currencies_lacks_is_refused, a_rule_without_an_amount_gives_none,
          bad_texts_and_times_are_refused)

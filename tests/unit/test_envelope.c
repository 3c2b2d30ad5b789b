#include "unit.h"

#include <json-c/json_tokener.h>

#include "channel/envelope.h"

static struct po_notification notification;
static struct po_error error;

static enum po_class decode(const char *json)
{
        struct json_object *root = json_tokener_parse(json);
        ck_assert_ptr_nonnull(root);
        memset(&notification, 0, sizeof notification);
        notification.tenant_id = 7;
        memcpy(notification.channel, "POS", sizeof "POS");
        enum po_class kind = envelope_decode(root, &notification, &error);
        json_object_put(root);
        return kind;
}

static void assert_refused(const char *json, const char *reason)
{
        error.reason = "none";
        enum po_class kind = decode(json);
        ck_assert_msg(kind == PO_RECORD && strcmp(error.reason, reason) == 0, "%s: %s", json,
                      error.reason);
}

START_TEST(a_full_envelope_becomes_a_notification)
{
        ck_assert_int_eq(decode("{\"channel\":\"POS\",\"tenant_id\":2,\"txn\":\"a/b\","
                                "\"event\":\"REFUND_SUCCEEDED\",\"order_no\":\"O 1\","
                                "\"parent\":\"p:1\",\"refund_no\":\"R-1\",\"amount_minor\":3000,"
                                "\"currency\":\"CNY\",\"occurred_at\":\"1970-01-01T00:00:02Z\","
                                "\"body\":{\"txn\":[1.5]}}"),
                         PO_OK);
        ck_assert_int_eq(notification.tenant_id, 2);
        ck_assert_str_eq(notification.txn, "a%2Fb");
        ck_assert_str_eq(notification.event, "REFUND_SUCCEEDED");
        ck_assert_str_eq(notification.order_no, "O 1");
        ck_assert_str_eq(notification.parent, "p%3A1");
        ck_assert_str_eq(notification.refund_no, "R-1");
        ck_assert_int_eq(notification.amount_kind, PO_AMOUNT_THIS);
        ck_assert_int_eq(notification.amount_minor, 3000);
        ck_assert_str_eq(notification.currency, "CNY");
        ck_assert_int_eq(notification.occurred_at_us, 2000000);
}
END_TEST

START_TEST(what_is_absent_or_null_takes_its_default)
{
        ck_assert_int_eq(decode("{\"txn\":\"1\",\"event\":\"NOTED\",\"order_no\":null,"
                                "\"tenant_id\":null,\"amount\":null,\"currency\":null,"
                                "\"parent\":\"\",\"body\":null}"),
                         PO_OK);
        ck_assert_int_eq(notification.tenant_id, 7);
        ck_assert_str_eq(notification.order_no, "");
        ck_assert_str_eq(notification.parent, "");
        ck_assert_int_eq(notification.amount_kind, PO_AMOUNT_NONE);
        ck_assert_str_eq(notification.currency, "");
        ck_assert(notification.occurred_at_us == PO_TIME_UNKNOWN);
}
END_TEST

START_TEST(both_forms_of_an_amount_say_the_same)
{
        ck_assert_int_eq(decode("{\"txn\":\"1\",\"event\":\"E\",\"amount\":\"128.8\","
                                "\"currency\":\"CNY\"}"),
                         PO_OK);
        ck_assert_int_eq(notification.amount_minor, 12880);
        ck_assert_int_eq(decode("{\"txn\":\"1\",\"event\":\"E\",\"amount_minor\":12880,"
                                "\"currency\":\"CNY\"}"),
                         PO_OK);
        ck_assert_int_eq(notification.amount_minor, 12880);
}
END_TEST

START_TEST(an_unknown_member_is_refused)
{
        assert_refused("{\"txn\":\"1\",\"event\":\"E\",\"order\":\"1\"}", "UNKNOWN_MEMBER");
        assert_refused("{\"Txn\":\"1\",\"event\":\"E\"}", "UNKNOWN_MEMBER");
        assert_refused("{\"txn\":\"1\",\"event\":\"E\",\"\":null}", "UNKNOWN_MEMBER");
}
END_TEST

START_TEST(a_member_of_another_type_is_refused)
{
        static const char *const wrong[] = {
                "\"channel\":1",        "\"tenant_id\":\"1\"", "\"tenant_id\":1.0",
                "\"order_no\":731",     "\"parent\":[]",       "\"refund_no\":{}",
                "\"amount\":128",       "\"currency\":156",    "\"amount_minor\":\"12880\"",
                "\"occurred_at\":1000", "\"parent\":false",
        };
        char json[128];
        for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
                snprintf(json, sizeof json, "{\"txn\":\"1\",\"event\":\"E\",%s}", wrong[i]);
                assert_refused(json, "WRONG_TYPE");
        }
        assert_refused("{\"txn\":1,\"event\":\"E\"}", "WRONG_TYPE");
        assert_refused("{\"txn\":\"1\",\"event\":true}", "WRONG_TYPE");
        assert_refused("[]", "WRONG_TYPE");
}
END_TEST

START_TEST(txn_and_event_are_required)
{
        assert_refused("{\"event\":\"E\"}", "TXN_EMPTY");
        assert_refused("{\"txn\":null,\"event\":\"E\"}", "TXN_EMPTY");
        assert_refused("{\"txn\":\"\",\"event\":\"E\"}", "TXN_EMPTY");
        assert_refused("{\"txn\":\"1\"}", "EVENT_MISSING");
        assert_refused("{\"txn\":\"1\",\"event\":\"\"}", "EVENT_MALFORMED");
        assert_refused("{\"txn\":\"1\",\"event\":\"paid\"}", "EVENT_MALFORMED");
        assert_refused("{\"txn\":\"1\",\"event\":\"PAID:X\"}", "EVENT_MALFORMED");
        assert_refused("{\"txn\":\"1\",\"event\":\"ABCDEFGHIJKLMNOPQRSTUVWXYZABCDEFGHIJKLMNOPQRST"
                       "UVWXYZ_1234567890AB\"}",
                       "EVENT_MALFORMED");
}
END_TEST

START_TEST(another_channel_than_the_records_own_is_refused)
{
        assert_refused("{\"channel\":\"SQB\",\"txn\":\"1\",\"event\":\"E\"}", "CHANNEL_MISMATCH");
        ck_assert_int_eq(decode("{\"channel\":\"POS\",\"txn\":\"1\",\"event\":\"E\"}"), PO_OK);
}
END_TEST

START_TEST(a_tenant_below_1_is_refused)
{
        assert_refused("{\"tenant_id\":0,\"txn\":\"1\",\"event\":\"E\"}", "TENANT_OUT_OF_RANGE");
        assert_refused("{\"tenant_id\":-1,\"txn\":\"1\",\"event\":\"E\"}", "TENANT_OUT_OF_RANGE");
}
END_TEST

START_TEST(amount_and_currency_stand_together_and_once)
{
        static const struct {
                const char *members, *reason;
        } wrong[] = {
                { "\"amount\":\"1.00\",\"amount_minor\":100,\"currency\":\"CNY\"", "AMOUNT_TWICE" },
                { "\"amount\":\"1.00\"", "CURRENCY_MISSING" },
                { "\"amount_minor\":100,\"currency\":null", "CURRENCY_MISSING" },
                { "\"currency\":\"CNY\"", "AMOUNT_MISSING" },
                { "\"amount\":1.5,\"currency\":\"CNY\"", "AMOUNT_NOT_EXACT" },
                { "\"amount_minor\":100.0,\"currency\":\"CNY\"", "AMOUNT_NOT_EXACT" },
                { "\"amount_minor\":0,\"currency\":\"CNY\"", "AMOUNT_NOT_POSITIVE" },
                { "\"amount\":\"\",\"currency\":\"CNY\"", "AMOUNT_MALFORMED" },
                { "\"amount\":\"1.00\",\"currency\":\"RMB\"", "CURRENCY_UNKNOWN" },
                { "\"amount\":\"1.00\",\"currency\":\"\"", "CURRENCY_UNKNOWN" },
        };
        char json[160];
        for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
                snprintf(json, sizeof json, "{\"txn\":\"1\",\"event\":\"E\",%s}", wrong[i].members);
                assert_refused(json, wrong[i].reason);
        }
}
END_TEST

START_TEST(the_channel_of_an_envelope_is_found_without_decoding_it)
{
        struct json_object *root = json_tokener_parse("{\"channel\":\"POS\",\"x\":1}");
        ck_assert_str_eq(envelope_channel(root), "POS");
        json_object_put(root);
        static const char *const none[] = { "{}", "[]", "{\"channel\":null}", "{\"channel\":1}" };
        for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
                root = json_tokener_parse(none[i]);
                ck_assert_ptr_null(envelope_channel(root));
                json_object_put(root);
        }
}
END_TEST

UNIT_MAIN("envelope", a_full_envelope_becomes_a_notification,
          what_is_absent_or_null_takes_its_default, both_forms_of_an_amount_say_the_same,
          an_unknown_member_is_refused, a_member_of_another_type_is_refused,
          txn_and_event_are_required, another_channel_than_the_records_own_is_refused,
          a_tenant_below_1_is_refused, amount_and_currency_stand_together_and_once,
          the_channel_of_an_envelope_is_found_without_decoding_it)

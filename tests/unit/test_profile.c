#include "unit.h"

#include <json-c/json_tokener.h>

#include "channel/profile.h"

static struct profile *profile;
static struct po_error error;

static enum po_class parse(const char *text)
{
        profile = NULL;
        return profile_parse(&profile, "t.yaml", text, strlen(text), &error);
}

static void assert_refused(const char *text, const char *complaint)
{
        char expected[256];
        snprintf(expected, sizeof expected, "t.yaml:%s", complaint);
        enum po_class kind = parse(text);
        ck_assert_msg(kind == PO_SYSTEMIC, "taken: %s", text);
        ck_assert_ptr_null(profile);
        unit_assert_in(error.text, expected);
}

static enum po_class load(const char *path)
{
        char joined[1024];
        const char *source = getenv("POSTONCE_SOURCE");
        snprintf(joined, sizeof joined, "%s/%s", source != NULL ? source : ".", path);
        return profile_load(&profile, joined, &error);
}

START_TEST(a_profile_without_tenant_and_body_is_json_of_tenant_1)
{
        ck_assert_int_eq(parse("channel: SQB\nrules: [ { when: [], ignore: true } ]\n"), PO_OK);
        ck_assert_str_eq(profile->channel, "SQB");
        ck_assert_int_eq(profile->tenant_id, 1);
        ck_assert_int_eq(profile->shapes.items[0].body, BODY_JSON);
        ck_assert_uint_eq(profile->shapes.items[0].rules.count, 1);
        profile_close(profile);
}
END_TEST

START_TEST(an_envelope_profile_has_no_rules)
{
        ck_assert_int_eq(parse("channel: POS\ntenant: 7\nbody: envelope\n"), PO_OK);
        ck_assert_int_eq(profile->tenant_id, 7);
        ck_assert_int_eq(profile->shapes.items[0].body, BODY_ENVELOPE);
        ck_assert(profile_is_envelope(profile));
        profile_close(profile);
        assert_refused("channel: POS\nbody: envelope\nrules: [ { when: [], ignore: true } ]\n",
                       "3:8: an envelope says itself");
}
END_TEST

#define RAW "channel: A\nfingerprint: raw\n"

START_TEST(the_fingerprint_is_normalised_unless_it_is_said_to_be_raw)
{
        ck_assert_int_eq(parse("channel: A\nbody: envelope\n"), PO_OK);
        ck_assert(!profile->raw_fingerprint);
        profile_close(profile);
        ck_assert_int_eq(parse("channel: A\nfingerprint: normalised\nbody: envelope\n"), PO_OK);
        ck_assert(!profile->raw_fingerprint);
        profile_close(profile);
        ck_assert_int_eq(parse(RAW "body: envelope\n"), PO_OK);
        ck_assert(profile->raw_fingerprint);
        profile_close(profile);
        assert_refused("channel: A\nfingerprint: md5\nbody: envelope\n", "2:14: ");
}
END_TEST

START_TEST(a_raw_fingerprint_is_refused_where_a_header_says_more_than_the_key)
{
        ck_assert_msg(parse(RAW "tenant: { at: \"#/t\", map: { x: 1 } }\nrules:\n"
                                "  - { when: [], event: PAID, txn: \"#/id\" }\n") == PO_OK,
                      "%s", error.text);
        profile_close(profile);
        assert_refused(RAW "rules:\n  - { when: [], event: PAID, txn: /a, order: \"#/o\" }\n",
                       "4:46: fingerprint: raw does not see headers");
        assert_refused(RAW "rules:\n  - { when: [[\"#/k\", exists]], event: PAID, txn: /a }\n",
                       "4:15: fingerprint: raw does not see headers");
        assert_refused(RAW "body: cloudevents\nrules:\n  - { when: [], event: PAID, txn: /id }\n",
                       "2:14: fingerprint: raw does not see the attributes");
}
END_TEST

START_TEST(a_wrong_profile_is_refused_where_it_is_wrong)
{
        assert_refused("channel: SQB\n", "1:1: required member \"rules\"");
        assert_refused("channel: SQB\nrules: []\n", "2:8: rules wants a list");
        assert_refused("body: envelope\n", "1:1: required member \"channel\"");
        assert_refused("channel: sqb\nbody: envelope\n", "1:10: a channel's label");
        assert_refused("channel: ABCDEFGHIJKLMNOPQRSTUVWXYZ1234567\nbody: envelope\n", "1:10: ");
        assert_refused("channel: POSTONCE\nbody: envelope\n", "1:10: POSTONCE is the channel");
        assert_refused("channel: SQB\ntenant: 0\nbody: envelope\n", "2:9: ");
        assert_refused("channel: SQB\nbody: xlm\n", "2:7: ");
        assert_refused("channel: SQB\nbdoy: json\n", "2:1: unknown member");
        assert_refused("channel: SQB\nchannel: SQB\n", "2:1: ");
        assert_refused("channel: SQB\nrules:\n  - when: []\n    ignore: true\n    txn: /a\n",
                       "3:5: a rule with ignore");
        assert_refused("- a\n", "1:1: ");
}
END_TEST

START_TEST(a_rule_that_can_never_be_reached_is_refused)
{
        assert_refused("channel: SQB\nrules:\n"
                       "  - { when: [], ignore: true }\n"
                       "  - { when: [[/a, exists]], ignore: true }\n",
                       "4:5: never reached");
}
END_TEST

static const struct shape *shape_of(const char *header, const char *text)
{
        const struct scope scope = { .headers = json_tokener_parse(header) };
        return profile_shape(profile, &scope, text, strlen(text));
}

START_TEST(the_first_shape_that_fits_is_the_one)
{
        ck_assert_msg(parse("channel: WECHAT\nshapes:\n"
                            "  - when: [[\"#/kind\", eq, plain]]\n"
                            "    rules: [ { when: [], ignore: true } ]\n"
                            "  - first: \"{\"\n"
                            "    rules: [ { when: [], ignore: true } ]\n"
                            "  - first: \"<\"\n"
                            "    body: xml\n"
                            "    rules: [ { when: [], ignore: true } ]\n") == PO_OK,
                      "%s", error.text);
        ck_assert_uint_eq(profile->shapes.count, 3);
        ck_assert(profile->uses_headers);
        ck_assert(!profile_is_envelope(profile));
        const struct shape *shapes = profile->shapes.items;
        ck_assert_ptr_eq(shape_of("{\"kind\":\"plain\"}", "<"), &shapes[0]);
        ck_assert_ptr_eq(shape_of("{}", " \r\n{}"), &shapes[1]);
        ck_assert_ptr_eq(shape_of("{}", "\xEF\xBB\xBF{"), &shapes[1]);
        ck_assert_ptr_eq(shape_of("{}", "<xml/>"), &shapes[2]);
        ck_assert_ptr_null(shape_of("{}", "a=b"));
        ck_assert_ptr_null(shape_of("{}", " "));
        profile_close(profile);
}
END_TEST

START_TEST(wrong_shapes_are_refused_where_they_are_wrong)
{
        assert_refused("channel: A\nshapes: []\n", "2:9: shapes wants a list");
        assert_refused("channel: A\nbody: xml\nshapes:\n"
                       "  - rules: [ { when: [], ignore: true } ]\n",
                       "2:7: body stands in the entries");
        assert_refused("channel: A\nshapes:\n  - first: \"{\"\n", "3:5: required member \"rules\"");
        assert_refused("channel: A\nshapes:\n"
                       "  - rules: [ { when: [], ignore: true } ]\n"
                       "  - rules: [ { when: [], ignore: true } ]\n",
                       "4:5: never reached");
        assert_refused("channel: A\nshapes:\n  - body: envelope\n", "3:5: an envelope has no");
}
END_TEST

START_TEST(only_a_charset_beside_utf_8_needs_a_converter)
{
        ck_assert_int_eq(parse("channel: A\nbody: xml\nrules: [ { when: [], ignore: true } ]\n"),
                         PO_OK);
        ck_assert(!profile->needs_converter);
        profile_close(profile);
        ck_assert_int_eq(parse("channel: A\nbody: form\ncharset: { field: charset }\n"
                               "rules: [ { when: [], ignore: true } ]\n"),
                         PO_OK);
        ck_assert(profile->needs_converter);
        profile_close(profile);
}
END_TEST

START_TEST(the_profiles_that_ship_are_right)
{
        static const char *const paths[] = {
                "deploy/channels/sqb.yaml",         "deploy/channels/envelope.yaml",
                "deploy/channels/wechat.yaml",      "deploy/channels/alipay.yaml",
                "deploy/channels/stripe.yaml",      "deploy/channels/adyen.yaml",
                "deploy/channels/cloudevents.yaml",
        };
        char key[1024];
        const char *source = getenv("POSTONCE_SOURCE");
        snprintf(key, sizeof key, "%s/tests/data/channel/keys/wechat-apiv3",
                 source != NULL ? source : ".");
        setenv("WECHAT_APIV3_KEY_FILE", key, 1);
        setenv("WECHAT_APIV2_KEY_FILE", key, 1);
        for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
                enum po_class kind = load(paths[i]);
                ck_assert_msg(kind == PO_OK, "%s", error.text);
                profile_close(profile);
        }
}
END_TEST

START_TEST(a_profile_that_is_not_there_is_named)
{
        ck_assert_int_eq(load("deploy/channels/no-such.yaml"), PO_SYSTEMIC);
        unit_assert_in(error.text, "no-such.yaml");
        profile_close(NULL);
}
END_TEST

START_TEST(the_label_in_keys_may_be_what_the_body_says)
{
        struct po_notification blank;
        ck_assert_msg(parse("channel: RELAY\ntenant: 7\n"
                            "label: { at: /source, map: { /a: WECHAT, /b: ALIPAY } }\n"
                            "rules: [ { when: [], ignore: true } ]\n") == PO_OK,
                      "%s", error.text);
        struct scope scope = { .root = json_tokener_parse("{\"source\":\"/b\"}") };
        ck_assert_int_eq(profile_blank(profile, &scope, &blank, &error), PO_OK);
        ck_assert_str_eq(blank.channel, "ALIPAY");
        ck_assert_int_eq(blank.tenant_id, 7);
        json_object_put(scope.root);
        scope.root = json_tokener_parse("{\"source\":\"/intruder\"}");
        ck_assert_int_eq(profile_blank(profile, &scope, &blank, &error), PO_RECORD);
        ck_assert_str_eq(error.reason, "LABEL_UNKNOWN");
        unit_assert_not_in(error.text, "intruder");
        json_object_put(scope.root);
        profile_close(profile);
}
END_TEST

START_TEST(a_wrong_label_is_refused_where_it_is_wrong)
{
        assert_refused("channel: A\nlabel: { at: /s, map: { x: POSTONCE } }\nrules: []\n",
                       "2:8: POSTONCE is the channel");
        assert_refused("channel: A\nlabel: { at: \"@/s\", map: { x: B } }\nrules: []\n",
                       "2:8: all items");
        assert_refused("channel: A\nbody: envelope\nlabel: { at: /s, map: { x: B } }\n",
                       "3:8: an envelope's label");
}
END_TEST

START_TEST(the_tenant_may_be_what_the_body_says)
{
        struct po_notification blank;
        ck_assert_int_eq(parse("channel: A\ntenant: { at: /mchid, map: { 1900000109: 7 } }\n"
                               "rules: [ { when: [], ignore: true } ]\n"),
                         PO_OK);
        struct json_object *root = json_tokener_parse("{\"mchid\":\"1900000109\"}");
        struct scope scope = { .root = root };
        ck_assert_int_eq(profile_blank(profile, &scope, &blank, &error), PO_OK);
        ck_assert_int_eq(blank.tenant_id, 7);
        json_object_put(root);
        scope.root = root = json_tokener_parse("{\"mchid\":\"1\"}");
        ck_assert_int_eq(profile_blank(profile, &scope, &blank, &error), PO_RECORD);
        ck_assert_str_eq(error.reason, "TENANT_UNKNOWN");
        json_object_put(root);
        profile_close(profile);
        assert_refused("channel: A\ntenant: { at: /m, map: { x: SEVEN } }\nrules: []\n",
                       "2:9: a tenant is a number");
        assert_refused("channel: A\ntenant: { at: \"@/m\", map: { x: 7 } }\nrules: []\n",
                       "2:9: all items of a body have one tenant");
        assert_refused("channel: A\nbody: envelope\ntenant: { at: /m, map: { x: 7 } }\n",
                       "3:9: an envelope says its tenant_id itself");
        assert_refused("channel: A\ntenant: 0\nrules: []\n", "2:9: ");
}
END_TEST

UNIT_MAIN("profile", the_tenant_may_be_what_the_body_says,
          a_profile_without_tenant_and_body_is_json_of_tenant_1, an_envelope_profile_has_no_rules,
          the_fingerprint_is_normalised_unless_it_is_said_to_be_raw,
          a_raw_fingerprint_is_refused_where_a_header_says_more_than_the_key,
          a_wrong_profile_is_refused_where_it_is_wrong, a_rule_that_can_never_be_reached_is_refused,
          the_first_shape_that_fits_is_the_one, wrong_shapes_are_refused_where_they_are_wrong,
          only_a_charset_beside_utf_8_needs_a_converter, the_profiles_that_ship_are_right,
          a_profile_that_is_not_there_is_named, the_label_in_keys_may_be_what_the_body_says,
          a_wrong_label_is_refused_where_it_is_wrong)

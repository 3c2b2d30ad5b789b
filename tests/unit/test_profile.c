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
        ck_assert_int_eq(profile->body, PROFILE_JSON);
        ck_assert_uint_eq(profile->rules.count, 1);
        profile_close(profile);
}
END_TEST

START_TEST(an_envelope_profile_has_no_rules)
{
        ck_assert_int_eq(parse("channel: POS\ntenant: 7\nbody: envelope\n"), PO_OK);
        ck_assert_int_eq(profile->tenant_id, 7);
        ck_assert_int_eq(profile->body, PROFILE_ENVELOPE);
        profile_close(profile);
        assert_refused("channel: POS\nbody: envelope\nrules: [ { when: [], ignore: true } ]\n",
                       "3:8: an envelope says itself");
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
        assert_refused("channel: SQB\nbody: xml\n", "2:7: ");
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

START_TEST(the_first_rule_that_matches_wins)
{
        ck_assert_int_eq(parse("channel: SQB\nrules:\n"
                               "  - { when: [[/a, exists]], event: FIRST, txn: /a }\n"
                               "  - { when: [[/b, exists]], event: SECOND, txn: /b }\n"),
                         PO_OK);
        struct json_object *both = json_tokener_parse("{\"a\":1,\"b\":1}");
        struct json_object *second = json_tokener_parse("{\"b\":1}");
        struct json_object *neither = json_tokener_parse("{\"c\":1}");
        ck_assert_str_eq(profile_match(profile, both)->event, "FIRST");
        ck_assert_str_eq(profile_match(profile, second)->event, "SECOND");
        ck_assert_ptr_null(profile_match(profile, neither));
        json_object_put(both);
        json_object_put(second);
        json_object_put(neither);
        profile_close(profile);
}
END_TEST

START_TEST(the_profiles_that_ship_are_right)
{
        static const char *const paths[] = { "deploy/channels/sqb.yaml",
                                             "deploy/channels/envelope.yaml" };
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

UNIT_MAIN("profile", a_profile_without_tenant_and_body_is_json_of_tenant_1,
          an_envelope_profile_has_no_rules, a_wrong_profile_is_refused_where_it_is_wrong,
          a_rule_that_can_never_be_reached_is_refused, the_first_rule_that_matches_wins,
          the_profiles_that_ship_are_right, a_profile_that_is_not_there_is_named)

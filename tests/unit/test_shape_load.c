#include "unit.h"

#include "channel/profile.h"

static struct profile *profile;
static struct po_error error;

static enum po_class parse(const char *text)
{
        char whole[1024];
        snprintf(whole, sizeof whole, "channel: A\n%s", text);
        return profile_parse(&profile, "t.yaml", whole, strlen(whole), &error);
}

static void assert_refused(const char *text, const char *complaint)
{
        char expected[256];
        snprintf(expected, sizeof expected, "t.yaml:%s", complaint);
        enum po_class kind = parse(text);
        ck_assert_msg(kind == PO_SYSTEMIC, "taken: %s", text);
        unit_assert_in(error.text, expected);
}

#define RULES "rules: [ { when: [], ignore: true } ]\n"

START_TEST(a_shape_with_everything_is_read_as_it_is_written)
{
        enum po_class kind = parse("body: form\n"
                                   "charset: { field: cs, default: gbk }\n"
                                   "guard: [[/live, eq, true], [\"@/shop\", exists]]\n"
                                   "each: /l\n"
                                   "item: /i\n"
                                   "exponents: { ISK: 2, UGX: 3 }\n"
                                   "rules: [ { when: [], event: E, txn: \"@/n\" } ]\n");
        ck_assert_msg(kind == PO_OK, "%s", error.text);
        const struct shape *shape = &profile->shapes.items[0];
        ck_assert_int_eq(shape->body, BODY_FORM);
        ck_assert_str_eq(shape->charset.field, "cs");
        ck_assert_int_eq(shape->charset.fallback, CHARSET_GB18030);
        ck_assert_uint_eq(shape->guard.count, 2);
        ck_assert(pointer_is_given(&shape->each) && pointer_is_given(&shape->item));
        ck_assert_uint_eq(shape->exponents.count, 2);
        ck_assert_str_eq(shape->exponents.items[1].code, "UGX");
        ck_assert_int_eq(shape->exponents.items[1].exponent, 3);
        profile_close(profile);
}
END_TEST

START_TEST(bodies_are_utf_8_unless_it_is_said)
{
        ck_assert_int_eq(parse("body: xml\n" RULES), PO_OK);
        ck_assert_int_eq(profile->shapes.items[0].charset.fallback, CHARSET_UTF8);
        profile_close(profile);
        ck_assert_int_eq(parse("body: form\ncharset: { field: charset }\n" RULES), PO_OK);
        ck_assert_int_eq(profile->shapes.items[0].charset.fallback, CHARSET_UTF8);
        profile_close(profile);
}
END_TEST

START_TEST(a_wrong_member_is_refused_where_it_stands)
{
        assert_refused("charset: { default: latin1 }\n" RULES, "2:21: known are utf-8");
        assert_refused("charset: gbk\n" RULES, "2:10: ");
        assert_refused("charset: { field: charset }\n" RULES, "2:10: only a form can name");
        assert_refused("exponents: { RMB: 2 }\n" RULES, "2:14: no currency code");
        assert_refused("exponents: { ISK: 5 }\n" RULES, "2:19: ");
        assert_refused("exponents: {}\n" RULES, "2:12: exponents wants");
        assert_refused("item: /i\n" RULES, "2:7: item stands in a list's elements");
        assert_refused("each: /l\nitem: \"@/i\"\n" RULES, "3:7: item starts with");
        assert_refused("each: \"@/l\"\n" RULES, "2:7: the list of all items");
        assert_refused("guard: [[\"@/a\", exists]]\n" RULES, "2:8: \"@/\" points into an item");
        assert_refused("body: envelope\nguard: []\n", "3:8: an envelope says itself");
        assert_refused("rules: [ { when: [], event: E, txn: \"@/n\" } ]\n", "2:10: \"@/\"");
}
END_TEST

START_TEST(a_rule_that_always_matches_ends_the_list_unless_it_continues)
{
        assert_refused("rules:\n  - { when: [], ignore: true }\n  - { when: [], ignore: true }\n",
                       "4:5: never reached");
        ck_assert_int_eq(parse("rules:\n  - { when: [], event: E, txn: /a, continue: true }\n"
                               "  - { when: [], event: F, txn: /b }\n"),
                         PO_OK);
        profile_close(profile);
}
END_TEST

START_TEST(a_shape_is_told_from_others_before_the_body_is_read)
{
        assert_refused("shapes:\n  - first: \"{{\"\n    " RULES, "3:12: first is one visible");
        assert_refused("shapes:\n  - first: \" \"\n    " RULES, "3:12: ");
        assert_refused("shapes:\n  - when: [[/a, exists]]\n    " RULES, "3:11: a shape is chosen");
        assert_refused("first: \"{\"\n" RULES, "2:1: unknown member");
}
END_TEST

START_TEST(a_way_to_verify_must_fit_the_body)
{
        assert_refused(
                "verify: { op: alipay, key_file: \"${env:NO_SUCH}\", without_keys: warn }\n" RULES,
                "2:9: alipay signs forms");
        assert_refused(
                "verify: { op: adyen, key_file: \"${env:NO_SUCH}\", without_keys: warn }\n" RULES,
                "2:9: adyen signs the items");
        assert_refused("body: envelope\nverify: { op: wechat-v2, key_file: \"${env:NO_SUCH}\","
                       " without_keys: warn }\n",
                       "3:9: an envelope carries no signature");
        ck_assert_int_eq(parse("verify: { op: none }\n" RULES), PO_OK);
        ck_assert(!profile->shapes.items[0].verify.is_open);
        profile_close(profile);
        ck_assert_int_eq(parse(RULES), PO_OK);
        ck_assert(profile->shapes.items[0].verify.is_open);
        profile_close(profile);
}
END_TEST

UNIT_MAIN("shape_load", a_shape_with_everything_is_read_as_it_is_written,
          bodies_are_utf_8_unless_it_is_said, a_wrong_member_is_refused_where_it_stands,
          a_rule_that_always_matches_ends_the_list_unless_it_continues,
          a_shape_is_told_from_others_before_the_body_is_read, a_way_to_verify_must_fit_the_body)

#include "unit.h"

#include "channel/unwrap_load.h"

static struct unwrap_list list;
static char name[1024]; /* of a profile in the folder of the test's data */
static struct po_error error;

static enum po_class load(const char *text)
{
        static const struct field field = { .name = "unwrap" };
        struct document *document;
        const char *source = getenv("POSTONCE_SOURCE");
        snprintf(name, sizeof name, "%s/tests/data/channel/t.yaml", source != NULL ? source : ".");
        memset(&list, 0, sizeof list);
        ck_assert_int_eq(document_parse(&document, name, text, strlen(text), &error), PO_OK);
        enum po_class kind = read_unwrap(document_root(document), &field, &list, &error);
        document_close(document);
        return kind;
}

static void assert_refused(const char *text, const char *complaint)
{
        ck_assert_msg(load(text) == PO_SYSTEMIC, "taken: %s", text);
        unit_assert_in(error.text, complaint);
        unit_assert_not_in(error.text, "not-a-secret");
}

START_TEST(keys_are_read_from_files_beside_the_profile)
{
        ck_assert_msg(load("- op: aes-256-gcm\n"
                           "  at: /resource\n"
                           "  to: /plain\n"
                           "  key_file: [keys/wechat-apiv3, keys/wechat-older]\n"
                           "- op: aes-256-ecb-md5key\n"
                           "  at: /req_info\n"
                           "  to: /other\n"
                           "  then: xml\n"
                           "  key_file: keys/wechat-apiv2\n"
                           "  optional: true\n") == PO_OK,
                      "%s", error.text);
        ck_assert_uint_eq(list.count, 2);
        ck_assert_int_eq(list.items[0].then, BODY_JSON);
        ck_assert_uint_eq(list.items[0].keys_count, 2);
        ck_assert_mem_eq(list.items[0].keys[0], "sample-apiv3-key-not-a-secret-32", 32);
        ck_assert(!list.items[0].optional && list.items[1].optional);
        ck_assert_int_eq(list.items[1].then, BODY_XML);
        ck_assert_uint_eq(list.items[1].keys_count, 1);
}
END_TEST

START_TEST(steps_without_a_cipher_have_no_key)
{
        ck_assert_int_eq(load("- { op: base64, at: /a, to: /b, then: form }\n"
                              "- { op: parse, at: /b/c, to: /d }\n"),
                         PO_OK);
        ck_assert_int_eq(list.items[1].op, UNWRAP_PARSE);
}
END_TEST

START_TEST(a_pick_is_read_as_it_is_written)
{
        ck_assert_msg(load("- op: pick\n"
                           "  at: /links\n"
                           "  where: [[\"@/rel\", eq, up]]\n"
                           "  take: \"@/href\"\n"
                           "  after: /\n"
                           "  to: /capture\n") == PO_OK,
                      "%s", error.text);
        ck_assert_int_eq(list.items[0].op, UNWRAP_PICK);
        ck_assert_uint_eq(list.items[0].where.count, 1);
        ck_assert(pointer_starts_at(&list.items[0].take, '@'));
}
END_TEST

START_TEST(a_wrong_pick_is_refused_where_it_is_wrong)
{
        assert_refused("[ { op: pick, at: /a, to: /b, take: \"@/c\" } ]", "1:3: pick wants where");
        assert_refused("[ { op: pick, at: /a, to: /b, where: [[\"@/c\", exists]] } ]",
                       "1:3: pick wants where");
        assert_refused("[ { op: pick, at: /a, to: /b, take: \"@/c\", then: json,"
                       " where: [[\"@/c\", exists]] } ]",
                       "1:50: what is picked is a text");
        assert_refused("[ { op: pick, at: /a, to: /b, take: \"@/c\", where: [[/c, exists]] } ]",
                       "1:51: where is about");
        assert_refused("[ { op: parse, at: /a, to: /b, after: x } ]", "1:39: after goes with pick");
}
END_TEST

START_TEST(keys_are_overwritten_in_the_end)
{
        ck_assert_int_eq(load("[ { op: aes-256-gcm, at: /a, to: /b,"
                              " key_file: keys/wechat-apiv3 } ]"),
                         PO_OK);
        unwrap_reset(&list);
        ck_assert_int_eq(list.items[0].keys[0][0], 0);
        ck_assert_uint_eq(list.count, 0);
}
END_TEST

START_TEST(a_wrong_step_is_refused_where_it_is_wrong)
{
        assert_refused("[]", "1:1: unwrap wants a list");
        assert_refused("[ { op: aes-128, at: /a, to: /b } ]", "1:9: ");
        assert_refused("[ { op: aes-256-gcm, at: /a, to: /b } ]", "1:3: required member");
        assert_refused("[ { op: parse, at: /a, to: /b, key_file: x } ]", "1:42: nothing is");
        assert_refused("[ { op: parse, at: \"#/a\", to: /b } ]", "1:20: what is unwrapped");
        assert_refused("[ { op: parse, at: /a, to: /b/c } ]", "1:28: to is one member");
        assert_refused("[ { op: parse, at: /a, to: /b|/c } ]", "1:28: to is one member");
        assert_refused("[ { op: parse, at: /a, to: / } ]", "1:28: to is one member");
        assert_refused("[ { op: parse, at: /a, to: /b }, { op: parse, at: /c, to: /b } ]",
                       "1:59: an earlier step");
        assert_refused("[ { op: parse, at: /a, to: /b, then: envelope } ]", "1:38: ");
}
END_TEST

START_TEST(a_key_file_that_holds_no_key_is_refused_and_named)
{
        assert_refused("[ { op: aes-256-gcm, at: /a, to: /b, key_file: keys/none } ]",
                       "/keys/none: ");
        assert_refused("[ { op: aes-256-gcm, at: /a, to: /b, key_file: /dev/null } ]",
                       "1:48: /dev/null holds no key");
        assert_refused("[ { op: aes-256-gcm, at: /a, to: /b, key_file: README.md } ]",
                       "holds no key");
        assert_refused("[ { op: aes-256-gcm, at: /a, to: /b, key_file: hostile-bom.expect } ]",
                       "aes-256-gcm wants 32");
        assert_refused("[ { op: aes-256-gcm, at: /a, to: /b, key_file: [] } ]", "1 to 4 files");
}
END_TEST

UNIT_MAIN("unwrap_load", keys_are_read_from_files_beside_the_profile,
          steps_without_a_cipher_have_no_key, keys_are_overwritten_in_the_end,
          a_pick_is_read_as_it_is_written, a_wrong_pick_is_refused_where_it_is_wrong,
          a_wrong_step_is_refused_where_it_is_wrong,
          a_key_file_that_holds_no_key_is_refused_and_named)

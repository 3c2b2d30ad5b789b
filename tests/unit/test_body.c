#include "unit.h"

#include "channel/body.h"

static const struct charset_map utf8 = { .fallback = CHARSET_UTF8 };
static const struct charset_map gbk = { .fallback = CHARSET_GB18030, .needs_converter = true };
static struct body_parser *parser;
static struct po_error error;

static void assert_text(enum body_kind kind, const struct charset_map *charset, const char *text)
{
        struct json_object *root, *value;
        ck_assert_int_eq(body_open(&parser, true, &error), PO_OK);
        enum po_class class = body_parse(parser, kind, charset, text, strlen(text), &root, &error);
        ck_assert_msg(class == PO_OK, "%s: %s", text, error.text);
        ck_assert(json_object_object_get_ex(root, "a", &value));
        ck_assert_str_eq(json_object_get_string(value), "\xE5\xA0\x82");
        json_object_put(root);
        body_close(parser);
}

START_TEST(bodies_of_all_kinds_become_the_same_tree)
{
        assert_text(BODY_JSON, &utf8, "{\"a\":\"\xE5\xA0\x82\"}");
        assert_text(BODY_ENVELOPE, &utf8, "{\"a\":\"\xE5\xA0\x82\"}");
        assert_text(BODY_FORM, &utf8, "a=%E5%A0%82");
        assert_text(BODY_XML, &utf8, "<xml><a>\xE5\xA0\x82</a></xml>");
}
END_TEST

START_TEST(bodies_of_all_kinds_may_be_written_in_gbk)
{
        assert_text(BODY_JSON, &gbk, "{\"a\":\"\xCC\xC3\"}");
        assert_text(BODY_FORM, &gbk, "a=%CC%C3");
        assert_text(BODY_XML, &gbk,
                    "<?xml version=\"1.0\" encoding=\"GBK\"?><x><a>\xCC\xC3</a></x>");
}
END_TEST

START_TEST(a_parser_without_a_converter_reads_utf_8)
{
        struct json_object *root;
        ck_assert_int_eq(body_open(&parser, false, &error), PO_OK);
        ck_assert_int_eq(body_parse(parser, BODY_FORM, &utf8, "a=1", 3, &root, &error), PO_OK);
        json_object_put(root);
        ck_assert_int_eq(body_parse(parser, BODY_JSON, &utf8, "a=1", 3, &root, &error), PO_RECORD);
        ck_assert_str_eq(error.reason, "MALFORMED_JSON");
        body_close(parser);
        body_close(NULL);
}
END_TEST

UNIT_MAIN("body", bodies_of_all_kinds_become_the_same_tree,
          bodies_of_all_kinds_may_be_written_in_gbk, a_parser_without_a_converter_reads_utf_8)

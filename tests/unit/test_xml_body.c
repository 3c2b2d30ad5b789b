#include "unit.h"

#include "base/limits.h"
#include "channel/xml_body.h"

static struct json_object *root;
static struct po_error error;

static enum po_class parse(const char *text)
{
        error.reason = "none";
        return xml_body_parse(text, strlen(text), false, &root, &error);
}

static void assert_tree(const char *text, const char *expected)
{
        enum po_class kind = parse(text);
        ck_assert_msg(kind == PO_OK, "%s: %s", text, error.text);
        ck_assert_str_eq(json_object_to_json_string_ext(root, JSON_C_TO_STRING_PLAIN), expected);
        json_object_put(root);
}

static void assert_refused(const char *text, const char *reason)
{
        enum po_class kind = parse(text);
        ck_assert_msg(kind == PO_RECORD && strcmp(error.reason, reason) == 0, "%s: %s (%s)", text,
                      error.reason, error.text);
}

START_TEST(elements_become_objects_and_texts)
{
        assert_tree("<xml><a>1</a><b><c>x</c><d/></b></xml>",
                    "{\"a\":\"1\",\"b\":{\"c\":\"x\",\"d\":\"\"}}");
        assert_tree("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<xml>\n <a>1</a>\n</xml>\n",
                    "{\"a\":\"1\"}");
        assert_tree("<xml><a x=\"1\"><![CDATA[A&B]]>&amp;&#x43;<!-- no -->D</a></xml>",
                    "{\"a\":\"A&B&CD\"}");
}
END_TEST

START_TEST(texts_keep_their_white_space)
{
        assert_tree("<xml><a> 1 </a><b> </b></xml>", "{\"a\":\" 1 \",\"b\":\" \"}");
}
END_TEST

START_TEST(any_document_type_is_refused)
{
        assert_refused("<!DOCTYPE xml><xml><a>1</a></xml>", "DOCTYPE_REFUSED");
        assert_refused("<!DOCTYPE xml [<!ENTITY e SYSTEM \"file:///etc/hostname\">]>"
                       "<xml><a>&e;</a></xml>",
                       "DOCTYPE_REFUSED");
        assert_refused("<!DOCTYPE xml SYSTEM \"http://127.0.0.1/x.dtd\"><xml><a>1</a></xml>",
                       "DOCTYPE_REFUSED");
        assert_refused("<!DOCTYPE x [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;&a;\">]>"
                       "<x><a>&b;</a></x>",
                       "DOCTYPE_REFUSED");
        assert_refused("<xml><a>&e;</a></xml>", "MALFORMED_XML");
}
END_TEST

START_TEST(an_element_that_comes_twice_is_refused)
{
        assert_refused("<xml><a>1</a><a>1</a></xml>", "DUPLICATE_ELEMENT");
        assert_refused("<xml><a>1</a><b/><a><c/></a></xml>", "DUPLICATE_ELEMENT");
        assert_tree("<xml><a><a>1</a></a></xml>", "{\"a\":{\"a\":\"1\"}}");
}
END_TEST

START_TEST(text_beside_elements_is_refused)
{
        assert_refused("<xml>x<a>1</a></xml>", "MIXED_CONTENT");
        assert_refused("<xml><a>1</a>x</xml>", "MIXED_CONTENT");
        assert_refused("<xml><a>1<b/></a></xml>", "MIXED_CONTENT");
}
END_TEST

START_TEST(what_is_no_xml_is_refused_with_its_place)
{
        assert_refused("<xml><a>1</a>", "MALFORMED_XML");
        assert_refused("<xml><a>1</b></xml>", "MALFORMED_XML");
        unit_assert_in(error.text, "byte 11");
        assert_refused("{\"a\":1}", "MALFORMED_XML");
        assert_refused("<xml><a>&#0;</a></xml>", "MALFORMED_XML");
        assert_refused("<xml><a>1</a></xml><xml/>", "TRAILING_BYTES");
        assert_refused("<xml><a>1</a></xml>x", "TRAILING_BYTES");
        assert_refused("<xml><a>\xFF</a></xml>", "INVALID_UTF8");
        assert_refused("<xml><a>\xED\xA0\x80</a></xml>", "INVALID_UTF8");
        assert_refused("<xml>1</xml>", "WRONG_TYPE");
        assert_refused("<xml/>", "WRONG_TYPE");
        ck_assert_int_eq(xml_body_parse("<xml><a>\0</a></xml>", 19, false, &root, &error),
                         PO_RECORD);
}
END_TEST

START_TEST(a_declared_character_set_is_obeyed_or_refused)
{
        assert_tree("<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><xml><a>\xE4\xE4</a></xml>",
                    "{\"a\":\"\xC3\xA4\xC3\xA4\"}");
        assert_refused("<?xml version=\"1.0\" encoding=\"GBK\"?><xml><a>\xCC\xC3</a></xml>",
                       "CHARSET_UNKNOWN");
        static const char converted[] =
                "<?xml version=\"1.0\" encoding=\"GBK\"?><xml><a>\xE5\xA0\x82</a></xml>";
        ck_assert_int_eq(xml_body_parse(converted, strlen(converted), true, &root, &error), PO_OK);
        json_object_put(root);
}
END_TEST

START_TEST(depth_is_bounded)
{
        char text[1024] = "";
        for (int levels = JSON_DEPTH_MAX; levels <= JSON_DEPTH_MAX + 1; levels++) {
                char *at = text;
                for (int i = 0; i < levels; i++)
                        at += sprintf(at, "<a>");
                for (int i = 0; i < levels; i++)
                        at += sprintf(at, "</a>");
                if (levels > JSON_DEPTH_MAX) {
                        assert_refused(text, "NESTING_TOO_DEEP");
                        continue;
                }
                ck_assert_int_eq(parse(text), PO_OK);
                json_object_put(root);
        }
}
END_TEST

UNIT_MAIN("xml_body", elements_become_objects_and_texts, texts_keep_their_white_space,
          any_document_type_is_refused, an_element_that_comes_twice_is_refused,
          text_beside_elements_is_refused, what_is_no_xml_is_refused_with_its_place,
          a_declared_character_set_is_obeyed_or_refused, depth_is_bounded)

#include "unit.h"

#include "channel/form_body.h"
#include "channel/json_scan.h"

static const struct charset_map utf8 = { .fallback = CHARSET_UTF8 };
static const struct charset_map by_field = { .field = "charset",
                                             .fallback = CHARSET_UTF8,
                                             .needs_converter = true };
static struct charset_converter *converter;
static struct json_object *root;
static struct po_error error;

static enum po_class parse(const struct charset_map *map, const char *text)
{
        if (converter == NULL)
                ck_assert_int_eq(charset_open(&converter, &error), PO_OK);
        error.reason = "none";
        return form_body_parse(text, strlen(text), map, converter, &root, &error);
}

static void assert_tree(const struct charset_map *map, const char *text, const char *expected)
{
        enum po_class kind = parse(map, text);
        ck_assert_msg(kind == PO_OK, "%s: %s", text, error.text);
        ck_assert_str_eq(json_object_to_json_string_ext(root, JSON_C_TO_STRING_PLAIN), expected);
        json_object_put(root);
}

static void assert_refused(const struct charset_map *map, const char *text, const char *reason)
{
        enum po_class kind = parse(map, text);
        ck_assert_msg(kind == PO_RECORD && strcmp(error.reason, reason) == 0, "%s: %s", text,
                      error.reason);
}

START_TEST(fields_become_texts)
{
        assert_tree(&utf8, "a=1&b=x+y%26z&c=&d=e=f",
                    "{\"a\":\"1\",\"b\":\"x y&z\",\"c\":\"\",\"d\":\"e=f\"}");
        assert_tree(&utf8, "%61=%5B%5D", "{\"a\":\"[]\"}");
        assert_tree(&utf8, "s=%E5%A0%82", "{\"s\":\"\xE5\xA0\x82\"}");
        assert_tree(&utf8, "s=\xE5\xA0\x82", "{\"s\":\"\xE5\xA0\x82\"}");
}
END_TEST

START_TEST(a_field_that_comes_twice_is_refused_however_it_is_written)
{
        assert_refused(&utf8, "a=1&b=2&a=1", "DUPLICATE_FIELD");
        assert_refused(&utf8, "a=1&%61=2", "DUPLICATE_FIELD");
        assert_refused(&by_field, "charset=gbk&charset=utf-8", "DUPLICATE_FIELD");
}
END_TEST

START_TEST(a_broken_escape_is_refused)
{
        assert_refused(&utf8, "a=%ZZ", "MALFORMED_FORM");
        assert_refused(&utf8, "a=%4", "MALFORMED_FORM");
        assert_refused(&utf8, "a=%", "MALFORMED_FORM");
        assert_refused(&utf8, "a=%&b=1", "MALFORMED_FORM");
        assert_refused(&utf8, "%4=1", "MALFORMED_FORM");
        unit_assert_in(error.text, "byte 0");
}
END_TEST

START_TEST(what_is_no_form_is_refused)
{
        assert_refused(&utf8, "a", "MALFORMED_FORM");
        assert_refused(&utf8, "=1", "MALFORMED_FORM");
        assert_refused(&utf8, "a=1&", "MALFORMED_FORM");
        assert_refused(&utf8, "&a=1", "MALFORMED_FORM");
        assert_refused(&utf8, "a=1&&b=2", "MALFORMED_FORM");
        assert_refused(&utf8, "a=1\n", "MALFORMED_FORM");
        assert_refused(&utf8, "a=1 2", "MALFORMED_FORM");
        assert_refused(&utf8, "{\"a\":1}", "MALFORMED_FORM");
}
END_TEST

START_TEST(nul_and_bytes_that_are_no_utf_8_are_refused)
{
        assert_refused(&utf8, "a=%00", "NUL_IN_TEXT");
        assert_refused(&utf8, "a%00=1", "NUL_IN_TEXT");
        assert_refused(&utf8, "a=%FF", "INVALID_UTF8");
        assert_refused(&utf8, "a=%E5%A0", "INVALID_UTF8");
        assert_refused(&utf8, "%C0%80=1", "INVALID_UTF8");
        ck_assert_int_eq(form_body_parse("a=\0", 3, &utf8, NULL, &root, &error), PO_RECORD);
        ck_assert_str_eq(error.reason, "MALFORMED_FORM");
}
END_TEST

START_TEST(a_field_names_the_charset_of_the_bytes_behind_the_escapes)
{
        assert_tree(&by_field, "s=%CC%C3&charset=GBK",
                    "{\"s\":\"\xE5\xA0\x82\",\"charset\":\"GBK\"}");
        assert_tree(&by_field, "s=%E5%A0%82", "{\"s\":\"\xE5\xA0\x82\"}");
        assert_tree(&(struct charset_map){ NULL, CHARSET_GB18030, true }, "s=%CC%C3",
                    "{\"s\":\"\xE5\xA0\x82\"}");
        assert_refused(&by_field, "s=%CC%C3&charset=utf-8", "INVALID_UTF8");
        assert_refused(&by_field, "s=%CC&charset=GBK", "INVALID_GB18030");
        assert_refused(&by_field, "s=1&charset=latin1", "CHARSET_UNKNOWN");
        unit_assert_not_in(error.text, "latin1");
}
END_TEST

START_TEST(more_fields_than_a_tree_may_have_are_refused)
{
        size_t used = 0, room = (size_t)(JSON_VALUES_MAX + 1) * 8;
        char *text = malloc(room);
        for (int i = 0; i <= JSON_VALUES_MAX; i++)
                used += (size_t)snprintf(text + used, room - used, "%s%x=", i > 0 ? "&" : "", i);
        assert_refused(&utf8, text, "TOO_MANY_VALUES");
        free(text);
}
END_TEST

static enum po_class text_decode(const char *text, char *decoded)
{
        size_t length = 99;
        enum po_class kind = form_text_decode(text, strlen(text), decoded, &length, &error);
        ck_assert(kind != PO_OK || length == strlen(decoded));
        return kind;
}

START_TEST(one_text_is_decoded_as_a_value_is_but_for_its_ampersands)
{
        char decoded[64];
        ck_assert_int_eq(text_decode("a%3D1%26b+c&d=&", decoded), PO_OK);
        ck_assert_str_eq(decoded, "a=1&b c&d=&");
        ck_assert_int_eq(text_decode("&&", decoded), PO_OK);
        ck_assert_str_eq(decoded, "&&");
        ck_assert_int_eq(text_decode("", decoded), PO_OK);
        ck_assert_str_eq(decoded, "");
        ck_assert_int_eq(text_decode("a&%4", decoded), PO_RECORD);
        ck_assert_str_eq(error.reason, "MALFORMED_FORM");
        ck_assert_int_eq(text_decode("%00", decoded), PO_RECORD);
        ck_assert_str_eq(error.reason, "NUL_IN_TEXT");
}
END_TEST

UNIT_MAIN("form_body", fields_become_texts,
          a_field_that_comes_twice_is_refused_however_it_is_written, a_broken_escape_is_refused,
          what_is_no_form_is_refused, nul_and_bytes_that_are_no_utf_8_are_refused,
          a_field_names_the_charset_of_the_bytes_behind_the_escapes,
          more_fields_than_a_tree_may_have_are_refused,
          one_text_is_decoded_as_a_value_is_but_for_its_ampersands)

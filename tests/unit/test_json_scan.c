#include "unit.h"

#include <stdbool.h>

#include "base/limits.h"
#include "channel/json_scan.h"

static struct json_scan scan(const char *text, size_t length)
{
        struct json_scan result;
        struct po_error error = { 0 };
        enum po_class kind = json_scan(text, length, NULL, &result, &error);
        ck_assert_msg(kind == PO_OK, "%s: %s", text, error.text);
        return result;
}

static void assert_refused(const char *text, size_t length, const char *reason, const char *where)
{
        struct json_scan result;
        struct po_error error = { .reason = "none" };
        enum po_class kind = json_scan(text, length, NULL, &result, &error);
        ck_assert_msg(kind == PO_RECORD && strcmp(error.reason, reason) == 0, "%s: %s %s", text,
                      error.reason, error.text);
        unit_assert_in(error.text, where);
}
#define assert_text_refused(text, reason, where)                                                   \
        assert_refused(text, sizeof(text) - 1, reason, where)

START_TEST(what_rfc_8259_allows_is_let_through)
{
        static const char *const right[] = {
                "{}",
                "[]",
                "null",
                "true",
                "false",
                "0",
                "-0",
                "1.5e+10",
                "-1E-7",
                "\"\"",
                " \t\r\n{ \"a\" : [ 1 , 2 ] , \"b\" : { } } \n",
                "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\uD83C\\uDF5C\"",
                "\"\xC3\xA9\xE2\x82\xAC\xED\x9F\xBF\xEE\x80\x80\xF0\x9F\x8D\x9C\xF4\x8F\xBF\xBF\x7F\"",
                "[9223372036854775807,-9223372036854775808]",
                "[1e999999,123456789012345678901234567890.5]",
        };
        for (size_t i = 0; i < sizeof right / sizeof right[0]; i++)
                scan(right[i], strlen(right[i]));
}
END_TEST

START_TEST(members_and_values_are_counted_with_repeated_ones)
{
        static const char text[] = "{\"a\":1,\"a\":{\"b\":[{\"c\":null},2]},\"\":\"x\"}";
        struct json_scan result = scan(text, sizeof text - 1);
        ck_assert_uint_eq(result.members, 5);
        ck_assert_uint_eq(result.values, 8);
}
END_TEST

START_TEST(byte_order_mark_and_white_space_are_stepped_over)
{
        struct json_scan result = scan("\xEF\xBB\xBF {} \n", 8);
        ck_assert_uint_eq(result.begin, 4);
        ck_assert_uint_eq(result.end, 6);
        assert_text_refused("\xEF\xBB\xBF\xEF\xBB\xBF{}", "MALFORMED_JSON", "byte 3");
        assert_text_refused("{\xEF\xBB\xBF}", "MALFORMED_JSON", "byte 1");
}
END_TEST

START_TEST(what_breaks_the_grammar_is_refused_with_its_place)
{
        assert_text_refused("NaN", "MALFORMED_JSON", "byte 0");
        assert_text_refused("[Infinity]", "MALFORMED_JSON", "byte 1");
        assert_text_refused("[-Infinity]", "MALFORMED_JSON", "byte 2");
        assert_text_refused("[1,]", "MALFORMED_JSON", "byte 3");
        assert_text_refused("{\"a\":1,}", "MALFORMED_JSON", "byte 7");
        assert_text_refused("{a:1}", "MALFORMED_JSON", "byte 1");
        assert_text_refused("{'a':1}", "MALFORMED_JSON", "byte 1");
        assert_text_refused("{\"a\" 1}", "MALFORMED_JSON", "byte 5");
        assert_text_refused("[1 2]", "MALFORMED_JSON", "byte 3");
        assert_text_refused("[01]", "MALFORMED_JSON", "byte 1");
        assert_text_refused("[+1]", "MALFORMED_JSON", "byte 1");
        assert_text_refused("[.5]", "MALFORMED_JSON", "byte 1");
        assert_text_refused("[5.]", "MALFORMED_JSON", "byte 3");
        assert_text_refused("[1e]", "MALFORMED_JSON", "byte 3");
        assert_text_refused("[0x10]", "MALFORMED_JSON", "byte 2");
        assert_text_refused("[True]", "MALFORMED_JSON", "byte 1");
        assert_text_refused("[nul]", "MALFORMED_JSON", "byte 4");
        assert_text_refused("[/*x*/1]", "MALFORMED_JSON", "byte 1");
        assert_text_refused("\"a\nb\"", "MALFORMED_JSON", "byte 2");
        assert_text_refused("\"a\0b\"", "MALFORMED_JSON", "byte 2");
        assert_text_refused("\"\\x\"", "MALFORMED_JSON", "byte 2");
        assert_text_refused("\"\\u12g4\"", "MALFORMED_JSON", "byte 5");
        assert_text_refused("{\"a\":1]", "MALFORMED_JSON", "byte 6");
}
END_TEST

START_TEST(every_cut_of_a_text_is_refused_as_cut)
{
        static const char text[] =
                "{\"a\":[true,false,null,-1.5e+3,{\"b\\u00e9\\n\":\"x\"}],\"c\":{}}";
        scan(text, sizeof text - 1);
        for (size_t length = 0; length < sizeof text - 1; length++)
                assert_refused(text, length, "TRUNCATED_JSON", "ends at byte");
}
END_TEST

START_TEST(more_than_one_value_is_refused)
{
        assert_text_refused("{} {}", "TRAILING_BYTES", "byte 3");
        assert_text_refused("{}garbage", "TRAILING_BYTES", "byte 2");
        assert_text_refused("[]\0", "TRAILING_BYTES", "byte 2");
        assert_text_refused("1 ]", "TRAILING_BYTES", "byte 2");
}
END_TEST

START_TEST(bytes_that_are_no_utf_8_are_refused)
{
        assert_text_refused("\"\x80\"", "INVALID_UTF8", "byte 1");
        assert_text_refused("\"a\xFF\"", "INVALID_UTF8", "byte 2");
        assert_text_refused("\"\xC0\xAF\"", "INVALID_UTF8", "byte 1");
        assert_text_refused("\"\xC1\xBF\"", "INVALID_UTF8", "byte 1");
        assert_text_refused("\"\xE0\x9F\xBF\"", "INVALID_UTF8", "byte 1");
        assert_text_refused("\"\xED\xA0\x80\"", "INVALID_UTF8", "byte 1");
        assert_text_refused("\"\xF0\x8F\xBF\xBF\"", "INVALID_UTF8", "byte 1");
        assert_text_refused("\"\xF4\x90\x80\x80\"", "INVALID_UTF8", "byte 1");
        assert_text_refused("\"\xF5\x80\x80\x80\"", "INVALID_UTF8", "byte 1");
        assert_text_refused("\"\xE2\x82\"", "INVALID_UTF8", "byte 1");
        assert_text_refused("\"\xC3", "INVALID_UTF8", "byte 1");
        assert_text_refused("{\"\xC3\":1}", "INVALID_UTF8", "byte 2");
}
END_TEST

START_TEST(an_escaped_nul_and_half_a_surrogate_pair_are_refused)
{
        assert_text_refused("\"a\\u0000\"", "NUL_IN_TEXT", "byte 2");
        assert_text_refused("{\"\\u0000\":1}", "NUL_IN_TEXT", "byte 2");
        assert_text_refused("\"\\uD83C\"", "LONE_SURROGATE", "byte 1");
        assert_text_refused("\"\\uD83Cx\"", "LONE_SURROGATE", "byte 1");
        assert_text_refused("\"\\uD83C\\n\"", "LONE_SURROGATE", "byte 1");
        assert_text_refused("\"\\uD83C\\u0041\"", "LONE_SURROGATE", "byte 1");
        assert_text_refused("\"\\uD83C\\uD83C\"", "LONE_SURROGATE", "byte 1");
        assert_text_refused("\"\\uDF5C\"", "LONE_SURROGATE", "byte 1");
}
END_TEST

START_TEST(an_integer_beyond_64_bits_is_refused)
{
        assert_text_refused("[9223372036854775808]", "NUMBER_OUT_OF_RANGE", "byte 1");
        assert_text_refused("[-9223372036854775809]", "NUMBER_OUT_OF_RANGE", "byte 1");
        assert_text_refused("{\"txn\":90071992547409931234}", "NUMBER_OUT_OF_RANGE", "byte 7");
}
END_TEST

START_TEST(the_deepest_nesting_is_let_through_and_one_more_level_is_refused)
{
        char text[2 * (JSON_DEPTH_MAX + 1)];
        memset(text, '[', JSON_DEPTH_MAX + 1);
        memset(text + JSON_DEPTH_MAX + 1, ']', JSON_DEPTH_MAX + 1);
        scan(text + 1, sizeof text - 2);
        assert_refused(text, sizeof text, "NESTING_TOO_DEEP", "byte 32");
}
END_TEST

START_TEST(more_values_than_a_record_may_have_are_refused)
{
        size_t length = 2 * (size_t)JSON_VALUES_MAX + 1;
        char *text = malloc(length);
        ck_assert_ptr_nonnull(text);
        for (size_t i = 0; i < length; i++)
                text[i] = i % 2 == 0 ? ',' : '1';
        text[0] = '[';
        text[length - 1] = ']';
        assert_refused(text, length, "TOO_MANY_VALUES", "byte");
        text[length - 3] = ']';
        ck_assert_uint_eq(scan(text, length - 2).values, JSON_VALUES_MAX);
        free(text);
}
END_TEST

START_TEST(a_complaint_never_shows_the_payload)
{
        struct json_scan result;
        struct po_error error = { 0 };
        ck_assert_int_eq(json_scan("{secret}", 8, NULL, &result, &error), PO_RECORD);
        unit_assert_not_in(error.text, "secret");
        unit_assert_not_in(error.text, "'s'");
}
END_TEST

/* Every byte at every place of a word: words are looked at as a whole. */
START_TEST(a_byte_that_ends_or_breaks_a_string_is_seen_wherever_it_stands)
{
        enum { LENGTH = 26 };
        for (int byte = 0; byte < 256; byte++)
                for (size_t place = 1; place < LENGTH - 1; place++) {
                        char text[LENGTH + 1] = "\"~~~~~~~~ aaaaaaa ZZZZZZZ\"";
                        struct json_scan result;
                        struct po_error error;
                        bool plain = byte >= 0x20 && byte < 0x80 && byte != '"' && byte != '\\';
                        text[place] = (char)byte;
                        enum po_class kind = json_scan(text, LENGTH, NULL, &result, &error);
                        ck_assert_msg((kind == PO_OK) == plain, "byte %d at %zu", byte, place);
                        if (!plain)
                                ck_assert_int_ge(error.place, (int64_t)place);
                }
}
END_TEST

UNIT_MAIN("json_scan", what_rfc_8259_allows_is_let_through,
          members_and_values_are_counted_with_repeated_ones,
          byte_order_mark_and_white_space_are_stepped_over,
          what_breaks_the_grammar_is_refused_with_its_place, every_cut_of_a_text_is_refused_as_cut,
          more_than_one_value_is_refused, bytes_that_are_no_utf_8_are_refused,
          an_escaped_nul_and_half_a_surrogate_pair_are_refused,
          an_integer_beyond_64_bits_is_refused,
          the_deepest_nesting_is_let_through_and_one_more_level_is_refused,
          more_values_than_a_record_may_have_are_refused,
          a_byte_that_ends_or_breaks_a_string_is_seen_wherever_it_stands,
          a_complaint_never_shows_the_payload)

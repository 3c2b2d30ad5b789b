#include "unit.h"

#include <json-c/json_tokener.h>

#include "channel/word_map.h"

static struct word_map map;
static struct po_error error;

/* Everything made here lives as long as the case's process. */
static enum po_class load(const char *text)
{
        struct document *document;
        memset(&map, 0, sizeof map);
        ck_assert_int_eq(document_parse(&document, "t.yaml", text, strlen(text), &error), PO_OK);
        return word_map_read(document_root(document), 5, &map, &error);
}

static const char *find(const char *json)
{
        const struct scope scope = { .root = json_tokener_parse(json) };
        return word_map_find(&map, &scope);
}

START_TEST(the_channels_word_stands_for_ours)
{
        ck_assert_int_eq(load("{ at: /a|/b, map: { ok: GOOD, \"3\": BAD, \"true\": TRUE } }"),
                         PO_OK);
        ck_assert_str_eq(find("{\"a\":\"ok\"}"), "GOOD");
        ck_assert_str_eq(find("{\"b\":3}"), "BAD");
        ck_assert_str_eq(find("{\"a\":true}"), "TRUE");
}
END_TEST

START_TEST(a_word_that_the_map_lacks_stands_for_nothing)
{
        ck_assert_int_eq(load("{ at: /a, map: { ok: GOOD } }"), PO_OK);
        ck_assert_ptr_null(find("{\"a\":\"OK\"}"));
        ck_assert_ptr_null(find("{\"a\":\"okay\"}"));
        ck_assert_ptr_null(find("{\"a\":[\"ok\"]}"));
        ck_assert_ptr_null(find("{}"));
}
END_TEST

START_TEST(a_wrong_map_is_refused_where_it_is_wrong)
{
        static const char *const wrong[][2] = {
                { "{ map: { a: B } }", "1:1: required member \"at\"" },
                { "{ at: /a }", "1:1: required member \"map\"" },
                { "{ at: /a, map: {} }", "1:16: map wants 1 to" },
                { "{ at: /a, map: { a: b } }", "1:21: our words" },
                { "{ at: /a, map: { a: ABCDE } }", "1:16: our words have at most 4 bytes" },
                { "{ at: a, map: { a: B } }", "1:7: a pointer starts" },
                { "/a", "1:1: " },
        };
        for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
                ck_assert_msg(load(wrong[i][0]) == PO_SYSTEMIC, "taken: %s", wrong[i][0]);
                unit_assert_in(error.text, wrong[i][1]);
        }
}
END_TEST

START_TEST(a_label_is_a_word_in_upper_case)
{
        ck_assert(word_is_label("SQB"));
        ck_assert(word_is_label("WECHAT_2"));
        ck_assert(!word_is_label(""));
        ck_assert(!word_is_label("Sqb"));
        ck_assert(!word_is_label("SQB-1"));
}
END_TEST

UNIT_MAIN("word_map", the_channels_word_stands_for_ours,
          a_word_that_the_map_lacks_stands_for_nothing, a_wrong_map_is_refused_where_it_is_wrong,
          a_label_is_a_word_in_upper_case)

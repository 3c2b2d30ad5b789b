#include "unit.h"

#include <json-c/json_tokener.h>

#include "channel/pointer.h"

static struct json_object *document(void)
{
        return json_tokener_parse(
                "{\"a\":{\"b\":\"x\",\"\":\"empty name\"},\"l\":[\"zero\",{\"k\":1}],"
                "\"a/b\":\"slash\",\"m~n\":\"tilde\",\"~1\":\"escaped\",\"none\":null,"
                "\"blank\":\"\",\"no\":false,\"0\":\"digit\",\"nil\":0,\"empty\":[]}");
}

static void assert_finds(const char *text, const char *expected)
{
        struct pointer pointer = { 0 };
        const char *complaint = pointer_compile(&pointer, text);
        ck_assert_msg(complaint == NULL, "%s: %s", text, complaint);
        struct json_object *root = document();
        struct json_object *value = pointer_find(&pointer, &(struct scope){ .root = root });
        if (expected == NULL)
                ck_assert_msg(value == NULL, "%s leads to something", text);
        else
                ck_assert_str_eq(json_object_get_string(value), expected);
        json_object_put(root);
}

START_TEST(a_pointer_leads_through_objects_and_lists)
{
        assert_finds("/a/b", "x");
        assert_finds("/l/0", "zero");
        assert_finds("/l/1/k", "1");
        assert_finds("/0", "digit");
        assert_finds("/a/", "empty name");
        assert_finds("/no", "false");
        assert_finds("/nil", "0");
}
END_TEST

START_TEST(escapes_stand_for_slash_and_tilde)
{
        assert_finds("/a~1b", "slash");
        assert_finds("/m~0n", "tilde");
        assert_finds("/~01", "escaped");
}
END_TEST

START_TEST(what_is_not_there_null_or_the_empty_text_is_nothing)
{
        assert_finds("/nowhere", NULL);
        assert_finds("/a/b/c", NULL);
        assert_finds("/none", NULL);
        assert_finds("/none/deeper", NULL);
        assert_finds("/blank", NULL);
        assert_finds("/A/b", NULL);
}
END_TEST

START_TEST(an_empty_list_is_something)
{
        assert_finds("/empty", "[ ]");
}
END_TEST

START_TEST(a_list_is_reached_by_plain_indexes_only)
{
        assert_finds("/l/2", NULL);
        assert_finds("/l/00", NULL);
        assert_finds("/l/01", NULL);
        assert_finds("/l/-", NULL);
        assert_finds("/l/-1", NULL);
        assert_finds("/l/", NULL);
        assert_finds("/l/1x", NULL);
        assert_finds("/l/18446744073709551616", NULL);
        assert_finds("/l/4294967296", NULL);
}
END_TEST

START_TEST(the_first_alternative_that_leads_to_something_wins)
{
        assert_finds("/a/b|/l/0", "x");
        assert_finds("/nowhere|/none|/blank|/l/0", "zero");
        assert_finds("/nowhere/at/all|/l/1/k", "1");
        assert_finds("/nowhere|/none", NULL);
}
END_TEST

START_TEST(a_pointer_that_is_not_given_finds_nothing)
{
        struct pointer pointer = { 0 };
        struct json_object *root = document();
        ck_assert(!pointer_is_given(&pointer));
        ck_assert_ptr_null(pointer_find(&pointer, &(struct scope){ .root = root }));
        json_object_put(root);
}
END_TEST

START_TEST(a_wrong_pointer_is_refused)
{
        static const char *const wrong[] = {
                "",    "a",   "a/b",  "/a~2",           "/a~",
                "/a|", "|/a", "/a|b", "/a||/b",         "/a~|/b",
                "#a",  "@",   "%/a",  "/a|/b|/c|/d|/e", "/1/2/3/4/5/6/7/8/9/a/b/c/d/e/f/g/h"
        };
        struct pointer pointer;
        for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
                ck_assert_msg(pointer_compile(&pointer, wrong[i]) != NULL, "\"%s\" is taken",
                              wrong[i]);

        char text[POINTER_BYTES + 1];
        memset(text, 'x', POINTER_BYTES);
        text[0] = '/';
        text[POINTER_BYTES] = '\0';
        ck_assert_ptr_nonnull(pointer_compile(&pointer, text));
        text[POINTER_BYTES - 1] = '\0';
        ck_assert_ptr_null(pointer_compile(&pointer, text));
}
END_TEST

START_TEST(a_pointer_starts_at_body_item_or_header)
{
        struct pointer pointer;
        const struct scope scope = {
                .root = json_tokener_parse("{\"a\":\"body\"}"),
                .item = json_tokener_parse("{\"a\":\"item\",\"b\":\"second\"}"),
                .headers = json_tokener_parse("{\"ce_type\":\"header\"}"),
        };
        static const char *const found[][2] = { { "/a", "body" },
                                                { "@/a", "item" },
                                                { "#/ce_type", "header" },
                                                { "/b|@/b", "second" },
                                                { "#/a|/a", "body" } };
        for (size_t i = 0; i < sizeof found / sizeof found[0]; i++) {
                ck_assert_ptr_null(pointer_compile(&pointer, found[i][0]));
                ck_assert_str_eq(json_object_get_string(pointer_find(&pointer, &scope)),
                                 found[i][1]);
        }
        ck_assert_ptr_null(pointer_find(&pointer, &(struct scope){ 0 }));
        ck_assert(pointer_starts_at(&pointer, '#') && pointer_starts_at(&pointer, '/'));
        ck_assert(!pointer_starts_at(&pointer, '@'));
        json_object_put(scope.root);
        json_object_put(scope.item);
        json_object_put(scope.headers);
}
END_TEST

UNIT_MAIN("pointer", a_pointer_leads_through_objects_and_lists, escapes_stand_for_slash_and_tilde,
          what_is_not_there_null_or_the_empty_text_is_nothing, an_empty_list_is_something,
          a_list_is_reached_by_plain_indexes_only,
          the_first_alternative_that_leads_to_something_wins,
          a_pointer_that_is_not_given_finds_nothing, a_wrong_pointer_is_refused,
          a_pointer_starts_at_body_item_or_header)

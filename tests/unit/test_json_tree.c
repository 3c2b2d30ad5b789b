/* Trees that are built while the text is scanned. */
#include "unit.h"

#include <malloc.h>

#include <json-c/json_tokener.h>

#include "channel/json_scan.h"
#include "channel/json_tree.h"

static struct json_tree tree;
static struct po_error error;

static struct json_object *build(const char *text)
{
        struct json_scan scan;
        enum po_class kind = json_scan(text, strlen(text), &tree, &scan, &error);
        ck_assert_msg(kind == PO_OK, "%s: %s", text, error.text);
        struct json_object *root = json_tree_take(&tree);
        json_tree_reset(&tree);
        return root;
}

static void assert_written(const char *text, const char *expected)
{
        struct json_object *root = build(text);
        ck_assert_str_eq(json_object_to_json_string_ext(
                                 root, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE),
                         expected);
        json_object_put(root);
}

static void assert_refused(const char *text, const char *reason, int place)
{
        struct json_scan scan;
        ck_assert_int_eq(json_scan(text, strlen(text), &tree, &scan, &error), PO_RECORD);
        json_tree_reset(&tree);
        ck_assert_str_eq(error.reason, reason);
        ck_assert_int_eq(error.place, place);
}

START_TEST(every_kind_of_value_stands_where_it_stood)
{
        assert_written(" { \"a\" : [ 1 , -2 , { } , [ ] , true , false , null ] , \"b\" : \"x\" } ",
                       "{\"a\":[1,-2,{},[],true,false,null],\"b\":\"x\"}");
        assert_written("[9223372036854775807,-9223372036854775808,0,-0]",
                       "[9223372036854775807,-9223372036854775808,0,0]");
        assert_written("{\"a\":{\"b\":{\"c\":1},\"d\":2},\"e\":3}",
                       "{\"a\":{\"b\":{\"c\":1},\"d\":2},\"e\":3}");
}
END_TEST

START_TEST(a_number_with_a_fraction_stays_as_it_is_written)
{
        assert_written("[0.10,1E2,-2.50e-3,12345678901234567890.12345678901234567890]",
                       "[0.10,1E2,-2.50e-3,12345678901234567890.12345678901234567890]");
        struct json_object *root = build("[8.20]");
        ck_assert(json_object_is_type(json_object_array_get_idx(root, 0), json_type_double));
        json_object_put(root);
}
END_TEST

START_TEST(escapes_in_texts_and_names_are_what_they_stand_for)
{
        struct json_object *value,
                *root = build(
                        "{\"\\u0061\\\"\":\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\u4E2d\\uD83c\\udf5c.\"}");
        ck_assert(json_object_object_get_ex(root, "a\"", &value));
        ck_assert_str_eq(json_object_get_string(value), "\\/\b\f\n\r\té中🍜.");
        json_object_put(root);
        /* json-c itself takes it for half of a pair. */
        assert_written("[\"\\ud837\\ude00\"]", "[\"\xF0\x9D\xB8\x80\"]");
}
END_TEST

START_TEST(one_name_twice_is_refused_with_the_place_of_the_second)
{
        assert_refused("{\"a\":1,\"b\":2,\"a\":3}", "DUPLICATE_MEMBER", 13);
        assert_refused("{\"a\":1,\"\\u0061\":{\"x\":1}}", "DUPLICATE_MEMBER", 7);
        assert_refused("[{\"a\":null,\"a\":null}]", "DUPLICATE_MEMBER", 11);
        assert_refused("{\"\":1,\"\":2}", "DUPLICATE_MEMBER", 6);
        char text[400], name[101];
        memset(name, 'n', sizeof name - 1);
        name[sizeof name - 1] = '\0';
        snprintf(text, sizeof text, "{\"%s\":[1],\"%s\":[2]}", name, name);
        assert_refused(text, "DUPLICATE_MEMBER", 108);
        assert_written("{\"a\":{\"a\":1},\"b\":[{\"a\":1},{\"a\":2}]}",
                       "{\"a\":{\"a\":1},\"b\":[{\"a\":1},{\"a\":2}]}");
}
END_TEST

START_TEST(trees_with_more_names_than_are_kept_are_right_as_well)
{
        for (int round = 0; round < 40; round++) {
                char text[4096] = "{", number[64];
                size_t used = 1;
                for (int i = 0; i < 40; i++) {
                        snprintf(number, sizeof number, "%s\"name-%d-%d\":%d", i > 0 ? "," : "",
                                 round, i, i);
                        memcpy(text + used, number, strlen(number) + 1);
                        used += strlen(number);
                }
                memcpy(text + used, "}", 2);
                assert_written(text, text);
                ck_assert_uint_lt(tree.names_count, TREE_NAMES_MAX);
        }
}
END_TEST

START_TEST(a_kept_name_is_told_from_one_that_only_begins_alike)
{
        assert_written("{\"ab\":1,\"a\":2,\"abc\":3}", "{\"ab\":1,\"a\":2,\"abc\":3}");
        assert_written("{\"a\":2,\"abc\":3,\"ab\":1}", "{\"a\":2,\"abc\":3,\"ab\":1}");
}
END_TEST

START_TEST(one_name_twice_is_refused_also_beyond_the_names_that_are_kept)
{
        char text[4096] = "{";
        size_t used = 1;
        for (int i = 0; i < TREE_NAMES_MAX; i++)
                used += (size_t)snprintf(text + used, sizeof text - used, "\"n%d\":0,", i);
        size_t place = used;
        snprintf(text + used, sizeof text - used, "\"n%d\":0}", TREE_NAMES_MAX - 1);
        assert_refused(text, "DUPLICATE_MEMBER", (int)place);
        snprintf(text + used, sizeof text - used, "\"n0\":0}");
        assert_refused(text, "DUPLICATE_MEMBER", (int)place);
        snprintf(text + used, sizeof text - used, "\"x\":{\"n0\":0,\"n%d\":0}}",
                 TREE_NAMES_MAX - 1);
        assert_written(text, text);
        json_tree_close(&tree);
}
END_TEST

START_TEST(of_an_unread_member_only_what_has_members_or_items_is_kept)
{
        tree.unread = "b";
        assert_written("{\"a\":\"x\",\"b\":\"y\",\"c\":\"z\"}", "{\"a\":\"x\",\"c\":\"z\"}");
        assert_written("{\"b\":{\"a\":1,\"d\":{\"e\":\"\\n\"}},\"a\":{\"b\":2}}",
                       "{\"b\":{\"d\":{}},\"a\":{\"b\":2}}");
        assert_written("{\"b\":[1,1.5,\"x\",true],\"a\":[1]}",
                       "{\"b\":[null,null,null,true],\"a\":[1]}");
        tree.unread = NULL;
        assert_written("{\"b\":\"y\"}", "{\"b\":\"y\"}");
}
END_TEST

START_TEST(an_unread_member_is_refused_for_what_any_is_refused_for)
{
        char text[400], name[101];
        memset(name, 'n', sizeof name - 1);
        name[sizeof name - 1] = '\0';
        tree.unread = "b";
        assert_refused("{\"b\":1,\"b\":2}", "DUPLICATE_MEMBER", 7);
        assert_refused("{\"b\":{\"a\":1,\"a\":\"x\"}}", "DUPLICATE_MEMBER", 12);
        assert_refused("{\"b\":{\"a\":null,\"c\":2,\"a\":{}}}", "DUPLICATE_MEMBER", 21);
        assert_refused("{\"b\":[\"\\u0000\"]}", "NUL_IN_TEXT", 7);
        assert_refused("{\"b\":99999999999999999999}", "NUMBER_OUT_OF_RANGE", 5);
        snprintf(text, sizeof text, "{\"b\":{\"%s\":1,\"%s\":2}}", name, name);
        assert_refused(text, "DUPLICATE_MEMBER", 111);
        tree.unread = NULL;
}
END_TEST

START_TEST(two_trees_can_live_at_once)
{
        struct json_object *outer = build("{\"inner\":\"{}\",\"a\":1}");
        struct json_object *inner = build("{\"a\":2,\"c\":[\"\\n\"]}");
        ck_assert_int_eq(json_object_object_add(outer, "plain", inner), 0);
        ck_assert_str_eq(json_object_to_json_string_ext(outer, JSON_C_TO_STRING_PLAIN),
                         "{\"inner\":\"{}\",\"a\":1,\"plain\":{\"a\":2,\"c\":[\"\\n\"]}}");
        json_object_put(outer);
}
END_TEST

START_TEST(nothing_is_left_of_a_tree_that_was_refused)
{
        size_t before = 0;
        for (int i = 0; i < 300; i++) {
                assert_refused(
                        "{\"a\":{\"b\":[1,{\"c\":\"\\n\",\"a name that is longer than those that "
                        "are kept from tree to tree\":x}]}}",
                        "MALFORMED_JSON", 90);
                if (i == 100)
                        before = mallinfo2().uordblks;
        }
        /* 199 times the smallest leak is more. */
        ck_assert_uint_lt(mallinfo2().uordblks, before + 3000);
        json_tree_close(&tree);
}
END_TEST

UNIT_MAIN("json_tree", every_kind_of_value_stands_where_it_stood,
          a_number_with_a_fraction_stays_as_it_is_written,
          escapes_in_texts_and_names_are_what_they_stand_for,
          one_name_twice_is_refused_with_the_place_of_the_second,
          trees_with_more_names_than_are_kept_are_right_as_well,
          a_kept_name_is_told_from_one_that_only_begins_alike,
          one_name_twice_is_refused_also_beyond_the_names_that_are_kept,
          of_an_unread_member_only_what_has_members_or_items_is_kept,
          an_unread_member_is_refused_for_what_any_is_refused_for, two_trees_can_live_at_once,
          nothing_is_left_of_a_tree_that_was_refused)

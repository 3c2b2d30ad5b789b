#include "unit.h"

#include "base/limits.h"
#include "channel/json_body.h"

static struct json_body *body;

static void open_body(void)
{
        struct po_error error = { 0 };
        ck_assert_int_eq(json_body_open(&body, &error), PO_OK);
}

static struct json_object *parse(const char *text)
{
        struct json_object *root = NULL;
        struct po_error error = { 0 };
        enum po_class kind = json_body_parse(body, text, strlen(text), &root, &error);
        ck_assert_msg(kind == PO_OK, "%s: %s", text, error.text);
        return root;
}

static void assert_refused(const char *text, const char *reason)
{
        struct json_object *root = NULL;
        struct po_error error = { .reason = "none" };
        enum po_class kind = json_body_parse(body, text, strlen(text), &root, &error);
        ck_assert_msg(kind == PO_RECORD && strcmp(error.reason, reason) == 0, "%s: %s %s", text,
                      error.reason, error.text);
        ck_assert_ptr_null(root);
}

static void assert_member(struct json_object *root, const char *name, const char *expected)
{
        struct json_object *value = NULL;
        ck_assert(json_object_object_get_ex(root, name, &value));
        ck_assert_str_eq(json_object_get_string(value), expected);
}

START_TEST(a_body_becomes_a_tree_of_its_values)
{
        open_body();
        struct json_object *root =
                parse("\xEF\xBB\xBF {\"a\":\"\\u00e9\\ud83c\\udf5c\",\"n\":-9223372036854775808,"
                      "\"l\":[{\"x\":null}]} ");
        assert_member(root, "a", "é🍜");
        assert_member(root, "n", "-9223372036854775808");
        json_object_put(root);
        json_body_close(body);
}
END_TEST

START_TEST(the_parser_is_used_again_after_a_refusal)
{
        open_body();
        for (int i = 0; i < 3; i++) {
                assert_refused("{\"a\":[1,{\"b\":", "TRUNCATED_JSON");
                assert_refused("{\"a\":1,\"a\":2}", "DUPLICATE_MEMBER");
                struct json_object *root = parse("{\"a\":\"1\"}");
                assert_member(root, "a", "1");
                json_object_put(root);
        }
        json_body_close(body);
}
END_TEST

START_TEST(a_repeated_member_is_refused_wherever_it_stands)
{
        open_body();
        assert_refused("{\"a\":1,\"b\":2,\"a\":1}", "DUPLICATE_MEMBER");
        assert_refused("{\"a\":null,\"a\":null}", "DUPLICATE_MEMBER");
        assert_refused("{\"amount\":1,\"\\u0061mount\":1}", "DUPLICATE_MEMBER");
        assert_refused("[1,[{\"x\":{\"y\":1,\"y\":2}}]]", "DUPLICATE_MEMBER");
        assert_refused("{\"a\":{\"b\":1,\"c\":2},\"a\":{\"b\":1}}", "DUPLICATE_MEMBER");
        assert_refused("{\"\":1,\"\":2}", "DUPLICATE_MEMBER");
        json_body_close(body);
}
END_TEST

START_TEST(equal_names_in_different_objects_are_no_repetition)
{
        open_body();
        json_object_put(parse("{\"a\":{\"a\":{\"a\":1}},\"b\":[{\"a\":1},{\"a\":2}],\"A\":1}"));
        json_body_close(body);
}
END_TEST

START_TEST(a_scalar_is_no_body)
{
        open_body();
        assert_refused("12", "WRONG_TYPE");
        assert_refused("\"x\"", "WRONG_TYPE");
        assert_refused("null", "WRONG_TYPE");
        json_body_close(body);
}
END_TEST

START_TEST(whatever_the_scan_lets_through_json_c_takes)
{
        static const char *const odd[] = {
                "[-0,0,-0.0,0e0,1E5,1e+5,1e-5,1.25e300,1e999999]",
                "[\"\\/\\b\\f\",\"\x7F\",\"\xF4\x8F\xBF\xBF\",\"\\uFFFF\\ufffe\"]",
                "{\"\":\"\",\" \":[[],{}]}",
                "[\t1\r\n,\n2 ]",
                "[123456789012345678901234567890.5,0.1e-1000]",
        };
        open_body();
        for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++)
                json_object_put(parse(odd[i]));

        char deepest[2 * JSON_DEPTH_MAX + 2];
        memset(deepest, '[', JSON_DEPTH_MAX);
        deepest[JSON_DEPTH_MAX] = '1';
        memset(deepest + JSON_DEPTH_MAX + 1, ']', JSON_DEPTH_MAX);
        deepest[sizeof deepest - 1] = '\0';
        json_object_put(parse(deepest));
        json_body_close(body);
}
END_TEST

UNIT_MAIN("json_body", a_body_becomes_a_tree_of_its_values,
          the_parser_is_used_again_after_a_refusal, a_repeated_member_is_refused_wherever_it_stands,
          equal_names_in_different_objects_are_no_repetition, a_scalar_is_no_body,
          whatever_the_scan_lets_through_json_c_takes)

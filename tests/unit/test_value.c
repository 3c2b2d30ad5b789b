#include "unit.h"

#include <json-c/json_tokener.h>

#include "channel/value.h"

static struct json_object *root;

/* The value of JSON text, the last one made is kept. */
static struct json_object *value(const char *json)
{
        json_object_put(root);
        root = json_tokener_parse(json);
        ck_assert_ptr_nonnull(root);
        return root;
}

static void assert_refused(const char *json, const char *reason)
{
        struct value_text text;
        struct po_error error = { .reason = "none" };
        enum po_class kind = value_take(value(json), "txn", &text, &error);
        ck_assert_msg(kind == PO_RECORD && strcmp(error.reason, reason) == 0, "%s: %s", json,
                      error.reason);
        unit_assert_in(error.text, "txn");
}

static void assert_taken(const char *json, const char *expected)
{
        struct value_text text;
        struct po_error error = { 0 };
        ck_assert_int_eq(value_take(value(json), "txn", &text, &error), PO_OK);
        ck_assert_str_eq(text.bytes, expected);
        ck_assert_uint_eq(text.length, strlen(expected));
}

START_TEST(texts_integers_and_truth_values_are_text)
{
        assert_taken("\"a b\"", "a b");
        assert_taken("\"\"", "");
        assert_taken("0", "0");
        assert_taken("-9223372036854775808", "-9223372036854775808");
        assert_taken("9223372036854775807", "9223372036854775807");
        assert_taken("true", "true");
        assert_taken("false", "false");
        assert_taken("\"\xC2\xA0\xC3\xA9\"", "\xC2\xA0\xC3\xA9");
}
END_TEST

START_TEST(nothing_else_is_text)
{
        struct value_text text;
        assert_refused("1.5", "WRONG_TYPE");
        assert_refused("1e2", "WRONG_TYPE");
        assert_refused("{}", "WRONG_TYPE");
        assert_refused("[\"a\"]", "WRONG_TYPE");
        ck_assert(!value_text(NULL, &text));
}
END_TEST

START_TEST(a_number_with_a_fraction_can_be_compared_as_it_is_written)
{
        struct value_text text;
        ck_assert(value_written(value("30.00"), &text));
        ck_assert_str_eq(text.bytes, "30.00");
        ck_assert(value_written(value("1e2"), &text));
        ck_assert_str_eq(text.bytes, "1e2");
        ck_assert(value_written(value("7"), &text));
        ck_assert_str_eq(text.bytes, "7");
        ck_assert(!value_written(value("[]"), &text));
}
END_TEST

START_TEST(control_characters_are_refused)
{
        assert_refused("\"a\\n\"", "CONTROL_CHARACTER");
        assert_refused("\"\\u0001a\"", "CONTROL_CHARACTER");
        assert_refused("\"a\\u007f\"", "CONTROL_CHARACTER");
        assert_refused("\"a\\u0085b\"", "CONTROL_CHARACTER");
}
END_TEST

START_TEST(a_space_at_either_end_is_refused)
{
        assert_refused("\" a\"", "PADDED_TEXT");
        assert_refused("\"a \"", "PADDED_TEXT");
        assert_refused("\" \"", "PADDED_TEXT");
}
END_TEST

START_TEST(a_text_that_fills_the_buffer_is_copied_and_one_byte_more_is_refused)
{
        char buffer[4] = "";
        struct po_error error = { 0 };
        ck_assert_int_eq(value_copy(value("\"abc\""), "order_no", "ORDER_NO_TOO_LONG", buffer,
                                    sizeof buffer, &error),
                         PO_OK);
        ck_assert_str_eq(buffer, "abc");
        ck_assert_int_eq(value_copy(value("1234"), "order_no", "ORDER_NO_TOO_LONG", buffer,
                                    sizeof buffer, &error),
                         PO_RECORD);
        ck_assert_str_eq(error.reason, "ORDER_NO_TOO_LONG");
        ck_assert_str_eq(buffer, "abc");
}
END_TEST

UNIT_MAIN("value", texts_integers_and_truth_values_are_text, nothing_else_is_text,
          a_number_with_a_fraction_can_be_compared_as_it_is_written, control_characters_are_refused,
          a_space_at_either_end_is_refused,
          a_text_that_fills_the_buffer_is_copied_and_one_byte_more_is_refused)

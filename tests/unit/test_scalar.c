/* Single values: what their forms are, and what a complaint may show. */
#include "config/scalar.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static struct po_error error;

static struct document *parse(const char *text)
{
        struct document *document;
        enum po_class kind = document_parse(&document, "t", text, strlen(text), &error);
        ck_assert_msg(kind == PO_OK, "%s", error.text);
        return document;
}

static enum po_class read_value(const char *text, struct field field, void *target)
{
        struct document *document = parse(text);
        memset(&error, 0, sizeof error);
        enum po_class kind = scalar_read(document_root(document), &field, target, &error);
        document_close(document);
        return kind;
}

static void assert_integer(const char *text, int64_t min, int64_t max, int64_t expected)
{
        int64_t value = 4711;
        struct field field = { .kind = FIELD_INTEGER, .min = min, .max = max };
        ck_assert_msg(read_value(text, field, &value) == PO_OK, "%s", error.text);
        ck_assert_int_eq(value, expected);
}

static void assert_no_integer(const char *text, int64_t min, int64_t max)
{
        int64_t value = 4711;
        struct field field = { .kind = FIELD_INTEGER, .min = min, .max = max };
        ck_assert_msg(read_value(text, field, &value) == PO_SYSTEMIC, "%s was read", text);
        ck_assert_int_eq(value, 4711);
}

START_TEST(an_integer_is_read_to_the_ends_of_its_range)
{
        assert_integer("0", 0, 10, 0);
        assert_integer("-0", 0, 10, 0);
        assert_integer("10", 0, 10, 10);
        assert_integer("-5", -5, 10, -5);
        assert_integer("9223372036854775807", 0, INT64_MAX, INT64_MAX);
        assert_integer("-9223372036854775807", INT64_MIN, 0, -INT64_MAX);
        assert_no_integer("11", 0, 10);
        assert_no_integer("-6", -5, 10);
        assert_no_integer("-1", 0, 10);
}
END_TEST

START_TEST(only_decimal_digits_make_an_integer)
{
        static const char *const bad[] = { "1_000", "0x10", "010",  "+5",    "5.0",     "1e3",
                                           "--5",   "-",    "' 5'", "'5 '",  "5 5",     "five",
                                           "5s",    "００", "'5'",  "\"5\"", "\"\\t5\"" };
        for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
                assert_no_integer(bad[i], INT64_MIN, INT64_MAX);
}
END_TEST

START_TEST(an_integer_beyond_64_bits_is_refused)
{
        assert_no_integer("9223372036854775808", INT64_MIN, INT64_MAX);
        assert_no_integer("-9223372036854775809", INT64_MIN, INT64_MAX);
        assert_no_integer("99999999999999999999999999", INT64_MIN, INT64_MAX);
}
END_TEST

static void assert_duration(const char *text, int64_t min_ms, int64_t expected_ms)
{
        int64_t value_ms = 4711;
        struct field field = { .kind = FIELD_DURATION, .min = min_ms, .max = INT64_MAX };
        ck_assert_msg(read_value(text, field, &value_ms) == PO_OK, "%s", error.text);
        ck_assert_int_eq(value_ms, expected_ms);
}

static void assert_no_duration(const char *text, int64_t min_ms)
{
        int64_t value_ms = 4711;
        struct field field = { .kind = FIELD_DURATION, .min = min_ms, .max = INT64_MAX };
        ck_assert_msg(read_value(text, field, &value_ms) == PO_SYSTEMIC, "%s was read", text);
        ck_assert_int_eq(value_ms, 4711);
}

START_TEST(a_duration_has_one_of_five_units)
{
        assert_duration("250ms", 0, 250);
        assert_duration("5s", 0, 5000);
        assert_duration("30m", 0, 1800000);
        assert_duration("24h", 0, 86400000);
        assert_duration("7d", 0, 604800000);
        assert_duration("'5s'", 0, 5000);
}
END_TEST

START_TEST(a_duration_of_another_form_is_refused)
{
        static const char *const bad[] = { "5",    "5 s",   "5S", "s",  "-5s",
                                           "1.5s", "1h30m", "5w", "05s" };
        for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
                assert_no_duration(bad[i], 0);
}
END_TEST

START_TEST(zero_needs_no_unit_where_zero_is_allowed)
{
        assert_duration("0", 0, 0);
        assert_duration("0s", 0, 0);
        assert_no_duration("0", 1);
        assert_no_duration("0d", 1);
}
END_TEST

START_TEST(a_duration_that_overflows_is_refused)
{
        assert_no_duration("9223372036854775807d", 0);
        assert_no_duration("106751991168d", 0);
        assert_duration("106751991167d", 0, 106751991167 * 86400000);
}
END_TEST

START_TEST(only_true_and_false_are_boolean)
{
        static const char *const bad[] = { "yes", "no", "True", "FALSE",  "1",
                                           "0",   "on", "y",    "'true'", "\"false\"" };
        struct field field = { .kind = FIELD_BOOLEAN };
        bool value = false;
        ck_assert_int_eq(read_value("true", field, &value), PO_OK);
        ck_assert(value);
        ck_assert_int_eq(read_value("false", field, &value), PO_OK);
        ck_assert(!value);
        for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
                ck_assert_msg(read_value(bad[i], field, &value) == PO_SYSTEMIC, "%s", bad[i]);
}
END_TEST

START_TEST(a_word_fits_with_its_end_or_is_refused)
{
        char buffer[6] = "-----";
        struct field field = { .kind = FIELD_WORD, .size = 5 };
        ck_assert_int_eq(read_value("abcde", field, buffer), PO_SYSTEMIC);
        ck_assert_str_eq(error.text, "t:1:1: 5 bytes long; at most 4 are allowed");
        ck_assert_str_eq(buffer, "-----");
        ck_assert_int_eq(read_value("abcd", field, buffer), PO_OK);
        ck_assert_str_eq(buffer, "abcd");
        ck_assert_int_eq(read_value("ééé", field, buffer), PO_SYSTEMIC);
}
END_TEST

START_TEST(a_word_is_free_of_control_characters_and_outer_spaces)
{
        char buffer[16];
        struct field field = { .kind = FIELD_WORD, .size = sizeof buffer };
        ck_assert_int_eq(read_value("\"a\\nb\"", field, buffer), PO_SYSTEMIC);
        ck_assert_int_eq(read_value("\"a\\x7fb\"", field, buffer), PO_SYSTEMIC);
        ck_assert_int_eq(read_value("' ab'", field, buffer), PO_SYSTEMIC);
        ck_assert_int_eq(read_value("'ab '", field, buffer), PO_SYSTEMIC);
        ck_assert_int_eq(read_value("''", field, buffer), PO_SYSTEMIC);
        ck_assert_int_eq(read_value("a b", field, buffer), PO_OK);
}
END_TEST

START_TEST(a_number_or_a_boolean_is_a_text_where_a_text_is_asked_for)
{
        const char *text;
        struct document *document = parse("[5, true, 'null']");
        for (size_t i = 0; i < 3; i++)
                ck_assert_int_eq(schema_text(node_at(document_root(document), i), &text, &error),
                                 PO_OK);
        ck_assert_str_eq(text, "null");
        document_close(document);
}
END_TEST

START_TEST(an_empty_text_must_be_quoted)
{
        const char *text;
        struct document *document = parse("{ a: '', b: , c: null }");
        const struct node *root = document_root(document);
        ck_assert_int_eq(schema_text(node_at(root, 0), &text, &error), PO_OK);
        ck_assert_str_eq(text, "");
        ck_assert_int_eq(schema_text(node_at(root, 1), &text, &error), PO_SYSTEMIC);
        ck_assert_int_eq(schema_text(node_at(root, 2), &text, &error), PO_SYSTEMIC);
        document_close(document);
}
END_TEST

static void assert_text(const char *yaml, const char *expected)
{
        const char *text;
        struct document *document = parse(yaml);
        enum po_class kind = schema_text(document_root(document), &text, &error);
        ck_assert_msg(kind == PO_OK, "%s", error.text);
        ck_assert_str_eq(text, expected);
        document_close(document);
}

static void assert_no_text(const char *yaml, const char *complaint)
{
        const char *text;
        struct document *document = parse(yaml);
        ck_assert_int_eq(schema_text(document_root(document), &text, &error), PO_SYSTEMIC);
        ck_assert_str_eq(error.text, complaint);
        document_close(document);
}

START_TEST(variables_are_replaced_wherever_they_stand)
{
        setenv("POSTONCE_TEST_A", "one", 1);
        setenv("POSTONCE_TEST_2", "two", 1);
        assert_text("${env:POSTONCE_TEST_A}", "one");
        assert_text("x${env:POSTONCE_TEST_A}${env:POSTONCE_TEST_2}y", "xonetwoy");
        assert_text("${env:POSTONCE_TEST_A}-${env:POSTONCE_TEST_A}", "one-one");
        assert_text("\"${env:POSTONCE_TEST_2}\"", "two");
}
END_TEST

START_TEST(a_variable_may_be_empty)
{
        setenv("POSTONCE_TEST_A", "", 1);
        assert_text("${env:POSTONCE_TEST_A}", "");
        assert_text("a${env:POSTONCE_TEST_A}b", "ab");
}
END_TEST

START_TEST(a_variables_value_is_taken_as_it_is)
{
        setenv("POSTONCE_TEST_A", "${env:POSTONCE_TEST_A} # 'x': ~", 1);
        assert_text("${env:POSTONCE_TEST_A}", "${env:POSTONCE_TEST_A} # 'x': ~");
        setenv("POSTONCE_TEST_A", "null", 1);
        assert_text("${env:POSTONCE_TEST_A}", "null");
}
END_TEST

START_TEST(a_lone_dollar_or_brace_is_a_letter_like_any_other)
{
        assert_text("a$b", "a$b");
        assert_text("$", "$");
        assert_text("a{b}$", "a{b}$");
        assert_text("$$env", "$$env");
}
END_TEST

START_TEST(an_unset_variable_is_named)
{
        unsetenv("POSTONCE_TEST_UNSET");
        assert_no_text("x${env:POSTONCE_TEST_UNSET}",
                       "t:1:1: the environment has no variable POSTONCE_TEST_UNSET");
}
END_TEST

START_TEST(a_malformed_variable_is_refused)
{
        static const char *const other[] = { "${HOME}", "${file:/x}", "${",
                                             "a${}",    "$${x}",      "${ENV:A}" };
        for (size_t i = 0; i < sizeof other / sizeof other[0]; i++)
                assert_no_text(other[i], "t:1:1: \"${\" begins ${env:NAME} and nothing else");
        static const char *const name[] = { "${env:}", "${env:A", "${env:1A}", "${env:A B}",
                                            "${env:A-B}" };
        for (size_t i = 0; i < sizeof name / sizeof name[0]; i++)
                assert_no_text(name[i], "t:1:1: \"${env:\" wants a variable's name and \"}\"");
}
END_TEST

START_TEST(variables_that_blow_up_a_text_are_refused)
{
        size_t half_bytes = DOCUMENT_BYTES_MAX / 2;
        char *half = malloc(half_bytes + 1);
        memset(half, 'x', half_bytes);
        half[half_bytes] = '\0';
        setenv("POSTONCE_TEST_A", half, 1);
        free(half);
        const char *text;
        struct document *document = parse("[ \"${env:POSTONCE_TEST_A}${env:POSTONCE_TEST_A}\","
                                          "  \"${env:POSTONCE_TEST_A}x${env:POSTONCE_TEST_A}\" ]");
        const struct node *root = document_root(document);
        ck_assert_int_eq(schema_text(node_at(root, 0), &text, &error), PO_OK);
        ck_assert_uint_eq(strlen(text), DOCUMENT_BYTES_MAX);
        ck_assert_int_eq(schema_text(node_at(root, 1), &text, &error), PO_SYSTEMIC);
        ck_assert_str_eq(error.text, "t:1:52: longer than 1048576 bytes");
        document_close(document);
}
END_TEST

START_TEST(a_complaint_shows_the_variable_and_not_its_value)
{
        int64_t value;
        setenv("POSTONCE_TEST_A", "hunter2", 1);
        struct field field = { .name = "port", .kind = FIELD_INTEGER, .min = 1, .max = 9 };
        ck_assert_int_eq(read_value("${env:POSTONCE_TEST_A}", field, &value), PO_SYSTEMIC);
        ck_assert_str_eq(error.text,
                         "t:1:1: port: \"${env:POSTONCE_TEST_A}\" is no decimal integer "
                         "in range; allowed: 1 to 9");
}
END_TEST

START_TEST(a_complaint_about_a_secret_does_not_show_it)
{
        static const char *const words[] = { "a", "b", NULL };
        char buffer[4];
        struct field field = { .name = "pin", .kind = FIELD_WORD, .size = 4, .secret = true };
        ck_assert_int_eq(read_value("hunter2", field, buffer), PO_SYSTEMIC);
        ck_assert_ptr_null(strstr(error.text, "hunter2"));
        field.words = words;
        ck_assert_int_eq(read_value("hunter2", field, buffer), PO_SYSTEMIC);
        ck_assert_str_eq(error.text, "t:1:1: pin: the value is not known; known: a, b");
}
END_TEST

START_TEST(a_complaint_does_not_show_long_or_unprintable_values)
{
        int64_t value;
        struct field field = { .kind = FIELD_DURATION, .min = 0, .max = 1 };
        ck_assert_int_eq(read_value("\"a\\nb\"", field, &value), PO_SYSTEMIC);
        ck_assert_int_eq(strncmp(error.text, "t:1:1: the value is", 19), 0);
        ck_assert_int_eq(read_value("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", field, &value),
                         PO_SYSTEMIC);
        ck_assert_int_eq(strncmp(error.text, "t:1:1: the value is", 19), 0);
}
END_TEST

START_TEST(a_choice_gives_the_index_of_its_word)
{
        static const char *const words[] = { "minor", "decimal", NULL };
        size_t index = 9;
        struct document *document = parse("[decimal, Decimal]");
        const struct node *root = document_root(document);
        ck_assert_int_eq(schema_choice(node_at(root, 0), words, &index, &error), PO_OK);
        ck_assert_uint_eq(index, 1);
        ck_assert_int_eq(schema_choice(node_at(root, 1), words, &index, &error), PO_SYSTEMIC);
        ck_assert_str_eq(error.text, "t:1:11: \"Decimal\" is not known; did you mean \"decimal\"?");
        document_close(document);
}
END_TEST

START_TEST(the_plain_readers_check_as_fields_do)
{
        int64_t value;
        bool truth;
        char word[4];
        struct document *document = parse("[5, 5s, true, abc, abcd]");
        const struct node *root = document_root(document);
        ck_assert_int_eq(schema_integer(node_at(root, 0), 1, 5, &value, &error), PO_OK);
        ck_assert_int_eq(schema_integer(node_at(root, 0), 1, 4, &value, &error), PO_SYSTEMIC);
        ck_assert_str_eq(error.text, "t:1:2: \"5\" is out of range; allowed: 1 to 4");
        ck_assert_int_eq(schema_duration(node_at(root, 1), 0, 5000, &value, &error), PO_OK);
        ck_assert_int_eq(value, 5000);
        ck_assert_int_eq(schema_duration(node_at(root, 1), 0, 4999, &value, &error), PO_SYSTEMIC);
        ck_assert_str_eq(error.text, "t:1:5: \"5s\" is out of range; allowed: 0 to 4999ms");
        ck_assert_int_eq(schema_boolean(node_at(root, 2), &truth, &error), PO_OK);
        ck_assert(truth);
        ck_assert_int_eq(schema_word(node_at(root, 3), word, sizeof word, &error), PO_OK);
        ck_assert_str_eq(word, "abc");
        ck_assert_int_eq(schema_word(node_at(root, 4), word, sizeof word, &error), PO_SYSTEMIC);
        document_close(document);
}
END_TEST

static Suite *scalar_suite(void)
{
        Suite *suite = suite_create("scalar");
        TCase *forms = tcase_create("forms");
        tcase_add_test(forms, an_integer_is_read_to_the_ends_of_its_range);
        tcase_add_test(forms, only_decimal_digits_make_an_integer);
        tcase_add_test(forms, an_integer_beyond_64_bits_is_refused);
        tcase_add_test(forms, a_duration_has_one_of_five_units);
        tcase_add_test(forms, a_duration_of_another_form_is_refused);
        tcase_add_test(forms, zero_needs_no_unit_where_zero_is_allowed);
        tcase_add_test(forms, a_duration_that_overflows_is_refused);
        tcase_add_test(forms, only_true_and_false_are_boolean);
        tcase_add_test(forms, a_word_fits_with_its_end_or_is_refused);
        tcase_add_test(forms, a_word_is_free_of_control_characters_and_outer_spaces);
        tcase_add_test(forms, a_number_or_a_boolean_is_a_text_where_a_text_is_asked_for);
        tcase_add_test(forms, an_empty_text_must_be_quoted);
        tcase_add_test(forms, a_choice_gives_the_index_of_its_word);
        tcase_add_test(forms, the_plain_readers_check_as_fields_do);
        suite_add_tcase(suite, forms);

        TCase *variables = tcase_create("variables");
        tcase_add_test(variables, variables_are_replaced_wherever_they_stand);
        tcase_add_test(variables, a_variable_may_be_empty);
        tcase_add_test(variables, a_variables_value_is_taken_as_it_is);
        tcase_add_test(variables, a_lone_dollar_or_brace_is_a_letter_like_any_other);
        tcase_add_test(variables, an_unset_variable_is_named);
        tcase_add_test(variables, a_malformed_variable_is_refused);
        tcase_add_test(variables, variables_that_blow_up_a_text_are_refused);
        suite_add_tcase(suite, variables);

        TCase *complaints = tcase_create("complaints");
        tcase_add_test(complaints, a_complaint_shows_the_variable_and_not_its_value);
        tcase_add_test(complaints, a_complaint_about_a_secret_does_not_show_it);
        tcase_add_test(complaints, a_complaint_does_not_show_long_or_unprintable_values);
        suite_add_tcase(suite, complaints);
        return suite;
}

int main(void)
{
        SRunner *runner = srunner_create(scalar_suite());
        srunner_run_all(runner, CK_ENV);
        int failed = srunner_ntests_failed(runner);
        srunner_free(runner);
        return failed != 0;
}

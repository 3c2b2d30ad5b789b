#include "unit.h"

#include "channel/money.h"

static void assert_decimal(const char *text, int exponent, int64_t expected)
{
        struct po_error error = { 0 };
        int64_t minor = -1;
        enum po_class kind = money_parse_decimal(text, strlen(text), exponent, &minor, &error);
        ck_assert_msg(kind == PO_OK, "%s: %s", text, error.text);
        ck_assert_msg(minor == expected, "%s: %lld", text, (long long)minor);
}

static void assert_decimal_refused(const char *text, int exponent, const char *reason)
{
        struct po_error error = { .reason = "none" };
        int64_t minor = -1;
        enum po_class kind = money_parse_decimal(text, strlen(text), exponent, &minor, &error);
        ck_assert_msg(kind == PO_RECORD && strcmp(error.reason, reason) == 0, "\"%s\": %s", text,
                      error.reason);
        ck_assert_int_eq(minor, -1);
}

static void assert_minor_refused(const char *text, const char *reason)
{
        struct po_error error = { .reason = "none" };
        int64_t minor;
        enum po_class kind = money_parse_minor(text, strlen(text), &minor, &error);
        ck_assert_msg(kind == PO_RECORD && strcmp(error.reason, reason) == 0, "\"%s\": %s", text,
                      error.reason);
}

START_TEST(decimals_become_minor_units_digit_by_digit)
{
        assert_decimal("128.80", 2, 12880);
        assert_decimal("128.8", 2, 12880);
        assert_decimal("20", 2, 2000);
        assert_decimal("8.20", 2, 820);
        assert_decimal("0.01", 2, 1);
        assert_decimal("0.29", 2, 29);
        assert_decimal("1.005", 3, 1005);
        assert_decimal("12880", 0, 12880);
        assert_decimal("0007.50", 2, 750);
        assert_decimal("-3.5", 2, -350);
        assert_decimal("0", 2, 0);
}
END_TEST

START_TEST(zeros_below_the_minor_unit_do_no_harm)
{
        assert_decimal("0.77000", 2, 77);
        assert_decimal("5.000", 0, 5);
}
END_TEST

START_TEST(other_digits_below_the_minor_unit_are_refused)
{
        assert_decimal_refused("128.805", 2, "AMOUNT_TOO_PRECISE");
        assert_decimal_refused("0.0001", 3, "AMOUNT_TOO_PRECISE");
        assert_decimal_refused("5.5", 0, "AMOUNT_TOO_PRECISE");
}
END_TEST

START_TEST(the_largest_amount_is_taken_and_one_more_is_refused)
{
        assert_decimal("90071992547409.91", 2, MONEY_MINOR_MAX);
        assert_decimal("-90071992547409.91", 2, -MONEY_MINOR_MAX);
        assert_decimal_refused("90071992547409.92", 2, "AMOUNT_OUT_OF_RANGE");
        assert_decimal_refused("90071992547410", 2, "AMOUNT_OUT_OF_RANGE");
        assert_decimal_refused("9223372036854775807", 0, "AMOUNT_OUT_OF_RANGE");
        assert_decimal_refused("9223372036854775807", 2, "AMOUNT_OUT_OF_RANGE");
        assert_decimal_refused("18446744073709551617", 0, "AMOUNT_OUT_OF_RANGE");
        assert_decimal_refused("99999999999999999999999999", 2, "AMOUNT_OUT_OF_RANGE");
}
END_TEST

START_TEST(what_is_no_plain_decimal_is_refused)
{
        static const char *const wrong[] = { "",     "-",  ".",     "5.",  ".5",   "+5",
                                             " 5",   "5 ", "1,000", "1e3", "0x1",  "1.2.3",
                                             "1.-2", "¥5", "NaN",   "--5", "true", "1.2 " };
        for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
                assert_decimal_refused(wrong[i], 2, "AMOUNT_MALFORMED");
                assert_minor_refused(wrong[i], "AMOUNT_MALFORMED");
        }
}
END_TEST

START_TEST(only_the_length_given_is_read)
{
        struct po_error error = { 0 };
        int64_t minor;
        ck_assert_int_eq(money_parse_decimal("1.239", 4, 2, &minor, &error), PO_OK);
        ck_assert_int_eq(minor, 123);
}
END_TEST

START_TEST(whole_minor_units_are_taken_as_they_are)
{
        struct po_error error = { 0 };
        int64_t minor;
        ck_assert_int_eq(money_parse_minor("12880", 5, &minor, &error), PO_OK);
        ck_assert_int_eq(minor, 12880);
        ck_assert_int_eq(money_parse_minor("-1", 2, &minor, &error), PO_OK);
        ck_assert_int_eq(minor, -1);
}
END_TEST

START_TEST(minor_units_with_a_fraction_are_refused_even_if_it_is_zero)
{
        assert_minor_refused("88.88", "AMOUNT_NOT_INTEGER");
        assert_minor_refused("88.00", "AMOUNT_NOT_INTEGER");
}
END_TEST

START_TEST(an_amount_is_shifted_exactly_or_refused)
{
        struct po_error error = { .reason = "none" };
        int64_t minor;
        ck_assert_int_eq(money_shift(12880, 2, 2, &minor, &error), PO_OK);
        ck_assert_int_eq(minor, 12880);
        ck_assert_int_eq(money_shift(12880, 2, 3, &minor, &error), PO_OK);
        ck_assert_int_eq(minor, 128800);
        ck_assert_int_eq(money_shift(-12800, 2, 0, &minor, &error), PO_OK);
        ck_assert_int_eq(minor, -128);
        ck_assert_int_eq(money_shift(12880, 2, 0, &minor, &error), PO_RECORD);
        ck_assert_str_eq(error.reason, "AMOUNT_TOO_PRECISE");
        ck_assert_int_eq(money_shift(MONEY_MINOR_MAX, 0, 1, &minor, &error), PO_RECORD);
        ck_assert_str_eq(error.reason, "AMOUNT_OUT_OF_RANGE");
        ck_assert_int_eq(money_shift(-MONEY_MINOR_MAX, 0, 4, &minor, &error), PO_RECORD);
}
END_TEST

START_TEST(an_amount_is_printed_as_it_is_read)
{
        static const struct {
                int64_t minor;
                int exponent;
                const char *text;
        } cases[] = {
                { 12880, 2, "128.80" },
                { -5, 2, "-0.05" },
                { 0, 3, "0.000" },
                { 1, 3, "0.001" },
                { -500, 0, "-500" },
                { INT64_MAX, 2, "92233720368547758.07" },
                { INT64_MIN, 0, "-9223372036854775808" },
                { INT64_MIN, 4, "-922337203685477.5808" },
        };
        for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
                char text[MONEY_TEXT_BYTES];
                money_print(text, cases[i].minor, cases[i].exponent);
                ck_assert_str_eq(text, cases[i].text);
        }
}
END_TEST

UNIT_MAIN("money", an_amount_is_printed_as_it_is_read, an_amount_is_shifted_exactly_or_refused,
          decimals_become_minor_units_digit_by_digit, zeros_below_the_minor_unit_do_no_harm,
          other_digits_below_the_minor_unit_are_refused,
          the_largest_amount_is_taken_and_one_more_is_refused, what_is_no_plain_decimal_is_refused,
          only_the_length_given_is_read, whole_minor_units_are_taken_as_they_are,
          minor_units_with_a_fraction_are_refused_even_if_it_is_zero)

#include "unit.h"

#include <json-c/json_tokener.h>

#include "channel/fill.h"

static const struct moment_form seconds = { .format = MOMENT_SECONDS };
static const struct moment_form milliseconds = { .format = MOMENT_MILLISECONDS };
static struct po_notification notification;
static struct po_error error;

static struct json_object *value(const char *json)
{
        struct json_object *parsed = json_tokener_parse(json);
        ck_assert_ptr_nonnull(parsed);
        return parsed; /* leaks: the case ends with its process */
}

static const struct amount_form *form_of(enum amount_format format)
{
        static struct amount_form form;
        form = (struct amount_form){ .format = format,
                                     .kind = PO_AMOUNT_THIS,
                                     .exponent = AMOUNT_EXPONENT_ISO };
        return &form;
}

static void assert_amount(const char *currency, enum amount_format format, const char *json,
                          int64_t expected)
{
        memset(&notification, 0, sizeof notification);
        ck_assert_int_eq(fill_currency(&notification, currency, &error), PO_OK);
        enum po_class kind = fill_amount(&notification, form_of(format), value(json), NULL, &error);
        ck_assert_msg(kind == PO_OK, "%s: %s", json, error.text);
        ck_assert_int_eq(notification.amount_minor, expected);
        ck_assert_int_eq(notification.amount_kind, PO_AMOUNT_THIS);
}

static void assert_amount_refused(enum amount_format format, const char *json, const char *minus,
                                  const char *reason)
{
        memset(&notification, 0, sizeof notification);
        ck_assert_int_eq(fill_currency(&notification, "CNY", &error), PO_OK);
        enum po_class kind = fill_amount(&notification, form_of(format), value(json),
                                         minus != NULL ? value(minus) : NULL, &error);
        ck_assert_msg(kind == PO_RECORD && strcmp(error.reason, reason) == 0, "%s: %s", json,
                      error.reason);
        ck_assert_int_eq(notification.amount_kind, PO_AMOUNT_NONE);
}

START_TEST(parts_of_a_txn_are_encoded_and_joined)
{
        char txn[PO_TXN_BYTES] = "";
        ck_assert_int_eq(fill_txn_part(txn, value("\"a/b\""), "/sn", &error), PO_OK);
        ck_assert_int_eq(fill_txn_part(txn, value("17"), "/rf", &error), PO_OK);
        ck_assert_str_eq(txn, "a%2Fb/17");
}
END_TEST

START_TEST(a_part_that_is_not_there_is_refused)
{
        char txn[PO_TXN_BYTES] = "";
        ck_assert_int_eq(fill_txn_part(txn, NULL, "/sn", &error), PO_RECORD);
        ck_assert_str_eq(error.reason, "TXN_EMPTY");
        ck_assert_int_eq(fill_txn_part(txn, value("\"\""), "/sn", &error), PO_RECORD);
        ck_assert_str_eq(error.reason, "TXN_EMPTY");
}
END_TEST

START_TEST(parts_that_fill_the_txn_are_taken_and_one_byte_more_is_refused)
{
        char part[PO_TXN_BYTES + 2] = "\"";
        memset(part + 1, 'x', 189);
        memcpy(part + 190, "\"", 2);
        char txn[PO_TXN_BYTES] = "";
        ck_assert_int_eq(fill_txn_part(txn, value(part), "/sn", &error), PO_OK);
        ck_assert_int_eq(fill_txn_part(txn, value("1"), "/rf", &error), PO_OK);
        ck_assert_uint_eq(strlen(txn), 191);
        ck_assert_int_eq(fill_txn_part(txn, value("1"), "/rf", &error), PO_RECORD);
        ck_assert_str_eq(error.reason, "KEY_TOO_LONG");
}
END_TEST

START_TEST(order_and_refund_numbers_have_at_most_64_bytes)
{
        char number[70];
        snprintf(number, sizeof number, "\"%064d\"", 7);
        memset(&notification, 0, sizeof notification);
        ck_assert_int_eq(fill_order_no(&notification, value(number), "/o", &error), PO_OK);
        ck_assert_int_eq(fill_refund_no(&notification, value(number), "/r", &error), PO_OK);
        ck_assert_uint_eq(strlen(notification.order_no), 64);
        ck_assert_str_eq(notification.order_no, notification.refund_no);

        snprintf(number, sizeof number, "\"%065d\"", 7);
        ck_assert_int_eq(fill_order_no(&notification, value(number), "/o", &error), PO_RECORD);
        ck_assert_str_eq(error.reason, "ORDER_NO_TOO_LONG");
        ck_assert_int_eq(fill_refund_no(&notification, value(number), "/r", &error), PO_RECORD);
        ck_assert_str_eq(error.reason, "REFUND_NO_TOO_LONG");
}
END_TEST

START_TEST(numbers_and_times_that_are_not_there_stay_as_they_are)
{
        memset(&notification, 0, sizeof notification);
        notification.occurred_at_us = PO_TIME_UNKNOWN;
        ck_assert_int_eq(fill_order_no(&notification, NULL, NULL, &error), PO_OK);
        ck_assert_int_eq(fill_refund_no(&notification, NULL, NULL, &error), PO_OK);
        ck_assert_int_eq(fill_occurred_at(&notification, &seconds, NULL, &error), PO_OK);
        ck_assert_str_eq(notification.order_no, "");
        ck_assert_str_eq(notification.refund_no, "");
        ck_assert(notification.occurred_at_us == PO_TIME_UNKNOWN);
}
END_TEST

START_TEST(amounts_count_in_the_currencys_own_minor_unit)
{
        assert_amount("CNY", AMOUNT_DECIMAL, "\"128.80\"", 12880);
        assert_amount("CNY", AMOUNT_DECIMAL, "30", 3000);
        assert_amount("KWD", AMOUNT_DECIMAL, "\"1.005\"", 1005);
        assert_amount("JPY", AMOUNT_DECIMAL, "\"12880\"", 12880);
        assert_amount("CNY", AMOUNT_MINOR, "\"12880\"", 12880);
        assert_amount("JPY", AMOUNT_MINOR, "12880", 12880);
}
END_TEST

START_TEST(an_amount_is_exact_or_refused)
{
        assert_amount_refused(AMOUNT_DECIMAL, "8.20", NULL, "AMOUNT_NOT_EXACT");
        assert_amount_refused(AMOUNT_MINOR, "820.0", NULL, "AMOUNT_NOT_EXACT");
        assert_amount_refused(AMOUNT_MINOR, "1e3", NULL, "AMOUNT_NOT_EXACT");
        assert_amount_refused(AMOUNT_DECIMAL, "\"8.205\"", NULL, "AMOUNT_TOO_PRECISE");
        assert_amount_refused(AMOUNT_MINOR, "\"8.20\"", NULL, "AMOUNT_NOT_INTEGER");
        assert_amount_refused(AMOUNT_MINOR, "true", NULL, "AMOUNT_MALFORMED");
        assert_amount_refused(AMOUNT_MINOR, "[1]", NULL, "WRONG_TYPE");
        assert_amount_refused(AMOUNT_MINOR, "\"8\"", "1.0", "AMOUNT_NOT_EXACT");
}
END_TEST

START_TEST(an_amount_is_above_zero_or_refused)
{
        assert_amount_refused(AMOUNT_DECIMAL, "\"0.00\"", NULL, "AMOUNT_NOT_POSITIVE");
        assert_amount_refused(AMOUNT_MINOR, "-1", NULL, "AMOUNT_NOT_POSITIVE");
        assert_amount_refused(AMOUNT_MINOR, "\"100\"", "\"100\"", "AMOUNT_NOT_POSITIVE");
        assert_amount_refused(AMOUNT_MINOR, "\"100\"", "\"101\"", "AMOUNT_NOT_POSITIVE");
}
END_TEST

START_TEST(a_difference_of_amounts_is_taken_exactly)
{
        memset(&notification, 0, sizeof notification);
        ck_assert_int_eq(fill_currency(&notification, "CNY", &error), PO_OK);
        static const struct amount_form total = { AMOUNT_DECIMAL, PO_AMOUNT_CUMULATIVE, false,
                                                  AMOUNT_EXPONENT_ISO };
        ck_assert_int_eq(
                fill_amount(&notification, &total, value("\"128.80\""), value("\"98.8\""), &error),
                PO_OK);
        ck_assert_int_eq(notification.amount_minor, 3000);
        ck_assert_int_eq(notification.amount_kind, PO_AMOUNT_CUMULATIVE);
        assert_amount_refused(AMOUNT_MINOR, "9007199254740991", "-9007199254740991",
                              "AMOUNT_OUT_OF_RANGE");
}
END_TEST

/* The minor amount, or -1: refused, with the reason in error. */
static int64_t amount_in_form(const char *currency, const struct amount_form *form,
                              const char *json)
{
        memset(&notification, 0, sizeof notification);
        ck_assert_int_eq(fill_currency(&notification, currency, &error), PO_OK);
        enum po_class kind = fill_amount(&notification, form, value(json), NULL, &error);
        return kind == PO_OK ? notification.amount_minor : -1;
}

START_TEST(what_a_channel_counts_in_becomes_the_minor_unit_of_iso_4217)
{
        static const struct amount_form none = { AMOUNT_MINOR, PO_AMOUNT_THIS, false, 0 };
        static const struct amount_form cents = { AMOUNT_MINOR, PO_AMOUNT_THIS, false, 2 };
        static const struct amount_form decimal = { AMOUNT_DECIMAL, PO_AMOUNT_THIS, false, 2 };
        ck_assert_int_eq(amount_in_form("ISK", &cents, "12800"), 128);
        ck_assert_int_eq(amount_in_form("IDR", &none, "128"), 12800);
        ck_assert_int_eq(amount_in_form("EUR", &cents, "128"), 128);
        ck_assert_int_eq(amount_in_form("ISK", &decimal, "\"128.00\""), 128);
        ck_assert_int_eq(amount_in_form("ISK", &cents, "12850"), -1);
        ck_assert_str_eq(error.reason, "AMOUNT_TOO_PRECISE");
        ck_assert_int_eq(amount_in_form("IDR", &none, "9007199254740991"), -1);
        ck_assert_str_eq(error.reason, "AMOUNT_OUT_OF_RANGE");
}
END_TEST

START_TEST(an_amount_that_is_written_with_a_minus_counts_without)
{
        static const struct amount_form minus = { AMOUNT_MINOR, PO_AMOUNT_THIS, true,
                                                  AMOUNT_EXPONENT_ISO };
        ck_assert_int_eq(amount_in_form("CNY", &minus, "\"-3000\""), 3000);
        ck_assert_int_eq(amount_in_form("CNY", &minus, "3000"), -1);
        ck_assert_str_eq(error.reason, "AMOUNT_NOT_POSITIVE");
}
END_TEST

START_TEST(a_currency_that_iso_4217_lacks_is_refused)
{
        ck_assert_int_eq(fill_currency(&notification, "RMB", &error), PO_RECORD);
        ck_assert_str_eq(error.reason, "CURRENCY_UNKNOWN");
        ck_assert_int_eq(fill_currency(&notification, "cny", &error), PO_RECORD);
}
END_TEST

START_TEST(times_are_read_from_texts_and_integers)
{
        ck_assert_int_eq(
                fill_occurred_at(&notification, &milliseconds, value("\"1768365667231\""), &error),
                PO_OK);
        ck_assert_int_eq(notification.occurred_at_us, INT64_C(1768365667231000));
        ck_assert_int_eq(fill_occurred_at(&notification, &seconds, value("1768365667"), &error),
                         PO_OK);
        ck_assert_int_eq(notification.occurred_at_us, INT64_C(1768365667000000));
        ck_assert_int_eq(fill_occurred_at(&notification, &seconds, value("1.5"), &error),
                         PO_RECORD);
        ck_assert_str_eq(error.reason, "TIME_MALFORMED");
}
END_TEST

START_TEST(what_is_left_of_a_payment_may_be_nothing)
{
        static const struct amount_form net = { AMOUNT_MINOR, PO_AMOUNT_NET, false,
                                                AMOUNT_EXPONENT_ISO };
        static const struct amount_form total = { AMOUNT_MINOR, PO_AMOUNT_CUMULATIVE, false,
                                                  AMOUNT_EXPONENT_ISO };
        ck_assert_int_eq(amount_in_form("CNY", &net, "\"0\""), 0);
        ck_assert_int_eq(amount_in_form("CNY", &net, "-1"), -1);
        ck_assert_str_eq(error.reason, "AMOUNT_NOT_POSITIVE");
        ck_assert_int_eq(amount_in_form("CNY", &total, "0"), -1);
        ck_assert_str_eq(error.reason, "AMOUNT_NOT_POSITIVE");
}
END_TEST

START_TEST(a_json_number_counts_as_it_is_written_where_the_profile_says_so)
{
        static const struct amount_form number = { AMOUNT_NUMBER, PO_AMOUNT_THIS, false,
                                                   AMOUNT_EXPONENT_ISO };
        ck_assert_int_eq(amount_in_form("CNY", &number, "8.20"), 820);
        ck_assert_int_eq(amount_in_form("CNY", &number, "1.1"), 110);
        ck_assert_int_eq(amount_in_form("CNY", &number, "30"), 3000);
        ck_assert_int_eq(amount_in_form("CNY", &number, "\"8.20\""), 820);
        ck_assert_int_eq(amount_in_form("CNY", &number, "90071992547409.91"), 9007199254740991);
        ck_assert_int_eq(amount_in_form("CNY", &number, "8.205"), -1);
        ck_assert_str_eq(error.reason, "AMOUNT_TOO_PRECISE");
        ck_assert_int_eq(amount_in_form("CNY", &number, "1e2"), -1);
        ck_assert_str_eq(error.reason, "AMOUNT_MALFORMED");
}
END_TEST

static int64_t fee_of(const char *amount, const char *fee)
{
        static const struct amount_form minor = { AMOUNT_MINOR, PO_AMOUNT_THIS, false,
                                                  AMOUNT_EXPONENT_ISO };
        ck_assert_int_ge(amount_in_form("CNY", &minor, amount), 0);
        enum po_class kind =
                fill_fee(&notification, &minor, fee != NULL ? value(fee) : NULL, &error);
        return kind == PO_OK ? notification.fee_minor : -1;
}

START_TEST(a_fee_is_between_nothing_and_the_whole_amount)
{
        ck_assert_int_eq(fee_of("100", "0"), 0);
        ck_assert_int_eq(fee_of("100", "\"100\""), 100);
        ck_assert_int_eq(fee_of("100", NULL), 0);
        ck_assert_int_eq(fee_of("100", "101"), -1);
        ck_assert_str_eq(error.reason, "FEE_OUT_OF_RANGE");
        ck_assert_int_eq(fee_of("100", "-1"), -1);
        ck_assert_str_eq(error.reason, "FEE_OUT_OF_RANGE");
        ck_assert_int_eq(fee_of("100", "0.5"), -1);
        ck_assert_str_eq(error.reason, "AMOUNT_NOT_EXACT");
        unit_assert_in(error.text, "the fee: ");
}
END_TEST

UNIT_MAIN("fill", parts_of_a_txn_are_encoded_and_joined, a_part_that_is_not_there_is_refused,
          parts_that_fill_the_txn_are_taken_and_one_byte_more_is_refused,
          order_and_refund_numbers_have_at_most_64_bytes,
          numbers_and_times_that_are_not_there_stay_as_they_are,
          amounts_count_in_the_currencys_own_minor_unit, an_amount_is_exact_or_refused,
          an_amount_is_above_zero_or_refused, a_difference_of_amounts_is_taken_exactly,
          what_a_channel_counts_in_becomes_the_minor_unit_of_iso_4217,
          an_amount_that_is_written_with_a_minus_counts_without,
          a_currency_that_iso_4217_lacks_is_refused, times_are_read_from_texts_and_integers,
          what_is_left_of_a_payment_may_be_nothing,
          a_json_number_counts_as_it_is_written_where_the_profile_says_so,
          a_fee_is_between_nothing_and_the_whole_amount)

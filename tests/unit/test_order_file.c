/* Orders as a person writes them, and where each complaint points. */
#include "unit.h"

#include "commands/order_file.h"

static struct po_error error;
static struct order_file file;
static char path[32];

static enum po_class read_bytes(const char *bytes, size_t count)
{
        snprintf(path, sizeof path, "/tmp/postonce-orders-XXXXXX");
        int fd = mkstemp(path);
        ck_assert_int_ge(fd, 0);
        ck_assert_int_eq(write(fd, bytes, count), (ssize_t)count);
        close(fd);
        memset(&error, 0, sizeof error);
        order_file_free(&file);
        enum po_class kind = order_file_read(path, 7, "PENDING_PAY", &file, &error);
        unlink(path);
        return kind;
}

static const struct order *reads(const char *text)
{
        ck_assert_msg(read_bytes(text, strlen(text)) == PO_OK, "%s", error.text);
        return file.orders;
}

/* The complaint stands at that line of the file and starts so. */
static void refuses_bytes(const char *bytes, size_t count, int line, const char *reason,
                          const char *complaint)
{
        char expected[256];
        ck_assert_msg(read_bytes(bytes, count) == PO_RECORD, "accepted: %s", bytes);
        ck_assert_str_eq(error.reason, reason);
        snprintf(expected, sizeof expected, "%s:%d: %s", path, line, complaint);
        ck_assert_msg(strncmp(error.text, expected, strlen(expected)) == 0,
                      "\"%s\" does not start with \"%s\"", error.text, expected);
        ck_assert_uint_eq(file.count, 0);
        ck_assert_ptr_null(file.orders);
}

static void refuses(const char *text, int line, const char *reason, const char *complaint)
{
        refuses_bytes(text, strlen(text), line, reason, complaint);
}

#define HEADER "order_no,amount,currency\n"

static void is(const struct order *order, int64_t tenant_id, const char *order_no,
               int64_t amount_minor, const char *currency)
{
        ck_assert_int_eq(order->tenant_id, tenant_id);
        ck_assert_str_eq(order->order_no, order_no);
        ck_assert_int_eq(order->amount_minor, amount_minor);
        ck_assert_str_eq(order->currency, currency);
        ck_assert_str_eq(order->status, "PENDING_PAY");
        ck_assert_str_eq(order->paid_txn, "");
        ck_assert(!order->moved);
}

START_TEST(orders_are_read_sorted_by_id)
{
        const struct order *orders = reads(
                "order_no,amount,currency,tenant_id\nB,2,JPY,1\nA,128.80,CNY,\nC,0.01,CNY,1\n");
        ck_assert_uint_eq(file.count, 3);
        is(&orders[0], 1, "B", 2, "JPY");
        is(&orders[1], 1, "C", 1, "CNY");
        is(&orders[2], 7, "A", 12880, "CNY");
}
END_TEST

START_TEST(columns_stand_in_any_order)
{
        const struct order *orders = reads("currency,tenant_id,order_no,amount\nCNY,3,A,1.00\n");
        is(&orders[0], 3, "A", 100, "CNY");
}
END_TEST

START_TEST(a_byte_order_mark_carriage_returns_and_empty_lines_change_nothing)
{
        const struct order *orders =
                reads("\xEF\xBB\xBForder_no,amount,currency\r\nA,1.00,CNY\r\n\r\n\nB,2.00,CNY");
        ck_assert_uint_eq(file.count, 2);
        is(&orders[0], 7, "A", 100, "CNY");
        is(&orders[1], 7, "B", 200, "CNY");
        reads(HEADER);
        ck_assert_uint_eq(file.count, 0);
}
END_TEST

START_TEST(a_quoted_field_holds_commas_and_quotes)
{
        const struct order *orders =
                reads("\"order_no\",amount,\"currency\"\n\"A,1\",\"1.00\",CNY\n"
                      "\"say \"\"hi\"\"\",2.00,\"CNY\"\n");
        ck_assert_uint_eq(file.count, 2);
        is(&orders[0], 7, "A,1", 100, "CNY");
        is(&orders[1], 7, "say \"hi\"", 200, "CNY");
}
END_TEST

START_TEST(a_quote_in_the_wrong_place_is_refused)
{
        static const char complaint[] = "a quote does not end where its field ends";
        refuses("\"order_no,amount,currency\n", 1, "MALFORMED_CSV", complaint);
        refuses(HEADER "\"A,1.00,CNY\n", 2, "MALFORMED_CSV", complaint);
        refuses(HEADER "A,1.00,CNY\n\"B\"x,1.00,CNY\n", 3, "MALFORMED_CSV", complaint);
        refuses(HEADER "A,1.00,\"CNY\"\"\n", 2, "MALFORMED_CSV", complaint);
}
END_TEST

START_TEST(a_header_without_a_column_is_refused)
{
        refuses("order_no,amount\nA,1.00\n", 1, "MALFORMED_CSV",
                "the header has no column currency");
        refuses("amount,currency\n", 1, "MALFORMED_CSV", "the header has no column order_no");
        refuses("order_no,amount,currency,note\n", 1, "MALFORMED_CSV", "column 4 must be one of");
        refuses("order_no,amount,currency,amount\n", 1, "MALFORMED_CSV", "column 4 must be");
        refuses("Order_No,amount,currency\n", 1, "MALFORMED_CSV", "column 1 must be one of");
        refuses("\n" HEADER, 1, "MALFORMED_CSV", "column 1 must be one of");
        refuses("", 1, "MALFORMED_CSV", "the file is empty");
}
END_TEST

START_TEST(a_row_of_another_width_is_refused)
{
        refuses(HEADER "A,1.00\n", 2, "MALFORMED_CSV", "expected 3 fields");
        refuses(HEADER "A,1.00,CNY\n\nB,1.00,CNY,\n", 4, "MALFORMED_CSV", "expected 3 fields");
        refuses(HEADER "A,1.00,CNY,,,,,,,,,,,,,,,,,\n", 2, "MALFORMED_CSV", "expected 3 fields");
}
END_TEST

START_TEST(a_line_that_hides_another_is_refused)
{
        static const char with_nul[] = HEADER "A,1.00,CNY\0B\n";
        refuses(HEADER "A,1.00,CNY\rB,1.00,CNY\n", 2, "MALFORMED_CSV", "expected 3 fields");
        refuses("order_no,amount,currency\rA,1.00,CNY\r", 1, "MALFORMED_CSV", "column 3 must be");
        refuses_bytes(with_nul, sizeof with_nul - 1, 2, "CONTROL_CHARACTER", "the line has a NUL");
}
END_TEST

START_TEST(an_order_that_stands_there_twice_is_named_with_both_lines)
{
        refuses(HEADER "B,1.00,CNY\nA,1.00,CNY\n\nB,1.00,CNY\n", 5, "ORDER_TWICE",
                "order B of tenant 7 stands in line 2, too");
        refuses("order_no,amount,currency,tenant_id\nA,1.00,CNY,7\nA,2.00,CNY,\n", 3, "ORDER_TWICE",
                "order A of tenant 7 stands in line 2, too");
        reads("order_no,amount,currency,tenant_id\nA,1.00,CNY,1\nA,1.00,CNY,2\n");
        ck_assert_uint_eq(file.count, 2);
}
END_TEST

START_TEST(a_wrong_amount_is_refused)
{
        refuses(HEADER "A,1.005,CNY\n", 2, "AMOUNT_TOO_PRECISE", "amount: ");
        refuses(HEADER "A,1.5,JPY\n", 2, "AMOUNT_TOO_PRECISE", "amount: ");
        refuses(HEADER "A,1.00,CNY\nB,\"1,000.00\",CNY\n", 3, "AMOUNT_MALFORMED", "amount: ");
        refuses(HEADER "A,,CNY\n", 2, "AMOUNT_MALFORMED", "amount: ");
        refuses(HEADER "A,1e3,CNY\n", 2, "AMOUNT_MALFORMED", "amount: ");
        refuses(HEADER "A,99999999999999999999,CNY\n", 2, "AMOUNT_OUT_OF_RANGE", "amount: ");
        refuses(HEADER "A,0.00,CNY\n", 2, "AMOUNT_NOT_POSITIVE", "amount must be above zero");
        refuses(HEADER "A,-1.00,CNY\n", 2, "AMOUNT_NOT_POSITIVE", "amount must be above zero");
}
END_TEST

START_TEST(a_wrong_currency_is_refused)
{
        refuses(HEADER "A,1.00,cny\n", 2, "CURRENCY_UNKNOWN", "currency must be an ISO 4217");
        refuses(HEADER "A,1.00,\n", 2, "CURRENCY_UNKNOWN", "currency must be");
        refuses(HEADER "A,1.00, CNY\n", 2, "CURRENCY_UNKNOWN", "currency must be");
}
END_TEST

START_TEST(a_wrong_order_number_is_refused)
{
        char text[128];
        refuses(HEADER ",1.00,CNY\n", 2, "ORDER_NO_TOO_LONG", "order_no must have 1…64 bytes");
        refuses(HEADER " A,1.00,CNY\n", 2, "PADDED_TEXT", "order_no has a space at an end");
        refuses(HEADER "\"A \",1.00,CNY\n", 2, "PADDED_TEXT", "order_no has a space at an end");
        refuses(HEADER "A\tB,1.00,CNY\n", 2, "CONTROL_CHARACTER", "order_no has a control");
        refuses(HEADER "A\x7f,1.00,CNY\n", 2, "CONTROL_CHARACTER", "order_no has a control");
        snprintf(text, sizeof text, HEADER "%065d,1.00,CNY\n", 1);
        refuses(text, 2, "ORDER_NO_TOO_LONG", "order_no must have 1…64 bytes");
        snprintf(text, sizeof text, HEADER "%064d,1.00,CNY\n", 1);
        ck_assert_uint_eq(strlen(reads(text)->order_no), 64);
}
END_TEST

START_TEST(a_wrong_tenant_is_refused)
{
#define WITH_TENANT "order_no,amount,currency,tenant_id\nA,1.00,CNY,"
        refuses(WITH_TENANT "0\n", 2, "WRONG_TYPE", "tenant_id must be 1 or more");
        refuses(WITH_TENANT "-1\n", 2, "WRONG_TYPE", "tenant_id must be a whole number");
        refuses(WITH_TENANT "1.5\n", 2, "WRONG_TYPE", "tenant_id must be a whole number");
        refuses(WITH_TENANT "9223372036854775807\n", 2, "WRONG_TYPE", "tenant_id must be a whole");
}
END_TEST

START_TEST(a_long_file_is_read_whole)
{
        enum { ORDERS = 3000 };
        char *text = malloc(ORDERS * 32), *at = text;
        at += snprintf(at, 32, HEADER);
        for (int i = ORDERS; i > 0; i--)
                at += snprintf(at, 32, "N%06d,%d.00,CNY\n", i, i);
        reads(text);
        free(text);
        ck_assert_uint_eq(file.count, ORDERS);
        for (size_t i = 0; i < ORDERS; i++)
                ck_assert_int_eq(file.orders[i].amount_minor, 100 * (int64_t)(i + 1));
}
END_TEST

START_TEST(a_file_that_cannot_be_read_is_no_empty_one)
{
        ck_assert_int_eq(order_file_read("/nonexistent.csv", 1, "X", &file, &error), PO_SYSTEMIC);
        unit_assert_in(error.text, "/nonexistent.csv: ");
        ck_assert_int_eq(order_file_read("/", 1, "X", &file, &error), PO_SYSTEMIC);
        unit_assert_in(error.text, "/: ");
}
END_TEST

START_TEST(one_order_is_parsed_like_a_files)
{
        struct order order;
        const struct order_text text = { "R8-1", "128.80", "CNY", NULL };
        ck_assert_int_eq(order_parse(&text, 7, "PENDING_PAY", &order, &error), PO_OK);
        is(&order, 7, "R8-1", 12880, "CNY");
        const struct order_text wrong = { "R8-1", "128.8x", "CNY", NULL };
        ck_assert_int_eq(order_parse(&wrong, 7, "PENDING_PAY", &order, &error), PO_RECORD);
        ck_assert_str_eq(error.reason, "AMOUNT_MALFORMED");
}
END_TEST

UNIT_MAIN("order_file", orders_are_read_sorted_by_id, columns_stand_in_any_order,
          a_byte_order_mark_carriage_returns_and_empty_lines_change_nothing,
          a_quoted_field_holds_commas_and_quotes, a_quote_in_the_wrong_place_is_refused,
          a_header_without_a_column_is_refused, a_row_of_another_width_is_refused,
          a_line_that_hides_another_is_refused,
          an_order_that_stands_there_twice_is_named_with_both_lines, a_wrong_amount_is_refused,
          a_wrong_currency_is_refused, a_wrong_order_number_is_refused, a_wrong_tenant_is_refused,
          a_long_file_is_read_whole, a_file_that_cannot_be_read_is_no_empty_one,
          one_order_is_parsed_like_a_files)

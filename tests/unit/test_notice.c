/* A notification as it is kept in `parked`: whatever is written is read back, nothing else is. */
#include "unit.h"

#include "base/log.h"
#include "ledger/notice.h"
#include "postonce/key.h"

static struct po_error error;
static struct po_notification sealed, read_back;
static char text[NOTICE_BYTES];

static struct po_notification *payment(void)
{
        sealed = (struct po_notification){ .tenant_id = 1,
                                           .channel = "SQB",
                                           .txn = "7895010041237719",
                                           .event = "PAYMENT_RECEIVED",
                                           .order_no = "R8-1",
                                           .amount_kind = PO_AMOUNT_THIS,
                                           .fee_minor = 77,
                                           .amount_minor = 12880,
                                           .currency = "CNY",
                                           .occurred_at_us = PO_TIME_UNKNOWN };
        return &sealed;
}

/* Written and read, every member is as it was, key and fingerprint too. */
static void comes_back(void)
{
        ck_assert_msg(po_key_seal(&sealed, &error) == PO_OK, "%s", error.text);
        notice_write(&sealed, text, sizeof text);
        memset(&read_back, 0x5a, sizeof read_back);
        ck_assert_msg(notice_read(text, &read_back, &error) == PO_OK, "%s: %s", error.text, text);
        ck_assert_int_eq(read_back.tenant_id, sealed.tenant_id);
        ck_assert_str_eq(read_back.channel, sealed.channel);
        ck_assert_str_eq(read_back.txn, sealed.txn);
        ck_assert_str_eq(read_back.event, sealed.event);
        ck_assert_str_eq(read_back.order_no, sealed.order_no);
        ck_assert_str_eq(read_back.parent, sealed.parent);
        ck_assert_str_eq(read_back.refund_no, sealed.refund_no);
        ck_assert_int_eq(read_back.amount_kind, sealed.amount_kind);
        ck_assert_int_eq(read_back.fee_minor, sealed.fee_minor);
        ck_assert_int_eq(read_back.amount_minor, sealed.amount_minor);
        ck_assert_str_eq(read_back.currency, sealed.currency);
        ck_assert_int_eq(read_back.occurred_at_us, sealed.occurred_at_us);
        ck_assert_str_eq(read_back.key, sealed.key);
        ck_assert_mem_eq(read_back.fingerprint, sealed.fingerprint, PO_FINGERPRINT_BYTES);
        ck_assert_int_eq(read_back.fingerprint_version, sealed.fingerprint_version);
}

START_TEST(every_member_comes_back)
{
        payment();
        comes_back();
        for (int kind = PO_AMOUNT_NONE; kind <= PO_AMOUNT_NET; kind++) {
                payment()->amount_kind = (enum po_amount_kind)kind;
                snprintf(sealed.event, sizeof sealed.event, "REFUND_SUCCEEDED");
                snprintf(sealed.txn, sizeof sealed.txn, "T1/RF%%2F1");
                snprintf(sealed.parent, sizeof sealed.parent, "T1");
                snprintf(sealed.refund_no, sizeof sealed.refund_no, "RF/1");
                sealed.occurred_at_us = INT64_C(1753862400123456);
                comes_back();
        }
}
END_TEST

START_TEST(a_raw_fingerprint_comes_back_as_it_was)
{
        payment();
        ck_assert_int_eq(po_key_seal(&sealed, &error), PO_OK);
        for (size_t i = 0; i < PO_FINGERPRINT_BYTES; i++)
                sealed.fingerprint[i] = (unsigned char)(i * 37 + 5);
        sealed.fingerprint_version = PO_FINGERPRINT_RAW;
        notice_write(&sealed, text, sizeof text);
        ck_assert_msg(notice_read(text, &read_back, &error) == PO_OK, "%s", error.text);
        ck_assert_mem_eq(read_back.fingerprint, sealed.fingerprint, PO_FINGERPRINT_BYTES);
        ck_assert_int_eq(read_back.fingerprint_version, PO_FINGERPRINT_RAW);
        ck_assert_str_eq(read_back.key, sealed.key);
}
END_TEST

START_TEST(numbers_come_back_to_their_last_digit)
{
        static const int64_t numbers[] = {
                INT64_MIN, INT64_MIN + 1, -1, 0, INT64_C(9007199254740993), /* no double holds it */
                INT64_MAX
        };
        for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
                payment()->tenant_id = numbers[i];
                sealed.amount_minor = numbers[i];
                sealed.occurred_at_us = numbers[i];
                comes_back();
        }
}
END_TEST

START_TEST(text_that_needs_escapes_comes_back)
{
        static const char *const texts[] = {
                "", "\"", "\\", "\\\"\\u0041", "a\x7f/b", "订单-1", "\xf0\x9f\x92\xb0", "{}[],:'"
        };
        for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
                snprintf(payment()->order_no, sizeof sealed.order_no, "%s", texts[i]);
                snprintf(sealed.refund_no, sizeof sealed.refund_no, "%s", texts[i]);
                comes_back();
        }
}
END_TEST

static void fill(char *member, size_t capacity, char byte)
{
        memset(member, byte, capacity - 1);
        member[capacity - 1] = '\0';
}

START_TEST(the_longest_notification_fits)
{
        payment();
        fill(sealed.txn, 100, 'T');
        fill(sealed.parent, sizeof sealed.parent, 'P');
        fill(sealed.order_no, sizeof sealed.order_no, '"');
        fill(sealed.refund_no, sizeof sealed.refund_no, '\\');
        comes_back();
        /* Even if every byte of every member were escaped at its longest, there is room. */
        fill(sealed.channel, sizeof sealed.channel, '\1');
        fill(sealed.txn, sizeof sealed.txn, '\1');
        fill(sealed.event, sizeof sealed.event, '\1');
        fill(sealed.order_no, sizeof sealed.order_no, '\1');
        fill(sealed.parent, sizeof sealed.parent, '\1');
        fill(sealed.refund_no, sizeof sealed.refund_no, '\1');
        fill(sealed.currency, sizeof sealed.currency, '\1');
        sealed.amount_kind = PO_AMOUNT_CUMULATIVE;
        sealed.tenant_id = sealed.amount_minor = sealed.occurred_at_us = INT64_MIN + 1;
        notice_write(&sealed, text, sizeof text);
        ck_assert_uint_lt(strlen(text), sizeof text - 1);
}
END_TEST

#define MEMBERS                                                                                    \
        "\"tenant_id\":1,\"channel\":\"SQB\",\"txn\":\"T1\",\"event\":\"PAYMENT_RECEIVED\","       \
        "\"order_no\":\"A\",\"parent\":\"\",\"refund_no\":\"\","

#define RAW(value)                                                                                 \
        "{" MEMBERS "\"amount_kind\":\"this\",\"amount_minor\":1,\"currency\":\"CNY\","            \
        "\"raw_fingerprint\":" value "}"
#define HALF "0123456789abcdef0123456789abcdef"

START_TEST(what_is_no_notice_is_a_bug_and_never_half_a_notification)
{
        static const char *const broken[] = {
                "",
                "nonsense",
                "null",
                "[]",
                "\"text\"",
                "{}",
                "{" MEMBERS "\"amount_kind\":\"this\",\"amount_minor\":1}", /* no currency */
                "{" MEMBERS "\"amount_kind\":\"much\",\"amount_minor\":1,\"currency\":\"CNY\"}",
                "{" MEMBERS "\"amount_kind\":1,\"amount_minor\":1,\"currency\":\"CNY\"}",
                "{" MEMBERS "\"amount_kind\":\"this\",\"amount_minor\":\"1\",\"currency\":\"CNY\"}",
                "{" MEMBERS "\"amount_kind\":\"this\",\"amount_minor\":1.5,\"currency\":\"CNY\"}",
                "{" MEMBERS "\"amount_kind\":\"this\",\"amount_minor\":null,\"currency\":\"CNY\"}",
                "{" MEMBERS "\"amount_kind\":\"this\",\"amount_minor\":1,\"currency\":\"CNYX\"}",
                "{" MEMBERS "\"amount_kind\":\"this\",\"amount_minor\":1,\"currency\":7}",
                RAW("7"),
                RAW("\"\""),
                RAW("\"ab\""),
                RAW("\"" HALF HALF "0\""),
                RAW("\"" HALF "0123456789ABCDEF0123456789abcdef\""),
                RAW("\"" HALF "0123456789abcdef0123456789abcdeg\""),
        };
        for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++) {
                ck_assert_msg(notice_read(broken[i], &read_back, &error) == PO_BUG, "%s",
                              broken[i]);
                unit_assert_not_in(error.text, "SQB"); /* nothing of what it says */
        }
}
END_TEST

START_TEST(a_notice_whose_key_cannot_be_made_is_refused)
{
        payment();
        sealed.txn[0] = '\0';
        notice_write(&sealed, text, sizeof text);
        ck_assert_int_ne(notice_read(text, &read_back, &error), PO_OK);
}
END_TEST

START_TEST(a_member_that_a_newer_program_added_is_passed_over)
{
        ck_assert_int_eq(notice_read("{" MEMBERS "\"amount_kind\":\"this\",\"amount_minor\":1,"
                                     "\"currency\":\"CNY\",\"mood\":[\"good\"]}",
                                     &read_back, &error),
                         PO_OK);
        ck_assert_str_eq(read_back.key, "SQB:T1:PAYMENT_RECEIVED");
        ck_assert_int_eq(read_back.occurred_at_us, PO_TIME_UNKNOWN);
}
END_TEST

UNIT_MAIN("notice", every_member_comes_back, a_raw_fingerprint_comes_back_as_it_was,
          numbers_come_back_to_their_last_digit, text_that_needs_escapes_comes_back,
          the_longest_notification_fits, what_is_no_notice_is_a_bug_and_never_half_a_notification,
          a_notice_whose_key_cannot_be_made_is_refused,
          a_member_that_a_newer_program_added_is_passed_over)

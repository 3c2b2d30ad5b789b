/* Rows of an older idempotency table, and what a row is refused for. */
#include "unit.h"

#include "commands/claim_file.h"

static struct po_error error;
static struct csv *csv;
static struct imported_claim row;
static struct claim_defaults defaults = { .tenant_id = 7 };

static enum po_class opens(const char *text)
{
        char path[] = "/tmp/postonce-claims-XXXXXX";
        int fd = mkstemp(path);
        ck_assert_int_ge(fd, 0);
        ck_assert_int_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
        close(fd);
        csv_close(csv);
        enum po_class kind = claim_file_open(&csv, path, &defaults, &error);
        unlink(path);
        return kind;
}

static enum po_class reads(const char *text)
{
        bool there;
        ck_assert_msg(opens(text) == PO_OK, "%s", error.text);
        ck_assert_int_eq(csv_next(csv, &there, &error), PO_OK);
        ck_assert(there);
        return claim_file_row(csv, &defaults, &row, &error);
}

static void refuses(const char *text, const char *complaint)
{
        ck_assert_msg(reads(text) == PO_RECORD, "accepted: %s", text);
        unit_assert_in(error.text, ":2: ");
        unit_assert_in(error.text, complaint);
}

START_TEST(a_key_is_taken_apart)
{
        ck_assert_int_eq(reads("key\nSQB:sn%20/r:REFUND_SUCCEEDED\n"), PO_OK);
        ck_assert_str_eq(row.notification.channel, "SQB");
        ck_assert_str_eq(row.notification.txn, "sn%20/r");
        ck_assert_str_eq(row.notification.event, "REFUND_SUCCEEDED");
        ck_assert_str_eq(row.notification.key, "SQB:sn%20/r:REFUND_SUCCEEDED");
        ck_assert_int_eq(row.notification.tenant_id, 7);
        ck_assert_int_eq(row.notification.amount_kind, PO_AMOUNT_NONE);
        ck_assert_int_eq(row.created_at_us, PO_TIME_UNKNOWN);
        ck_assert(!row.has_fingerprint);
        ck_assert_int_eq(row.line, 2);
}
END_TEST

START_TEST(a_key_is_put_together_and_the_channel_may_be_said_once)
{
        defaults.channel = "WECHAT";
        ck_assert_int_eq(reads("txn,event,order_no,amount,currency,tenant_id,created_at\n"
                               "T1,X,单1,12.80,CNY,3,2026-01-14T08:00:00+08:00\n"),
                         PO_OK);
        ck_assert_str_eq(row.notification.key, "WECHAT:T1:X");
        ck_assert_str_eq(row.notification.order_no, "单1");
        ck_assert_int_eq(row.notification.amount_minor, 1280);
        ck_assert_int_eq(row.notification.amount_kind, PO_AMOUNT_THIS);
        ck_assert_int_eq(row.notification.tenant_id, 3);
        ck_assert_int_eq(row.created_at_us, INT64_C(1768348800000000));
        ck_assert_int_eq(reads("channel,txn,event\nSQB,T1,X\n"), PO_OK);
        ck_assert_str_eq(row.notification.key, "SQB:T1:X");
        ck_assert_int_eq(reads("channel,txn,event\n,T1,X\n"), PO_OK);
        ck_assert_str_eq(row.notification.key, "WECHAT:T1:X");
}
END_TEST

START_TEST(a_fingerprint_is_64_digits_or_none)
{
#define DIGITS "0123456789abcdefABCDEF0123456789abcdef0123456789abcdef0123456789"
        ck_assert_int_eq(reads("key,fingerprint\nSQB:T:X," DIGITS "\n"), PO_OK);
        ck_assert(row.has_fingerprint);
        ck_assert_uint_eq(row.notification.fingerprint[1], 0x23);
        ck_assert_uint_eq(row.notification.fingerprint[8], 0xab);
        ck_assert_int_eq(reads("key,fingerprint\nSQB:T:X,\n"), PO_OK);
        ck_assert(!row.has_fingerprint);
        refuses("key,fingerprint\nSQB:T:X,ab\n", "64 hexadecimal digits");
        refuses("key,fingerprint\nSQB:T:X,g123456789abcdefABCDEF0123456789abcdef0123456789abcdef"
                "0123456789\n",
                "64 hexadecimal digits");
}
END_TEST

START_TEST(a_header_without_a_way_to_the_key_is_refused)
{
        defaults.channel = NULL;
        const char *wrong[] = { "order_no\n", "txn,event\n", "channel,txn\n", "key,txn\n",
                                "key,channel\n" };
        for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
                ck_assert_msg(opens(wrong[i]) == PO_RECORD, "accepted: %s", wrong[i]);
                unit_assert_in(error.text, ":1: ");
                ck_assert_ptr_null(csv);
        }
}
END_TEST

START_TEST(a_wrong_row_is_refused_with_its_line)
{
        refuses("key\nSQB:T1\n", "channel:txn:event");
        refuses("key\nsqb:T1:X\n", "channel holds more");
        refuses("key\nSQB::X\n", "txn is empty");
        refuses("key\nSQB:a b:X\n", "not percent-encoded");
        refuses("key\nSQB:a:b:X\n", "not percent-encoded");
        refuses("key\nABCDEFGHIJKLMNOPQRSTUVWXYZABCDEFG:T:X\n", "more than 32 bytes");
        refuses("key,amount,currency\nSQB:T:X,1.001,CNY\n", "amount: ");
        refuses("key,amount,currency\nSQB:T:X,0,CNY\n", "above zero");
        refuses("key,amount\nSQB:T:X,1\n", "currency must be");
        refuses("key,tenant_id\nSQB:T:X,0\n", "tenant_id");
        refuses("key,order_no\nSQB:T:X, A\n", "order_no");
        refuses("key,created_at\nSQB:T:X,yesterday\n", "created_at: ");
}
END_TEST

UNIT_MAIN("claim_file", a_key_is_taken_apart,
          a_key_is_put_together_and_the_channel_may_be_said_once,
          a_fingerprint_is_64_digits_or_none, a_header_without_a_way_to_the_key_is_refused,
          a_wrong_row_is_refused_with_its_line)

#include "unit.h"

#include "postonce/key.h"

static struct po_notification payment(void)
{
        struct po_notification notification = { .channel = "SQB",
                                                .txn = "7895010041237719",
                                                .event = "PAYMENT_RECEIVED" };
        return notification;
}

static void assert_encodes(const char *text, size_t length, const char *expected)
{
        char buffer[64] = "";
        struct po_error error = { 0 };
        ck_assert_int_eq(po_key_encode(buffer, sizeof buffer, text, length, &error), PO_OK);
        ck_assert_str_eq(buffer, expected);
}

static void assert_refused(struct po_notification notification, const char *reason)
{
        struct po_error error = { 0 };
        ck_assert_int_eq(po_key_seal(&notification, &error), PO_RECORD);
        ck_assert_str_eq(error.reason, reason);
}

START_TEST(unreserved_bytes_stand_as_they_are)
{
        assert_encodes("AZaz09._~-", 10, "AZaz09._~-");
        assert_encodes("", 0, "");
}
END_TEST

START_TEST(every_other_byte_is_percent_encoded_in_upper_case)
{
        assert_encodes("a:b/c d", 7, "a%3Ab%2Fc%20d");
        assert_encodes("%+*@", 4, "%25%2B%2A%40");
        assert_encodes("\xC3\xA9\x7F\x01\xFF", 5, "%C3%A9%7F%01%FF");
        assert_encodes("a\0b", 3, "a%00b");
}
END_TEST

START_TEST(encoding_appends_to_what_is_there)
{
        char buffer[16] = "sn/";
        struct po_error error = { 0 };
        ck_assert_int_eq(po_key_encode(buffer, sizeof buffer, "R:1", 3, &error), PO_OK);
        ck_assert_str_eq(buffer, "sn/R%3A1");
}
END_TEST

START_TEST(a_part_that_does_not_fit_is_refused_and_leaves_the_buffer)
{
        char buffer[8] = "sn/";
        struct po_error error = { 0 };
        ck_assert_int_eq(po_key_encode(buffer, sizeof buffer, "abcd", 4, &error), PO_OK);
        ck_assert_str_eq(buffer, "sn/abcd");
        ck_assert_int_eq(po_key_encode(buffer, sizeof buffer, "e", 1, &error), PO_RECORD);
        ck_assert_str_eq(error.reason, "KEY_TOO_LONG");
        ck_assert_str_eq(buffer, "sn/abcd");

        char other[8] = "sn/";
        ck_assert_int_eq(po_key_encode(other, sizeof other, "ab:", 3, &error), PO_RECORD);
        ck_assert_str_eq(other, "sn/");
}
END_TEST

START_TEST(a_key_is_channel_txn_and_event)
{
        struct po_notification notification = payment();
        struct po_error error = { 0 };
        ck_assert_int_eq(po_key_seal(&notification, &error), PO_OK);
        ck_assert_str_eq(notification.key, "SQB:7895010041237719:PAYMENT_RECEIVED");

        snprintf(notification.txn, sizeof notification.txn, "sn/RF%%3A1");
        ck_assert_int_eq(po_key_seal(&notification, &error), PO_OK);
        ck_assert_str_eq(notification.key, "SQB:sn/RF%3A1:PAYMENT_RECEIVED");
}
END_TEST

START_TEST(sealing_fills_the_fingerprint)
{
        static const unsigned char zeros[PO_FINGERPRINT_BYTES];
        struct po_notification notification = payment();
        struct po_error error = { 0 };
        ck_assert_int_eq(po_key_seal(&notification, &error), PO_OK);
        ck_assert_int_ne(memcmp(notification.fingerprint, zeros, sizeof zeros), 0);
}
END_TEST

START_TEST(an_empty_part_is_refused)
{
        static const char *const txns[] = { "", "/a", "a/", "a//b", "/" };
        struct po_notification notification = payment();
        notification.channel[0] = '\0';
        assert_refused(notification, "KEY_PART_EMPTY");
        notification = payment();
        notification.event[0] = '\0';
        assert_refused(notification, "KEY_PART_EMPTY");
        for (size_t i = 0; i < sizeof txns / sizeof txns[0]; i++) {
                notification = payment();
                snprintf(notification.txn, sizeof notification.txn, "%s", txns[i]);
                assert_refused(notification, "KEY_PART_EMPTY");
        }
}
END_TEST

START_TEST(a_part_that_could_forge_another_key_is_refused)
{
        struct po_notification notification = payment();
        snprintf(notification.channel, sizeof notification.channel, "SQB:1");
        assert_refused(notification, "KEY_PART_MALFORMED");
        notification = payment();
        snprintf(notification.txn, sizeof notification.txn, "1:PAID");
        assert_refused(notification, "KEY_PART_MALFORMED");
        notification = payment();
        snprintf(notification.txn, sizeof notification.txn, "1 ");
        assert_refused(notification, "KEY_PART_MALFORMED");
        notification = payment();
        snprintf(notification.event, sizeof notification.event, "Paid");
        assert_refused(notification, "KEY_PART_MALFORMED");
}
END_TEST

START_TEST(a_key_of_191_bytes_is_taken_and_one_more_is_refused)
{
        struct po_notification notification = { .channel = "A", .event = "B" };
        struct po_error error = { 0 };
        memset(notification.txn, 't', 191 - 4);
        ck_assert_int_eq(po_key_seal(&notification, &error), PO_OK);
        ck_assert_uint_eq(strlen(notification.key), 191);

        memset(notification.txn, 't', 191 - 3);
        assert_refused(notification, "KEY_TOO_LONG");
}
END_TEST

UNIT_MAIN("key", unreserved_bytes_stand_as_they_are,
          every_other_byte_is_percent_encoded_in_upper_case, encoding_appends_to_what_is_there,
          a_part_that_does_not_fit_is_refused_and_leaves_the_buffer, a_key_is_channel_txn_and_event,
          sealing_fills_the_fingerprint, an_empty_part_is_refused,
          a_part_that_could_forge_another_key_is_refused,
          a_key_of_191_bytes_is_taken_and_one_more_is_refused)

#include "unit.h"

#include "channel/fingerprint.h"

/*
 * Golden values, computed apart from the code under test by Python:
 *   def fp(*f): return hashlib.sha256(b"".join(
 *       struct.pack(">I", len(x.encode())) + x.encode() for x in f)).hexdigest()
 */
static const char payment_golden[] =
        /* fp("SQB", "7895010041237719", "PAYMENT_RECEIVED", "R8-20260114-000731", "", "CNY",
              "this", "12880") */
        "5f05b78af795fde3d60f0596ea16c57b73e9309c2cc069fc673a5cd883a63928";
static const char refund_golden[] =
        /* fp("SQB", "7895010041237719/RF-000731-1", "REFUND_SUCCEEDED", "R8-20260114-000731",
              "7895010041237719", "CNY", "cumulative", "") */
        "41364ddf528385de8dfde62191b96448d0da4965a0f9f77de56d93b7191a0bdb";
static const char bare_golden[] =
        /* fp("ENVELOPE", "N-1", "ORDER_NOTED", "", "", "", "none", "") */
        "a04cb66e93965db7f1ff3e35442d9714d4fa8ea4e9a032dcd6df73be4ceb1ff6";

static const struct po_notification payment = {
        .tenant_id = 1,
        .channel = "SQB",
        .txn = "7895010041237719",
        .event = "PAYMENT_RECEIVED",
        .order_no = "R8-20260114-000731",
        .amount_kind = PO_AMOUNT_THIS,
        .amount_minor = 12880,
        .currency = "CNY",
        .occurred_at_us = PO_TIME_UNKNOWN,
};

static const struct po_notification refund = {
        .tenant_id = 1,
        .channel = "SQB",
        .txn = "7895010041237719/RF-000731-1",
        .event = "REFUND_SUCCEEDED",
        .order_no = "R8-20260114-000731",
        .parent = "7895010041237719",
        .refund_no = "RF-000731-1",
        .amount_kind = PO_AMOUNT_CUMULATIVE,
        .amount_minor = 3000,
        .currency = "CNY",
};

struct hex {
        char text[2 * PO_FINGERPRINT_BYTES + 1];
};

static struct hex fingerprint(struct po_notification notification)
{
        struct po_error error = { 0 };
        struct hex hex;
        ck_assert_int_eq(fingerprint_seal(&notification, &error), PO_OK);
        for (size_t i = 0; i < PO_FINGERPRINT_BYTES; i++)
                snprintf(hex.text + 2 * i, 3, "%02x", notification.fingerprint[i]);
        return hex;
}

static bool alike(const struct po_notification *one, const struct po_notification *other)
{
        return strcmp(fingerprint(*one).text, fingerprint(*other).text) == 0;
}

START_TEST(version_1_is_what_another_program_computes)
{
        static const struct po_notification bare = { .channel = "ENVELOPE",
                                                     .txn = "N-1",
                                                     .event = "ORDER_NOTED" };
        ck_assert_int_eq(PO_FINGERPRINT_VERSION, 1);
        ck_assert_str_eq(fingerprint(payment).text, payment_golden);
        ck_assert_str_eq(fingerprint(refund).text, refund_golden);
        ck_assert_str_eq(fingerprint(bare).text, bare_golden);
}
END_TEST

START_TEST(every_field_that_says_something_changes_it)
{
        struct po_notification other[8];
        for (size_t i = 0; i < 8; i++)
                other[i] = payment;
        snprintf(other[0].channel, sizeof other[0].channel, "WECHAT");
        snprintf(other[1].txn, sizeof other[1].txn, "7895010041237718");
        snprintf(other[2].event, sizeof other[2].event, "PAYMENT_REVERSED");
        snprintf(other[3].order_no, sizeof other[3].order_no, "R8-20260114-000732");
        snprintf(other[4].parent, sizeof other[4].parent, "1");
        snprintf(other[5].currency, sizeof other[5].currency, "HKD");
        other[6].amount_kind = PO_AMOUNT_CUMULATIVE;
        other[7].amount_minor = 12881;
        for (size_t i = 0; i < 8; i++)
                ck_assert_msg(!alike(&payment, &other[i]), "field %zu does not count", i);
}
END_TEST

START_TEST(time_tenant_and_refund_number_do_not_count)
{
        struct po_notification other = refund;
        other.occurred_at_us = 1;
        other.tenant_id = 2;
        other.refund_no[0] = '\0';
        ck_assert(alike(&refund, &other));
}
END_TEST

START_TEST(a_byte_moved_to_the_next_field_changes_it)
{
        struct po_notification one = payment, other = payment;
        snprintf(one.order_no, sizeof one.order_no, "AB");
        snprintf(one.parent, sizeof one.parent, "C");
        snprintf(other.order_no, sizeof other.order_no, "A");
        snprintf(other.parent, sizeof other.parent, "BC");
        ck_assert(!alike(&one, &other));
}
END_TEST

START_TEST(a_running_total_does_not_count_where_the_key_names_the_refund)
{
        struct po_notification later = refund;
        later.amount_minor = 5000;
        ck_assert(alike(&refund, &later));

        struct po_notification net = refund, net_later = later;
        net.amount_kind = net_later.amount_kind = PO_AMOUNT_NET;
        ck_assert(alike(&net, &net_later));
}
END_TEST

START_TEST(an_own_amount_counts_even_where_the_key_names_the_refund)
{
        struct po_notification one = refund, other = refund;
        one.amount_kind = other.amount_kind = PO_AMOUNT_THIS;
        other.amount_minor = 5000;
        ck_assert(!alike(&one, &other));
}
END_TEST

START_TEST(a_running_total_counts_where_the_key_names_only_the_payment)
{
        static const struct {
                const char *txn, *parent;
        } pairs[] = {
                { "ch_1", "" },          { "ch_1", "ch_1" },    { "ch_1", "pi_1" },
                { "shop/ch_1", "ch_1" }, { "ch_12/1", "ch_1" }, { "shop/ch_1", "" },
        };
        for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
                struct po_notification one = refund;
                snprintf(one.txn, sizeof one.txn, "%s", pairs[i].txn);
                snprintf(one.parent, sizeof one.parent, "%s", pairs[i].parent);
                struct po_notification later = one;
                later.amount_minor = 5000;
                ck_assert_msg(!alike(&one, &later), "%s of %s folds two refunds into one",
                              pairs[i].txn, pairs[i].parent);
        }
}
END_TEST

START_TEST(the_longest_notification_has_a_fingerprint)
{
        struct po_notification longest = { .amount_kind = PO_AMOUNT_CUMULATIVE,
                                           .amount_minor = INT64_MIN };
        memset(longest.channel, 'C', sizeof longest.channel - 1);
        memset(longest.txn, 't', sizeof longest.txn - 1);
        memset(longest.event, 'E', sizeof longest.event - 1);
        memset(longest.order_no, 'o', sizeof longest.order_no - 1);
        memset(longest.parent, 'p', sizeof longest.parent - 1);
        memset(longest.currency, 'X', sizeof longest.currency - 1);
        ck_assert_str_ne(fingerprint(longest).text, payment_golden);
}
END_TEST

/* printf %s body | sha256sum */
static const char body_golden[] =
        "230d8358dc8e8890b4c58deeb62912ee2f20357ae92a5cc861b98e68fe31acb5";

static struct hex hex_of(const unsigned char *bytes)
{
        struct hex hex;
        for (size_t i = 0; i < PO_FINGERPRINT_BYTES; i++)
                snprintf(hex.text + 2 * i, 3, "%02x", bytes[i]);
        return hex;
}

static struct po_notification sealed(const char *key, int64_t amount_minor)
{
        struct po_error error;
        struct po_notification one = payment;
        one.amount_minor = amount_minor;
        snprintf(one.key, sizeof one.key, "%s", key);
        ck_assert_int_eq(fingerprint_seal(&one, &error), PO_OK);
        ck_assert_int_eq(one.fingerprint_version, PO_FINGERPRINT_VERSION);
        return one;
}

START_TEST(version_2_is_the_plain_digest_of_the_body_for_all_notifications_of_it)
{
        struct po_error error;
        struct po_notification two[] = { sealed("A", 1), sealed("B", 2) };
        ck_assert_int_eq(fingerprint_seal_raw(two, 2, "body", 4, &error), PO_OK);
        for (size_t i = 0; i < 2; i++) {
                ck_assert_int_eq(two[i].fingerprint_version, PO_FINGERPRINT_RAW);
                ck_assert_str_eq(hex_of(two[i].fingerprint).text, body_golden);
        }
}
END_TEST

START_TEST(a_body_that_contradicts_itself_under_one_key_does_not_hide_it_behind_its_digest)
{
        struct po_error error;
        struct po_notification four[] = { sealed("A", 1), sealed("B", 1), sealed("A", 2),
                                          sealed("B", 1) };
        ck_assert_int_eq(fingerprint_seal_raw(four, 4, "body", 4, &error), PO_OK);
        ck_assert_int_eq(four[0].fingerprint_version, PO_FINGERPRINT_VERSION);
        ck_assert_int_eq(four[2].fingerprint_version, PO_FINGERPRINT_VERSION);
        ck_assert_mem_ne(four[0].fingerprint, four[2].fingerprint, PO_FINGERPRINT_BYTES);
        ck_assert_str_eq(hex_of(four[1].fingerprint).text, body_golden);
        ck_assert_str_eq(hex_of(four[3].fingerprint).text, body_golden);
}
END_TEST

START_TEST(either_version_can_be_had_of_a_notification_and_its_body)
{
        struct po_error error;
        unsigned char digest[PO_FINGERPRINT_BYTES];
        struct po_notification one = sealed("A", payment.amount_minor);
        ck_assert_int_eq(fingerprint_by(2, &one, "body", 4, digest, &error), PO_OK);
        ck_assert_str_eq(hex_of(digest).text, body_golden);
        ck_assert_int_eq(fingerprint_seal_raw(&one, 1, "body", 4, &error), PO_OK);
        ck_assert_int_eq(fingerprint_by(1, &one, "body", 4, digest, &error), PO_OK);
        ck_assert_str_eq(hex_of(digest).text, payment_golden);
        ck_assert_int_eq(fingerprint_by(0, &one, "body", 4, digest, &error), PO_BUG);
        ck_assert_int_eq(fingerprint_by(3, &one, "body", 4, digest, &error), PO_BUG);
}
END_TEST

UNIT_MAIN("fingerprint", version_1_is_what_another_program_computes,
          every_field_that_says_something_changes_it, time_tenant_and_refund_number_do_not_count,
          a_byte_moved_to_the_next_field_changes_it,
          a_running_total_does_not_count_where_the_key_names_the_refund,
          an_own_amount_counts_even_where_the_key_names_the_refund,
          a_running_total_counts_where_the_key_names_only_the_payment,
          the_longest_notification_has_a_fingerprint,
          version_2_is_the_plain_digest_of_the_body_for_all_notifications_of_it,
          a_body_that_contradicts_itself_under_one_key_does_not_hide_it_behind_its_digest,
          either_version_can_be_had_of_a_notification_and_its_body)

/* Whose a notification is, and that nobody unknown gets one. */
#include "unit.h"

#include "channel/tenant.h"

static struct po_error error;
static struct po_notification notifications[2];
static struct record_header header = { "tenant_id", "7", 1 };
static struct record record = { .headers = &header, .headers_count = 1 };
static int64_t known[] = { 1, 7, 9 };

static enum po_class settle(enum tenant_source from, size_t known_count)
{
        const struct tenants tenants = { .from = from,
                                         .header = "tenant_id",
                                         .constant = 9,
                                         .known = known,
                                         .known_count = known_count };
        notifications[0].tenant_id = 1;
        notifications[1].tenant_id = 2;
        return tenants_settle(&tenants, &record, notifications, 2, &error);
}

START_TEST(the_payloads_tenant_stays_and_must_be_known)
{
        ck_assert_int_eq(settle(TENANT_PAYLOAD, 0), PO_OK);
        ck_assert_int_eq(notifications[1].tenant_id, 2);
        ck_assert_int_eq(settle(TENANT_PAYLOAD, 3), PO_RECORD);
        ck_assert_str_eq(error.reason, "TENANT_UNKNOWN");
}
END_TEST

START_TEST(header_and_constant_count_alone)
{
        ck_assert_int_eq(settle(TENANT_HEADER, 3), PO_OK);
        ck_assert_int_eq(notifications[0].tenant_id, 7);
        ck_assert_int_eq(notifications[1].tenant_id, 7);
        ck_assert_int_eq(settle(TENANT_CONSTANT, 3), PO_OK);
        ck_assert_int_eq(notifications[1].tenant_id, 9);
        ck_assert_int_eq(settle(TENANT_CONSTANT, 2), PO_RECORD);
}
END_TEST

START_TEST(a_record_without_the_header_or_with_another_word_is_refused)
{
        const char *wrong[] = { "", "0", "-1", "1.0", " 1", "seven", "9223372036854775808" };
        for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
                header.value = wrong[i];
                header.value_bytes = strlen(wrong[i]);
                ck_assert_msg(settle(TENANT_HEADER, 0) == PO_RECORD, "accepted: %s", wrong[i]);
                ck_assert_str_eq(error.reason, "TENANT_MALFORMED");
        }
        header.value = NULL;
        ck_assert_int_eq(settle(TENANT_HEADER, 0), PO_RECORD);
        ck_assert_str_eq(error.reason, "TENANT_MISSING");
        record.headers_count = 0;
        ck_assert_int_eq(settle(TENANT_HEADER, 0), PO_RECORD);
        ck_assert_str_eq(error.reason, "TENANT_MISSING");
}
END_TEST

START_TEST(the_largest_number_is_a_tenant)
{
        int64_t tenant_id;
        ck_assert(tenant_read("9223372036854775807", 19, &tenant_id));
        ck_assert_int_eq(tenant_id, INT64_MAX);
}
END_TEST

UNIT_MAIN("tenant", the_payloads_tenant_stays_and_must_be_known, header_and_constant_count_alone,
          a_record_without_the_header_or_with_another_word_is_refused,
          the_largest_number_is_a_tenant)

#include "fake_db.h"
#include "posting_fixture.h"

#include "ledger/outbox.h"

static const struct event_rule paying = { .event = "PAYMENT_RECEIVED", .subject = RULE_ORDER };
static const struct event_rule posting_only = { .event = "PAYMENT_DISPUTED",
                                                .subject = RULE_POSTS_ONLY };

static struct db *db;
static struct bulk *outbox;

static void start(void)
{
        db = fake_db_open();
        bulk_close(outbox);
        ck_assert_int_eq(bulk_open(&outbox, db, &OUTBOX_FORM, &error), PO_OK);
        bulk_begin(outbox, NULL);
}

static const char *insert(void)
{
        ck_assert_int_eq(bulk_end(outbox, &error), PO_OK);
        return fake_statement("INSERT INTO outbox");
}

START_TEST(no_rows_ask_nothing)
{
        start();
        ck_assert_int_eq(bulk_end(outbox, &error), PO_OK);
        fake_saw_nothing();
}
END_TEST

START_TEST(a_row_tells_the_whole_event)
{
        start();
        fixture_posting(0, &paying, "T1", "R8-1");
        notifications[0].occurred_at_us = INT64_C(1768364467231000);
        outbox_add(outbox, &postings[0], "ORDER_PAID", "PAID");
        const char *text = insert();
        unit_assert_in(text, "INSERT INTO outbox (id, aggregatetype, aggregateid, type, payload,"
                             " created_at) VALUES ('");
        unit_assert_in(
                text,
                "','order','1:R8-1','ORDER_PAID','{\\\"claim_id\\\":1000,\\\"tenant_id\\\":1,"
                "\\\"type\\\":\\\"ORDER_PAID\\\",\\\"key\\\":\\\"SQB:T1:PAYMENT_RECEIVED\\\","
                "\\\"channel\\\":\\\"SQB\\\",\\\"event\\\":\\\"PAYMENT_RECEIVED\\\","
                "\\\"order_no\\\":\\\"R8-1\\\",\\\"status\\\":\\\"PAID\\\","
                "\\\"amount_minor\\\":12880,\\\"currency\\\":\\\"CNY\\\","
                "\\\"occurred_at\\\":\\\"2026-01-14T04:21:07.231000Z\\\"}',UTC_TIMESTAMP(6))");
}
END_TEST

START_TEST(without_money_or_state_the_payload_has_no_such_members)
{
        start();
        fixture_posting(0, &paying, "T1", "R8-1");
        notifications[0].amount_kind = PO_AMOUNT_NONE;
        postings[0].amount_minor = 0;
        outbox_add(outbox, &postings[0], "X", "");
        const char *text = insert();
        unit_assert_not_in(text, "amount_minor");
        unit_assert_not_in(text, "currency");
        unit_assert_not_in(text, "status");
}
END_TEST

START_TEST(without_an_order_the_movement_is_the_aggregate)
{
        start();
        outbox_add(outbox, fixture_posting(0, &paying, "T1", ""), "FEE", "");
        const char *text = insert();
        unit_assert_in(text, "','order','1:SQB:T1','FEE','{");
        unit_assert_not_in(text, "order_no");
        unit_assert_not_in(text, "occurred_at");
        unit_assert_not_in(text, "refund_no");
}
END_TEST

/* It holds no lock of the order, so nothing says that it commits in the order of the numbers. */
START_TEST(what_locks_no_order_is_not_told_among_its_messages)
{
        start();
        outbox_add(outbox, fixture_posting(0, &posting_only, "T1", "R8-1"), "DISPUTE", "");
        const char *text = insert();
        unit_assert_in(text, "','order','1:SQB:T1','DISPUTE','{");
        unit_assert_in(text, "\\\"order_no\\\":\\\"R8-1\\\"");
}
END_TEST

START_TEST(the_same_order_number_of_two_tenants_is_two_aggregates)
{
        start();
        outbox_add(outbox, fixture_posting(0, &paying, "T1", "R8-1"), "A", "");
        fixture_posting(1, &paying, "T2", "R8-1");
        notifications[1].tenant_id = 2;
        snprintf(notifications[1].refund_no, sizeof notifications[1].refund_no, "F1");
        outbox_add(outbox, &postings[1], "B", "");
        const char *text = insert();
        unit_assert_in(text, "'order','1:R8-1','A'");
        unit_assert_in(text, "'order','2:R8-1','B'");
        unit_assert_in(text, "\\\"refund_no\\\":\\\"F1\\\"");
}
END_TEST

/* The id that the row of one posting gets. */
static const char *id_of(int64_t claim_id)
{
        static char ids[2][37];
        static int which;
        char *id = ids[which ^= 1];
        start();
        fixture_posting(0, &paying, "T1", "R8-1")->claim_id = claim_id;
        outbox_add(outbox, &postings[0], "ORDER_PAID", "PAID");
        const char *at = strstr(insert(), "VALUES ('");
        ck_assert_ptr_nonnull(at);
        snprintf(id, 37, "%s", at + strlen("VALUES ('"));
        return id;
}

START_TEST(a_retry_tells_of_the_same_event_under_the_same_id)
{
        const char *first = id_of(1000);
        ck_assert_str_eq(first, id_of(1000));
        ck_assert_str_ne(id_of(1000), id_of(1001));
        ck_assert_int_eq(id_of(1000)[14], '5'); /* a UUID of version 5 */
}
END_TEST

START_TEST(the_longest_members_give_a_whole_payload)
{
        start();
        fixture_posting(0, &paying, "T1", "R8-1");
        memset(notifications[0].key, 'k', PO_KEY_BYTES - 1);
        memset(notifications[0].channel, 'C', PO_CHANNEL_BYTES - 1);
        memset(notifications[0].event, 'E', PO_EVENT_BYTES - 1);
        memset(notifications[0].order_no, '"', PO_ORDER_NO_BYTES - 1);
        memset(notifications[0].refund_no, '"', PO_ORDER_NO_BYTES - 1);
        notifications[0].occurred_at_us = INT64_C(253402300799999999);
        notifications[0].tenant_id = INT64_MIN;
        notifications[0].amount_minor = INT64_MAX;
        postings[0].claim_id = INT64_MAX;
        outbox_add(outbox, &postings[0], notifications[0].event,
                   "S2345678901234567890123456789012");
        unit_assert_in(insert(), "\\\"currency\\\":\\\"CNY\\\",\\\"occurred_at\\\":"
                                 "\\\"9999-12-31T23:59:59.999999Z\\\"}',UTC_TIMESTAMP(6))");
}
END_TEST

START_TEST(rows_stand_in_one_statement_until_the_next_beginning)
{
        start();
        outbox_add(outbox, fixture_posting(0, &paying, "T1", "R8-1"), "A", "");
        outbox_add(outbox, fixture_posting(1, &paying, "T2", "R8-2"), "B", "");
        ck_assert_uint_eq(bulk_rows(outbox), 2);
        unit_assert_in(insert(), "),('");
        fake_saw("INSERT INTO outbox");
        bulk_begin(outbox, NULL);
        outbox_add(outbox, &postings[1], "C", "");
        unit_assert_not_in(insert(), "R8-1");
}
END_TEST

START_TEST(an_error_travels_up_with_its_class)
{
        start();
        outbox_add(outbox, fixture_posting(0, &paying, "T1", "R8-1"), "A", "");
        fake_fail("INSERT INTO outbox", PO_RECORD, 1406);
        ck_assert_int_eq(bulk_end(outbox, &error), PO_RECORD);
}
END_TEST

UNIT_MAIN("outbox", no_rows_ask_nothing, a_row_tells_the_whole_event,
          without_money_or_state_the_payload_has_no_such_members,
          without_an_order_the_movement_is_the_aggregate,
          what_locks_no_order_is_not_told_among_its_messages,
          the_same_order_number_of_two_tenants_is_two_aggregates,
          a_retry_tells_of_the_same_event_under_the_same_id,
          the_longest_members_give_a_whole_payload,
          rows_stand_in_one_statement_until_the_next_beginning, an_error_travels_up_with_its_class)

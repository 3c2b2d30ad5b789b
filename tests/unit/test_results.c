#include "worker/results.h"

#include "../support/mock_kafka.h"
#include "unit.h"

enum { API_PRODUCE = 0 };

static struct po_error error;
static struct world world;
static struct sink *sink;
static struct results *results;

static struct po_notification notification;
static struct record record;
static struct posting posting;
static struct parcel parcel;
static struct po_error parcel_error;
static struct batch batch;

static void start(enum verdict verdict, const char *result)
{
        world = world_open(1);
        ck_assert_int_eq(sink_open(&sink, world.properties, world.properties_count, &error), PO_OK);
        const struct results_options options = { .sink = sink,
                                                 .topic = TOPIC,
                                                 .correlation_header = "correlation-id",
                                                 .records_max = 10 };
        ck_assert_int_eq(results_open(&results, &options, &error), PO_OK);
        notification.tenant_id = 7;
        snprintf(notification.key, sizeof notification.key, "SQB:T1:PAYMENT_RECEIVED");
        snprintf(notification.channel, sizeof notification.channel, "SQB");
        snprintf(notification.event, sizeof notification.event, "PAYMENT_RECEIVED");
        snprintf(notification.order_no, sizeof notification.order_no, "R\"1");
        record = (struct record){ .topic = "callbacks", .partition = 2, .offset = 5 };
        posting = (struct posting){ .notification = &notification, .record = &record };
        posting.verdict = verdict;
        snprintf(posting.result, sizeof posting.result, "%s", result);
        parcel_error = (struct po_error){ 0 };
        parcel = (struct parcel){
                .record = &record, .count = 1, .verdict = verdict, .error = &parcel_error
        };
        batch = (struct batch){
                .parcels = &parcel, .parcels_count = 1, .postings = &posting, .postings_count = 1
        };
}

static void stop(void)
{
        results_close(results);
        sink_close(sink);
        world_close(&world);
}

static bool all(void *context, size_t i)
{
        (void)i;
        return context == NULL;
}

/* The value of the only message. */
static const char *told(void)
{
        static char value[4096];
        const struct record *records;
        struct source *source = world_source(&world, 10);
        ck_assert_uint_eq(world_take(source, WORLD_WAIT_MS, &records), 1);
        snprintf(value, sizeof value, "%.*s", (int)records[0].value_bytes,
                 (const char *)records[0].value);
        world_source_close(source);
        return value;
}

START_TEST(a_first_result_is_told_whole)
{
        start(VERDICT_POSTED, "{\"posted\":\"PAID\"}");
        results_tell(results, &batch, all, NULL);
        ck_assert_int_eq(parcel.verdict, VERDICT_POSTED);
        ck_assert_str_eq(told(),
                         "{\"key\":\"SQB:T1:PAYMENT_RECEIVED\",\"tenant_id\":7,"
                         "\"channel\":\"SQB\",\"event\":\"PAYMENT_RECEIVED\","
                         "\"order_no\":\"R\\\"1\",\"result\":{\"posted\":\"PAID\"},"
                         "\"verdict\":\"POSTED\",\"duplicate\":false,\"topic\":\"callbacks\","
                         "\"partition\":2,\"offset\":5}");
        stop();
}
END_TEST

START_TEST(a_result_from_elsewhere_that_is_no_object_is_a_text)
{
        start(VERDICT_DUPLICATE, "OK \"1\"");
        results_tell(results, &batch, all, NULL);
        const char *value = told();
        unit_assert_in(value, "\"result\":\"OK \\\"1\\\"\",");
        unit_assert_in(value, "\"verdict\":\"DUPLICATE\",\"duplicate\":true");
        stop();
}
END_TEST

START_TEST(what_is_held_or_comes_again_is_not_told)
{
        start(VERDICT_HELD, "");
        results_tell(results, &batch, all, NULL);
        parcel.verdict = posting.verdict = VERDICT_POSTED;
        results_tell(results, &batch, all, &batch);
        int64_t low, high;
        ck_assert_int_eq(rd_kafka_query_watermark_offsets(world.producer, TOPIC, 0, &low, &high,
                                                          WORLD_WAIT_MS),
                         0);
        ck_assert_int_eq(high, 0);
        stop();
}
END_TEST

START_TEST(what_cannot_be_told_is_held)
{
        start(VERDICT_POSTED, "{\"posted\":\"PAID\"}");
        log_set_alarm_observer(world_alarm);
        rd_kafka_mock_push_request_errors(world.mock, API_PRODUCE, 1,
                                          RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED);
        results_tell(results, &batch, all, NULL);
        ck_assert_int_eq(parcel.verdict, VERDICT_HELD);
        ck_assert_int_eq(parcel.error->kind, PO_SYSTEMIC);
        ck_assert_str_eq(world_alarm_code, "RESULTS_NOT_WRITABLE");
        stop();
}
END_TEST

START_TEST(without_a_topic_nobody_is_told)
{
        results_tell(NULL, &batch, all, NULL);
        results_close(NULL);
}
END_TEST

UNIT_MAIN("results", a_first_result_is_told_whole,
          a_result_from_elsewhere_that_is_no_object_is_a_text,
          what_is_held_or_comes_again_is_not_told, what_cannot_be_told_is_held,
          without_a_topic_nobody_is_told)

#include "kafka/sink.h"

#include "../support/mock_kafka.h"
#include "unit.h"

enum { API_PRODUCE = 0 };

static struct po_error error;

static struct sink *sink_of(struct world *world)
{
        struct sink *sink = NULL;
        ck_assert_msg(sink_open(&sink, world->properties, world->properties_count, &error) == PO_OK,
                      "%s", error.text);
        return sink;
}

static struct sink_message message_of(const char *value)
{
        return (struct sink_message){
                .topic = TOPIC, .value = value, .value_bytes = strlen(value), .timestamp_ms = -1
        };
}

START_TEST(what_is_acknowledged_is_there_as_it_was_given)
{
        struct world world = world_open(1);
        struct sink *sink = sink_of(&world);
        const struct record_header headers[] = { { "a", "1", 1 },
                                                 { "b", NULL, 0 },
                                                 { "a", "", 0 } };
        struct sink_message messages[] = {
                { .topic = TOPIC,
                  .key = "k",
                  .key_bytes = 1,
                  .value = "v",
                  .value_bytes = 1,
                  .headers = headers,
                  .headers_count = 3,
                  .timestamp_ms = 1600000000001 },
                { .topic = TOPIC, .timestamp_ms = -1 },
                { .topic = TOPIC, .key = "", .value = "", .timestamp_ms = -1 },
        };
        ck_assert_msg(sink_send(sink, messages, 3, &error) == PO_OK, "%s", error.text);
        for (int i = 0; i < 3; i++) {
                ck_assert_int_eq(messages[i].result, PO_OK);
                ck_assert_int_eq(messages[i].partition, 0);
                ck_assert_int_eq(messages[i].offset, i);
        }
        struct source *source = world_source(&world, 1);
        const struct record *records = NULL;
        ck_assert_uint_eq(world_take(source, WORLD_WAIT_MS, &records), 1);
        ck_assert_int_eq(records[0].timestamp_ms, 1600000000001);
        ck_assert_mem_eq(records[0].key, "k", 1);
        ck_assert_uint_eq(records[0].headers_count, 3);
        ck_assert_str_eq(records[0].headers[0].name, "a");
        ck_assert_ptr_null(records[0].headers[1].value);
        ck_assert_ptr_nonnull(records[0].headers[2].value);
        ck_assert_uint_eq(records[0].headers[2].value_bytes, 0);
        ck_assert_uint_eq(world_take(source, WORLD_WAIT_MS, &records), 1);
        ck_assert_ptr_null(records[0].key);
        ck_assert_ptr_null(records[0].value);
        ck_assert_uint_eq(world_take(source, WORLD_WAIT_MS, &records), 1);
        ck_assert_ptr_nonnull(records[0].key);
        ck_assert_ptr_nonnull(records[0].value);
        world_source_close(source);
        sink_close(sink);
        world_close(&world);
}
END_TEST

START_TEST(one_message_too_large_is_at_fault_alone)
{
        struct world world = world_open(1);
        world_set(&world, "message.max.bytes", "1000000");
        struct sink *sink = sink_of(&world);
        enum { HUGE_BYTES = 2 * 1000 * 1000 };
        char *huge = malloc(HUGE_BYTES);
        memset(huge, 'x', HUGE_BYTES);
        struct sink_message messages[] = { message_of("small"), message_of("huge"),
                                           message_of("small") };
        messages[1].value = huge;
        messages[1].value_bytes = HUGE_BYTES;
        ck_assert_int_eq(sink_send(sink, messages, 3, &error), PO_RECORD);
        ck_assert_str_eq(error.reason, "DEAD_LETTER_TOO_LARGE");
        ck_assert_int_eq(messages[0].result, PO_OK);
        ck_assert_int_eq(messages[1].result, PO_RECORD);
        ck_assert_int_eq(messages[2].result, PO_OK);
        free(huge);
        sink_close(sink);
        world_close(&world);
}
END_TEST

START_TEST(what_a_topic_may_take_is_not_refused_by_the_client)
{
        struct world world = world_open(1);
        struct sink *sink = sink_of(&world);
        enum { LARGE_BYTES = 20 * 1000 * 1000 };
        struct sink_message message = message_of("large");
        char *large = calloc(1, LARGE_BYTES);
        message.value = large;
        message.value_bytes = LARGE_BYTES;
        ck_assert_msg(sink_send(sink, &message, 1, &error) == PO_OK, "%s", error.text);
        free(large);
        sink_close(sink);
        world_close(&world);
}
END_TEST

START_TEST(what_the_broker_finds_too_large_is_at_fault_too)
{
        struct world world = world_open(1);
        struct sink *sink = sink_of(&world);
        struct sink_message message = message_of("v");
        rd_kafka_mock_push_request_errors(world.mock, API_PRODUCE, 1,
                                          RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE);
        ck_assert_int_eq(sink_send(sink, &message, 1, &error), PO_RECORD);
        ck_assert_str_eq(error.reason, "DEAD_LETTER_TOO_LARGE");
        sink_close(sink);
        world_close(&world);
}
END_TEST

START_TEST(a_refusal_stops_and_a_passing_error_is_tried_again_within)
{
        struct world world = world_open(1);
        struct sink *sink = sink_of(&world);
        struct sink_message message = message_of("v");
        rd_kafka_mock_push_request_errors(world.mock, API_PRODUCE, 1,
                                          RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED);
        ck_assert_int_eq(sink_send(sink, &message, 1, &error), PO_SYSTEMIC);
        ck_assert_int_eq(error.code, RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED);
        ck_assert_int_eq(message.result, PO_SYSTEMIC);
        rd_kafka_mock_push_request_errors(world.mock, API_PRODUCE, 2,
                                          RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS,
                                          RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION);
        ck_assert_msg(sink_send(sink, &message, 1, &error) == PO_OK, "%s", error.text);
        sink_close(sink);
        world_close(&world);
}
END_TEST

START_TEST(a_topic_that_does_not_exist_is_systemic)
{
        struct world world = world_open(1);
        struct sink *sink = sink_of(&world);
        rd_kafka_mock_topic_set_error(world.mock, "missing",
                                      RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART);
        struct sink_message message = message_of("v");
        message.topic = "missing";
        ck_assert_int_eq(sink_send(sink, &message, 1, &error), PO_SYSTEMIC);
        unit_assert_in(error.text, "missing");
        sink_close(sink);
        world_close(&world);
}
END_TEST

/* The reports of a send that was given up may come during the next one, which has other memory. */
START_TEST(without_a_broker_the_wait_is_bounded_and_the_next_send_works)
{
        struct world world = world_open(1);
        struct sink *sink = sink_of(&world);
        rd_kafka_mock_broker_set_down(world.mock, 1);
        struct sink_message *lost = calloc(3, sizeof *lost);
        for (int i = 0; i < 3; i++)
                lost[i] = message_of("lost");
        int64_t begun_ms = clock_ms();
        ck_assert_int_eq(sink_send(sink, lost, 3, &error), PO_TRANSIENT);
        ck_assert_int_lt(clock_ms() - begun_ms, 32 * 1000);
        for (int i = 0; i < 3; i++)
                ck_assert_int_eq(lost[i].result, PO_TRANSIENT);
        free(lost);
        rd_kafka_mock_broker_set_up(world.mock, 1);
        struct sink_message message = message_of("v");
        ck_assert_msg(sink_send(sink, &message, 1, &error) == PO_OK, "%s", error.text);
        sink_close(sink);
        world_close(&world);
}
END_TEST

START_TEST(a_fatal_error_of_the_client_is_over_with_the_next_send)
{
        struct world world = world_open(1);
        struct sink *sink = sink_of(&world);
        struct sink_message message = message_of("v");
        ck_assert_int_eq(sink_send(sink, &message, 1, &error), PO_OK);
        rd_kafka_mock_push_request_errors(world.mock, API_PRODUCE, 1,
                                          RD_KAFKA_RESP_ERR_OUT_OF_ORDER_SEQUENCE_NUMBER);
        enum po_class class = sink_send(sink, &message, 1, &error);
        ck_assert(class == PO_OK || class == PO_TRANSIENT);
        ck_assert_msg(sink_send(sink, &message, 1, &error) == PO_OK, "%s", error.text);
        sink_close(sink);
        world_close(&world);
}
END_TEST

START_TEST(acknowledgements_cannot_be_configured_away)
{
        struct kafka_property properties[] = { { "bootstrap.servers", "127.0.0.1:1" },
                                               { "group.id", "g" },
                                               { "acks", "1" } };
        struct sink *sink = NULL;
        ck_assert_int_eq(sink_open(&sink, properties, 3, &error), PO_SYSTEMIC);
        unit_assert_in(error.text, "acks");
        properties[2] = (struct kafka_property){ "fetch.min.bytes", "7" }; /* the consumer's */
        ck_assert_int_eq(sink_open(&sink, properties, 3, &error), PO_OK);
        sink_close(sink);
        sink_close(NULL);
}
END_TEST

UNIT_MAIN("sink", what_is_acknowledged_is_there_as_it_was_given,
          one_message_too_large_is_at_fault_alone,
          what_a_topic_may_take_is_not_refused_by_the_client,
          what_the_broker_finds_too_large_is_at_fault_too,
          a_refusal_stops_and_a_passing_error_is_tried_again_within,
          a_topic_that_does_not_exist_is_systemic,
          without_a_broker_the_wait_is_bounded_and_the_next_send_works,
          a_fatal_error_of_the_client_is_over_with_the_next_send,
          acknowledgements_cannot_be_configured_away)

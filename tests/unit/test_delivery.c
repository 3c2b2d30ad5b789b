#include "kafka/delivery.h"

#include "../support/mock_kafka.h"
#include "unit.h"

enum { API_PRODUCE = 0 };

static struct po_error error;
static struct delivery delivery;

static int take_for_too_large(void *owner, int code)
{
        (*(int *)owner)++;
        (void)code;
        return RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE;
}

static void report(rd_kafka_t *client, const rd_kafka_message_t *message, void *opaque)
{
        (void)client;
        delivery_report(opaque, message);
}

static rd_kafka_t *client_of(struct world *world, const char *timeout_ms)
{
        char text[256];
        rd_kafka_conf_t *conf = rd_kafka_conf_new();
        rd_kafka_conf_set_opaque(conf, &delivery);
        rd_kafka_conf_set_dr_msg_cb(conf, report);
        rd_kafka_conf_set(conf, "bootstrap.servers", world->properties[0].value, text, sizeof text);
        rd_kafka_conf_set(conf, "message.timeout.ms", timeout_ms, text, sizeof text);
        rd_kafka_t *client = rd_kafka_new(RD_KAFKA_PRODUCER, conf, text, sizeof text);
        ck_assert_ptr_nonnull(client);
        return client;
}

static struct sink_message message_of(const char *topic)
{
        return (struct sink_message){
                .topic = topic, .value = "v", .value_bytes = 1, .timestamp_ms = -1
        };
}

START_TEST(each_message_gets_its_place)
{
        struct world world = world_open(1);
        rd_kafka_t *client = client_of(&world, "20000");
        struct sink_message messages[] = { message_of(TOPIC), message_of(TOPIC) };
        delivery = (struct delivery){ 0 };
        delivery_run(&delivery, client, messages, 2, WORLD_WAIT_MS);
        ck_assert_int_eq(delivery_result(&delivery, messages, &error), PO_OK);
        ck_assert_int_eq(messages[1].result, PO_OK);
        ck_assert_int_eq(messages[1].offset, 1);
        rd_kafka_destroy(client);
        world_close(&world);
}
END_TEST

START_TEST(a_failure_means_what_the_owner_knows_of_it)
{
        int asked = 0;
        struct world world = world_open(1);
        rd_kafka_t *client = client_of(&world, "20000");
        struct sink_message message = message_of(TOPIC);
        rd_kafka_mock_push_request_errors(world.mock, API_PRODUCE, 1,
                                          RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED);
        delivery = (struct delivery){ .explain = take_for_too_large, .owner = &asked };
        delivery_run(&delivery, client, &message, 1, WORLD_WAIT_MS);
        ck_assert_int_eq(delivery_result(&delivery, &message, &error), PO_RECORD);
        ck_assert_int_eq(message.result, PO_RECORD);
        ck_assert_int_eq(asked, 1);
        unit_assert_in(error.text, "kafka: send: " TOPIC);
        rd_kafka_destroy(client);
        world_close(&world);
}
END_TEST

START_TEST(a_report_after_the_wait_is_passed_over)
{
        struct world world = world_open(1);
        rd_kafka_t *client = client_of(&world, "20000");
        struct sink_message message = message_of(TOPIC);
        delivery = (struct delivery){ 0 };
        delivery_run(&delivery, client, &message, 1, 0);
        ck_assert_int_eq(delivery_result(&delivery, &message, &error), PO_TRANSIENT);
        unit_assert_in(error.text, "1 of 1 without an acknowledgement");
        ck_assert_int_eq(rd_kafka_flush(client, WORLD_WAIT_MS), 0);
        ck_assert_int_eq(message.result, PO_TRANSIENT);
        ck_assert_uint_eq(delivery.pending, 1);
        rd_kafka_destroy(client);
        world_close(&world);
}
END_TEST

UNIT_MAIN("delivery", each_message_gets_its_place, a_failure_means_what_the_owner_knows_of_it,
          a_report_after_the_wait_is_passed_over)

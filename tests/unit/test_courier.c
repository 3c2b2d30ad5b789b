#include "kafka/courier.h"

#include "../support/mock_kafka.h"
#include "unit.h"

#define ID "postonce-relay-of-a-test"

static struct po_error error;

static struct courier *courier_of(struct world *world)
{
        struct courier *courier = NULL;
        ck_assert_msg(courier_open(&courier, ID, world->properties, world->properties_count,
                                   &error) == PO_OK,
                      "%s", error.text);
        return courier;
}

static struct sink_message message_of(const char *value)
{
        return (struct sink_message){ .topic = TOPIC,
                                      .key = "1:R1",
                                      .key_bytes = 4,
                                      .value = value,
                                      .value_bytes = strlen(value),
                                      .timestamp_ms = -1 };
}

START_TEST(what_is_delivered_together_is_there_in_its_order)
{
        struct world world = world_open(1);
        struct courier *courier = courier_of(&world);
        struct sink_message messages[] = { message_of("0"), message_of("1"), message_of("2") };
        ck_assert_msg(courier_deliver(courier, messages, 2, &error) == PO_OK, "%s", error.text);
        ck_assert_msg(courier_deliver(courier, messages + 2, 1, &error) == PO_OK, "%s", error.text);
        for (int i = 0; i < 3; i++) {
                ck_assert_int_eq(messages[i].result, PO_OK);
                ck_assert_int_eq(messages[i].offset, i);
        }
        courier_close(courier);
        world_close(&world);
}
END_TEST

START_TEST(a_message_too_large_is_told_and_nothing_is_committed)
{
        enum { HUGE_BYTES = 2 * 1000 * 1000 };
        struct world world = world_open(1);
        world_set(&world, "message.max.bytes", "1000000");
        struct courier *courier = courier_of(&world);
        char *huge = malloc(HUGE_BYTES);
        memset(huge, 'x', HUGE_BYTES);
        struct sink_message messages[] = { message_of("small"), message_of("huge") };
        messages[1].value = huge;
        messages[1].value_bytes = HUGE_BYTES;
        ck_assert_int_eq(courier_deliver(courier, messages, 2, &error), PO_RECORD);
        ck_assert_int_eq(messages[1].result, PO_RECORD);
        courier_close(courier);
        courier = courier_of(&world);
        ck_assert_msg(courier_deliver(courier, messages, 1, &error) == PO_OK, "%s", error.text);
        free(huge);
        courier_close(courier);
        world_close(&world);
}
END_TEST

START_TEST(an_epoch_that_is_not_ours_any_more_is_told_as_fenced)
{
        enum { API_END_TRANSACTION = 26 };
        struct world world = world_open(1);
        struct courier *courier = courier_of(&world);
        struct sink_message message = message_of("v");
        rd_kafka_mock_push_request_errors(world.mock, API_END_TRANSACTION, 1,
                                          RD_KAFKA_RESP_ERR_PRODUCER_FENCED);
        ck_assert_int_ne(courier_deliver(courier, &message, 1, &error), PO_OK);
        ck_assert_str_eq(error.reason, COURIER_FENCED);
        courier_close(courier);
        world_close(&world);
}
END_TEST

START_TEST(brokers_that_refuse_the_id_are_systemic)
{
        enum { API_INIT_PRODUCER_ID = 22 };
        struct world world = world_open(1);
        struct courier *courier;
        rd_kafka_mock_push_request_errors(world.mock, API_INIT_PRODUCER_ID, 1,
                                          RD_KAFKA_RESP_ERR_TRANSACTIONAL_ID_AUTHORIZATION_FAILED);
        ck_assert_int_eq(
                courier_open(&courier, ID, world.properties, world.properties_count, &error),
                PO_SYSTEMIC);
        ck_assert_ptr_null(courier);
        ck_assert_ptr_null(error.reason);
        world_close(&world);
}
END_TEST

START_TEST(closing_nothing_is_allowed)
{
        courier_close(NULL);
}
END_TEST

UNIT_MAIN("courier", what_is_delivered_together_is_there_in_its_order,
          a_message_too_large_is_told_and_nothing_is_committed,
          an_epoch_that_is_not_ours_any_more_is_told_as_fenced,
          brokers_that_refuse_the_id_are_systemic, closing_nothing_is_allowed)

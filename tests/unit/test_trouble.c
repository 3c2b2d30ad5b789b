#include "kafka/source.h"

#include "../support/mock_kafka.h"
#include "kafka/source_internal.h"
#include "unit.h"

static struct po_error error;

/* Takes until a call returns that class, or the time is over. */
static bool becomes(struct source *source, enum po_class wanted)
{
        const struct record *records = NULL;
        size_t count;
        int64_t end_ms = clock_ms() + WORLD_WAIT_MS;
        while (clock_ms() < end_ms) {
                enum po_class class = source_take(source, 50, &records, &count, &error);
                if (class != PO_OK)
                        ck_assert_uint_eq(count, 0);
                if (class == wanted)
                        return true;
        }
        return false;
}

START_TEST(all_brokers_down_is_transient_and_ends_when_one_is_back)
{
        struct world world = world_open(1);
        world_produce(&world, 0, 0, 2);
        struct source *source = world_source(&world, 1);
        const struct record *records = NULL;
        ck_assert_uint_eq(world_take(source, WORLD_WAIT_MS, &records), 1);
        source_store(source, &records[0]);
        rd_kafka_mock_broker_set_down(world.mock, 1);
        ck_assert(becomes(source, PO_TRANSIENT));
        ck_assert_int_eq(source_idle(source, 10, &error), PO_OK);
        rd_kafka_mock_broker_set_up(world.mock, 1);
        ck_assert(becomes(source, PO_OK));
        world_produce(&world, 0, 2, 1);
        size_t count = 0;
        int64_t end_ms = clock_ms() + WORLD_WAIT_MS;
        while (count == 0 && clock_ms() < end_ms)
                if (source_take(source, 50, &records, &count, &error) != PO_OK)
                        ck_assert_int_eq(error.kind, PO_TRANSIENT);
        ck_assert_uint_eq(count, 1);
        world_source_close(source);
        world_close(&world);
}
END_TEST

/* What librdkafka says of one connection; that it was the last one, it can forget to say. */
static void break_a_connection(struct source *source)
{
        trouble_hear(source->client, RD_KAFKA_RESP_ERR__TRANSPORT, "Disconnected", source);
}

START_TEST(a_broken_connection_is_trouble_only_where_no_broker_answers)
{
        enum { SLOW_MS = 5000 }; /* longer than a probe waits */
        struct world world = world_open(1);
        world_produce(&world, 0, 0, 2);
        struct source *source = world_source(&world, 1);
        const struct record *records = NULL;
        ck_assert_uint_eq(world_take(source, WORLD_WAIT_MS, &records), 1);
        break_a_connection(source);
        ck_assert(source->suspected);
        ck_assert_uint_eq(world_take(source, WORLD_WAIT_MS, &records), 1);
        int64_t end_ms = clock_ms() + WORLD_WAIT_MS;
        while (source->suspected && clock_ms() < end_ms) {
                size_t count;
                ck_assert_int_eq(source_take(source, 50, &records, &count, &error), PO_OK);
        }
        ck_assert(!source->suspected);

        rd_kafka_mock_broker_set_rtt(world.mock, 1, SLOW_MS);
        break_a_connection(source);
        ck_assert(becomes(source, PO_TRANSIENT));
        rd_kafka_mock_broker_set_rtt(world.mock, 1, 0);
        ck_assert(becomes(source, PO_OK));
        ck_assert(!source->suspected);
        world_source_close(source);
        world_close(&world);
}
END_TEST

START_TEST(a_topic_that_does_not_exist_is_systemic_until_it_does)
{
        struct world world = world_open(1);
        static const char *const topics[] = { "missing" };
        struct source_options options = { .properties = world.properties,
                                          .properties_count = world.properties_count,
                                          .topics = topics,
                                          .topics_count = 1,
                                          .batch_records_max = 10 };
        struct source *source = NULL;
        /* The mock creates what it is asked for, unless it is told to deny it. */
        rd_kafka_mock_topic_set_error(world.mock, "missing",
                                      RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART);
        ck_assert_int_eq(source_open(&source, &options, &error), PO_OK);
        ck_assert(becomes(source, PO_SYSTEMIC));
        unit_assert_in(error.text, "missing");
        const struct record *records = NULL;
        size_t count;
        for (int i = 0; i < 40; i++) /* it stays so, and is not forgotten between two errors */
                ck_assert_int_eq(source_take(source, 50, &records, &count, &error), PO_SYSTEMIC);
        rd_kafka_mock_topic_set_error(world.mock, "missing", RD_KAFKA_RESP_ERR_NO_ERROR);
        ck_assert(becomes(source, PO_OK));
        world_source_close(source);
        world_close(&world);
}
END_TEST

START_TEST(a_commit_that_is_not_allowed_is_systemic)
{
        struct world world = world_open(1);
        world_produce(&world, 0, 0, 1);
        struct source *source = world_source(&world, 1);
        const struct record *records = NULL;
        ck_assert_uint_eq(world_take(source, WORLD_WAIT_MS, &records), 1);
        rd_kafka_mock_push_request_errors(world.mock, API_OFFSET_COMMIT, 1,
                                          RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED);
        source_store(source, &records[0]);
        ck_assert(becomes(source, PO_SYSTEMIC));
        ck_assert_int_eq(error.code, RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED);
        ck_assert(becomes(source, PO_OK));
        world_source_close(source);
        ck_assert_int_eq(world_committed(&world, 0), 1);
        world_close(&world);
}
END_TEST

UNIT_MAIN("trouble", all_brokers_down_is_transient_and_ends_when_one_is_back,
          a_broken_connection_is_trouble_only_where_no_broker_answers,
          a_topic_that_does_not_exist_is_systemic_until_it_does,
          a_commit_that_is_not_allowed_is_systemic)

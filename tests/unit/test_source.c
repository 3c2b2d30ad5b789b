#include "kafka/source.h"

#include "../support/mock_kafka.h"
#include "unit.h"

static struct po_error error;

static const struct record *take_one(struct source *source)
{
        const struct record *records = NULL;
        ck_assert_uint_eq(world_take(source, WORLD_WAIT_MS, &records), 1);
        return records;
}

static rd_kafka_headers_t *headers_with_duplicates(void)
{
        rd_kafka_headers_t *headers = rd_kafka_headers_new(3);
        rd_kafka_header_add(headers, "channel", -1, "OLD", -1);
        rd_kafka_header_add(headers, "nothing", -1, NULL, 0);
        rd_kafka_header_add(headers, "channel", -1, "SQB", -1);
        return headers;
}

START_TEST(a_record_comes_with_everything_it_carries)
{
        struct world world = world_open(1);
        world_put(&world, (struct world_message){ .key = "k",
                                                  .key_bytes = 1,
                                                  .value = "v1",
                                                  .value_bytes = 2,
                                                  .timestamp_ms = 1700000000123,
                                                  .headers = headers_with_duplicates() });
        world_put(&world, (struct world_message){ .value = NULL });
        world_put(&world, (struct world_message){ .key = "", .value = "" });
        world_flush(&world);
        struct source *source = world_source(&world, 1);

        const struct record *record = take_one(source);
        ck_assert_str_eq(record->topic, TOPIC);
        ck_assert_int_eq(record->partition, 0);
        ck_assert_int_eq(record->offset, 0);
        ck_assert_int_eq(record->timestamp_ms, 1700000000123);
        ck_assert_mem_eq(record->key, "k", record->key_bytes);
        ck_assert_uint_eq(record->value_bytes, 2);
        ck_assert_mem_eq(record->value, "v1", 2);
        ck_assert_uint_eq(record->headers_count, 3);
        ck_assert_str_eq(record->headers[0].name, "channel");
        ck_assert_ptr_null(record->headers[1].value);
        ck_assert_mem_eq(record_header(record, "channel")->value, "SQB", 3);

        record = take_one(source);
        ck_assert_ptr_null(record->key);
        ck_assert_ptr_null(record->value);
        ck_assert_uint_eq(record->headers_count, 0);
        record = take_one(source);
        ck_assert_ptr_nonnull(record->key);
        ck_assert_ptr_nonnull(record->value);
        ck_assert_uint_eq(record->value_bytes, 0);
        world_source_close(source);
        world_close(&world);
}
END_TEST

START_TEST(a_batch_holds_what_is_there_up_to_its_bound_each_with_its_own_headers)
{
        struct world world = world_open(1);
        for (int i = 0; i < 250; i++) {
                char text[16];
                snprintf(text, sizeof text, "%d", i);
                rd_kafka_headers_t *headers = rd_kafka_headers_new(1);
                for (int j = 0; j < i % 4; j++)
                        rd_kafka_header_add(headers, "i", -1, text, -1);
                world_put(&world, (struct world_message){ .value = text,
                                                          .value_bytes = strlen(text),
                                                          .headers = headers });
        }
        world_flush(&world);
        struct source *source = world_source(&world, 100);
        int64_t next = 0;
        while (next < 250) {
                const struct record *records = NULL;
                size_t count = world_take(source, WORLD_WAIT_MS, &records);
                ck_assert_uint_ge(count, 1);
                ck_assert_uint_le(count, 100);
                for (size_t i = 0; i < count; i++, next++) {
                        ck_assert_int_eq(records[i].offset, next);
                        ck_assert_uint_eq(records[i].headers_count, (size_t)(next % 4));
                        for (size_t j = 0; j < records[i].headers_count; j++)
                                ck_assert_mem_eq(records[i].headers[j].value, records[i].value,
                                                 records[i].value_bytes);
                }
        }
        world_source_close(source);
        world_close(&world);
}
END_TEST

START_TEST(after_a_restart_only_what_was_not_stored_comes_again)
{
        struct world world = world_open(1);
        world_produce(&world, 0, 0, 5);
        struct source *source = world_source(&world, 5);
        const struct record *records = NULL;
        size_t count = world_take(source, WORLD_WAIT_MS, &records);
        ck_assert_uint_ge(count, 2);
        source_store(source, &records[0]);
        source_store(source, &records[1]);
        world_source_close(source);
        ck_assert_int_eq(world_committed(&world, 0), 2);

        source = world_source(&world, 5);
        world_take(source, WORLD_WAIT_MS, &records);
        ck_assert_int_eq(records[0].offset, 2);
        world_source_close(source);
        ck_assert_int_eq(world_committed(&world, 0), 2); /* taking alone commits nothing */
        world_close(&world);
}
END_TEST

START_TEST(while_idle_nothing_comes_and_nothing_is_lost)
{
        struct world world = world_open(2);
        world_produce(&world, 0, 0, 200);
        struct source *source = world_source(&world, 10);
        int64_t next[2] = { 0, 0 };
        for (int round = 0; next[0] < 200 || next[1] < 100; round++) {
                ck_assert_int_lt(round, 1000);
                const struct record *records = NULL;
                size_t count = world_take(source, WORLD_WAIT_MS, &records);
                ck_assert_uint_ge(count, 1);
                for (size_t i = 0; i < count; i++)
                        ck_assert_int_eq(records[i].offset, next[records[i].partition]++);
                ck_assert_int_eq(source_idle(source, 5, &error), PO_OK);
                if (round == 3)
                        world_produce(&world, 1, 0, 100);
                ck_assert_int_eq(source_idle(source, 5, &error), PO_OK);
        }
        world_source_close(source);
        world_close(&world);
}
END_TEST

START_TEST(stored_offsets_are_committed_while_it_runs)
{
        struct world world = world_open(1);
        world_produce(&world, 0, 0, 3);
        struct source *source = world_source(&world, 1);
        for (int i = 0; i < 2; i++)
                source_store(source, take_one(source));
        const struct record *records = NULL;
        size_t count;
        for (int i = 0; i < 30 && world_committed(&world, 0) != 2; i++)
                ck_assert_int_eq(source_take(source, 100, &records, &count, &error), PO_OK);
        ck_assert_int_eq(world_committed(&world, 0), 2);
        world_source_close(source);
        world_close(&world);
}
END_TEST

START_TEST(closing_with_records_still_queued_is_clean)
{
        struct world world = world_open(1);
        world_produce(&world, 0, 0, 500);
        struct source *source = world_source(&world, 1);
        for (int64_t i = 0; i < 3; i++)
                source_store(source, take_one(source));
        world_produce(&world, 0, 500, 500);
        world_source_close(source);
        ck_assert_int_eq(world_committed(&world, 0), 3);
        world_close(&world);
}
END_TEST

START_TEST(closing_keeps_its_deadline_when_no_broker_answers)
{
        struct world world = world_open(1);
        struct source *source = world_source(&world, 1);
        const struct record *records = NULL;
        size_t count;
        world_produce(&world, 0, 0, 1);
        source_store(source, take_one(source));
        rd_kafka_mock_broker_set_down(world.mock, 1);
        for (int i = 0; i < 5; i++) {
                enum po_class class = source_take(source, 100, &records, &count, &error);
                ck_assert(class == PO_OK || class == PO_TRANSIENT);
        }
        int64_t begun_ms = clock_ms();
        ck_assert_int_eq(source_close(source, 2000, &error), PO_TRANSIENT);
        ck_assert_int_lt(clock_ms() - begun_ms, 4000);
        _exit(EXIT_SUCCESS); /* as the contract says: the handle may be leaked */
}
END_TEST

START_TEST(closing_before_the_group_was_joined_is_quick)
{
        struct world world = world_open(1);
        struct source *source = world_source(&world, 1);
        int64_t begun_ms = clock_ms();
        world_source_close(source);
        ck_assert_int_lt(clock_ms() - begun_ms, 4000);
        ck_assert_int_eq(source_close(NULL, 1000, &error), PO_OK);
        world_close(&world);
}
END_TEST

/* librdkafka before 2.3.0 aborts the process there. */
START_TEST(closing_before_the_group_was_joined_is_safe_with_a_cooperative_assignor)
{
        struct world world = world_open(1);
        world_set(&world, "partition.assignment.strategy", "cooperative-sticky");
        struct source *source = world_source(&world, 1);
        ck_assert_int_eq(source_idle(source, 1500, &error), PO_OK);
        world_source_close(source);
        source = world_source(&world, 1);
        ck_assert_int_eq(source_idle(source, 500, &error), PO_OK);
        ck_assert_int_eq(source_close(source, 500, &error), PO_TRANSIENT);
        _exit(EXIT_SUCCESS); /* as the contract says: the handle may be leaked */
}
END_TEST

static enum po_class open_with(const char *name, const char *value, const char *topic)
{
        struct kafka_property properties[] = { { "bootstrap.servers", "127.0.0.1:1" },
                                               { "group.id", "g" },
                                               { name, value } };
        struct source_options options = { .properties = properties,
                                          .properties_count = 3,
                                          .topics = &topic,
                                          .topics_count = 1,
                                          .batch_records_max = 10 };
        struct source *source = NULL;
        enum po_class class = source_open(&source, &options, &error);
        if (class == PO_OK)
                source_close(source, 1000, &error);
        return class;
}

START_TEST(a_property_that_breaks_a_promise_is_refused_before_anything_connects)
{
        ck_assert_int_eq(open_with("enable.auto.commit", "true", TOPIC), PO_SYSTEMIC);
        unit_assert_in(error.text, "enable.auto.commit");
        ck_assert_int_eq(open_with("max.poll.interval.ms", "1", TOPIC), PO_SYSTEMIC);
        unit_assert_in(error.text, "max.poll.interval.ms");
        ck_assert_int_eq(open_with("client.id", "w1", TOPIC), PO_OK);
}
END_TEST

START_TEST(a_topic_needs_a_name)
{
        ck_assert_int_eq(open_with("client.id", "w1", ""), PO_SYSTEMIC);
}
END_TEST

UNIT_MAIN("source", a_record_comes_with_everything_it_carries,
          a_batch_holds_what_is_there_up_to_its_bound_each_with_its_own_headers,
          after_a_restart_only_what_was_not_stored_comes_again,
          while_idle_nothing_comes_and_nothing_is_lost, stored_offsets_are_committed_while_it_runs,
          closing_with_records_still_queued_is_clean,
          closing_keeps_its_deadline_when_no_broker_answers,
          closing_before_the_group_was_joined_is_quick,
          closing_before_the_group_was_joined_is_safe_with_a_cooperative_assignor,
          a_property_that_breaks_a_promise_is_refused_before_anything_connects,
          a_topic_needs_a_name)

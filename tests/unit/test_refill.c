#include "kafka/source.h"

#include "../support/mock_kafka.h"
#include "unit.h"

enum { VALUE_BYTES = 4096, RECORDS = 900 };

/*
 * The queue holds one part in four hundred of the backlog. Looked at once a second, as librdkafka
 * 2.0.2 does by itself, it would take far longer than the time that is given here.
 */
START_TEST(a_backlog_flows_through_a_queue_that_is_much_smaller)
{
        static char value[VALUE_BYTES];
        struct world world = world_open(1);
        world_set(&world, "queued.max.messages.kbytes", "8");
        world_set(&world, "max.partition.fetch.bytes", "8192");
        for (int i = 0; i < RECORDS; i++)
                world_put(&world,
                          (struct world_message){ .value = value, .value_bytes = sizeof value });
        world_flush(&world);
        struct source *source = world_source(&world, 10);
        const struct record *records = NULL;
        int64_t next = 0, end_ms = clock_ms() + WORLD_WAIT_MS;
        while (next < RECORDS && clock_ms() < end_ms) {
                size_t count = world_take(source, WORLD_WAIT_MS, &records);
                for (size_t i = 0; i < count; i++)
                        ck_assert_int_eq(records[i].offset, next++);
        }
        ck_assert_int_eq(next, RECORDS);
        world_source_close(source);
        world_close(&world);
}
END_TEST

UNIT_MAIN("refill", a_backlog_flows_through_a_queue_that_is_much_smaller)

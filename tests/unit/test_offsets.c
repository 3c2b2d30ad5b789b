#include "kafka/source.h"

#include "../support/mock_kafka.h"
#include "unit.h"

static struct po_error error;

static void take_for(struct source *source, int wait_ms)
{
        const struct record *records = NULL;
        size_t count;
        int64_t end_ms = clock_ms() + wait_ms;
        while (clock_ms() < end_ms)
                ck_assert_int_eq(source_take(source, 20, &records, &count, &error), PO_OK);
}

START_TEST(a_partition_without_an_offset_begins_at_its_beginning_and_another_at_its_offset)
{
        struct world world = world_open(2);
        world_produce(&world, 0, 0, 5);
        world_produce(&world, 1, 0, 5);
        world_commit(&world, 1, 3);
        struct source *source = world_source(&world, 10);
        int64_t next[2] = { 0, 3 };
        while (next[0] < 5 || next[1] < 5) {
                const struct record *records = NULL;
                size_t count = world_take(source, WORLD_WAIT_MS, &records);
                ck_assert_uint_ge(count, 1);
                for (size_t i = 0; i < count; i++)
                        ck_assert_int_eq(records[i].offset, next[records[i].partition]++);
        }
        world_source_close(source);
        world_close(&world);
}
END_TEST

/* B-13: no jump in silence, neither to the end nor back to the beginning. */
START_TEST(a_partition_whose_offset_is_out_of_range_stops_with_one_alarm_and_the_others_flow)
{
        struct world world = world_open(2);
        world_produce(&world, 0, 0, 5);
        world_produce(&world, 1, 0, 5);
        world_commit(&world, 0, 1000);
        log_set_alarm_observer(world_alarm);
        struct source *source = world_source(&world, 10);
        for (int64_t next = 0; next < 5;) {
                const struct record *records = NULL;
                size_t count = world_take(source, WORLD_WAIT_MS, &records);
                ck_assert_uint_ge(count, 1);
                for (size_t i = 0; i < count; i++) {
                        ck_assert_int_eq(records[i].partition, 1);
                        ck_assert_int_eq(records[i].offset, next++);
                }
        }
        int64_t end_ms = clock_ms() + WORLD_WAIT_MS;
        while (world_alarms == 0 && clock_ms() < end_ms)
                take_for(source, 100);
        world_produce(&world, 0, 5, 5);
        take_for(source, 1500);
        ck_assert_int_eq(world_alarms, 1);
        ck_assert_str_eq(world_alarm_code, "OFFSET_OUT_OF_RANGE");
        struct source_figures figures;
        source_figures(source, &figures);
        ck_assert_uint_eq(figures.partitions_held, 1);
        world_source_close(source);
        ck_assert_int_eq(world_committed(&world, 0), 1000);
        world_close(&world);
}
END_TEST

START_TEST(an_offset_that_cannot_be_read_at_the_assignment_is_asked_for_again)
{
        struct world world = world_open(1);
        world_produce(&world, 0, 0, 9);
        world_commit(&world, 0, 4);
        /* Three tries at the assignment, the first look-up after it. */
        rd_kafka_mock_push_request_errors(world.mock, API_OFFSET_FETCH, 4,
                                          RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED,
                                          RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED,
                                          RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED,
                                          RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED);
        struct source *source = world_source(&world, 1);
        for (int64_t next = 4; next < 9; next++) {
                const struct record *records = NULL;
                ck_assert_uint_eq(world_take(source, WORLD_WAIT_MS, &records), 1);
                ck_assert_int_eq(records[0].offset, next);
        }
        world_source_close(source);
        world_close(&world);
}
END_TEST

START_TEST(a_commit_that_fails_is_sent_again)
{
        struct world world = world_open(1);
        world_produce(&world, 0, 0, 3);
        struct source *source = world_source(&world, 1);
        const struct record *records = NULL;
        ck_assert_uint_eq(world_take(source, WORLD_WAIT_MS, &records), 1);
        rd_kafka_mock_push_request_errors(world.mock, API_OFFSET_COMMIT, 1,
                                          RD_KAFKA_RESP_ERR_OFFSET_METADATA_TOO_LARGE);
        source_store(source, &records[0]);
        int64_t end_ms = clock_ms() + WORLD_WAIT_MS;
        while (world_committed(&world, 0) != 1 && clock_ms() < end_ms) {
                size_t count;
                if (source_take(source, 100, &records, &count, &error) != PO_OK)
                        ck_assert_int_eq(error.kind, PO_SYSTEMIC);
        }
        ck_assert_int_eq(world_committed(&world, 0), 1);
        world_source_close(source);
        world_close(&world);
}
END_TEST

START_TEST(one_commit_takes_what_is_settled_of_every_partition_and_nothing_more)
{
        struct world world = world_open(2);
        world_produce(&world, 0, 0, 3);
        world_produce(&world, 1, 0, 3);
        struct source *source = world_source(&world, 10);
        int64_t settled[2] = { 0, 0 };
        while (settled[0] < 2 || settled[1] < 2) {
                const struct record *records = NULL;
                size_t count = world_take(source, WORLD_WAIT_MS, &records);
                ck_assert_uint_ge(count, 1);
                for (size_t i = 0; i < count; i++)
                        if (records[i].offset < 2) {
                                source_store(source, &records[i]);
                                settled[records[i].partition] = records[i].offset + 1;
                        }
        }
        int64_t end_ms = clock_ms() + WORLD_WAIT_MS;
        while ((world_committed(&world, 0) != 2 || world_committed(&world, 1) != 2) &&
               clock_ms() < end_ms)
                take_for(source, 100);
        world_source_close(source);
        ck_assert_int_eq(world_committed(&world, 0), 2);
        ck_assert_int_eq(world_committed(&world, 1), 2);
        world_close(&world);
}
END_TEST

START_TEST(an_empty_partition_gets_an_offset_once_its_end_was_met)
{
        struct world world = world_open(1);
        struct source *source = world_source(&world, 1);
        int64_t end_ms = clock_ms() + WORLD_WAIT_MS;
        while (world_committed(&world, 0) != 0 && clock_ms() < end_ms)
                take_for(source, 100);
        ck_assert_int_eq(world_committed(&world, 0), 0);
        world_source_close(source);
        world_close(&world);
}
END_TEST

UNIT_MAIN("offsets",
          a_partition_without_an_offset_begins_at_its_beginning_and_another_at_its_offset,
          a_partition_whose_offset_is_out_of_range_stops_with_one_alarm_and_the_others_flow,
          an_offset_that_cannot_be_read_at_the_assignment_is_asked_for_again,
          a_commit_that_fails_is_sent_again,
          one_commit_takes_what_is_settled_of_every_partition_and_nothing_more,
          an_empty_partition_gets_an_offset_once_its_end_was_met)

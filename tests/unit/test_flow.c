#include "kafka/source.h"

#include "../support/mock_kafka.h"
#include "unit.h"

static struct po_error error;

START_TEST(a_held_record_comes_again_first_and_what_follows_it_in_order)
{
        struct world world = world_open(1);
        world_produce(&world, 0, 0, 100);
        struct source *source = world_source(&world, 10);
        const struct record *records = NULL;
        size_t count = world_take(source, WORLD_WAIT_MS, &records);
        ck_assert_uint_ge(count, 3);
        ck_assert_int_eq(records[0].offset, 0);
        source_store(source, &records[0]);
        int64_t begun_ms = clock_ms();
        source_hold(source, &records[1], 400);
        ck_assert(!source_is_held(source, &records[0]));
        ck_assert(source_is_held(source, &records[1]));
        ck_assert(source_is_held(source, &records[2]));

        struct source_figures figures;
        source_figures(source, &figures);
        ck_assert_uint_eq(figures.partitions_held, 1);
        for (int64_t next = 1; next < 100;) {
                count = world_take(source, WORLD_WAIT_MS, &records);
                ck_assert_int_ge(clock_ms() - begun_ms, 400);
                for (size_t i = 0; i < count; i++)
                        ck_assert_int_eq(records[i].offset, next++);
        }
        source_figures(source, &figures);
        ck_assert_uint_eq(figures.partitions_held, 0);
        world_source_close(source);
        world_close(&world);
}
END_TEST

START_TEST(the_very_first_offset_can_be_held_and_its_tries_are_counted)
{
        struct world world = world_open(1);
        world_produce(&world, 0, 0, 3);
        struct source *source = world_source(&world, 10);
        const struct record *records = NULL;
        for (unsigned tries = 0; tries < 4; tries++) {
                ck_assert_uint_ge(world_take(source, WORLD_WAIT_MS, &records), 1);
                ck_assert_int_eq(records[0].offset, 0);
                ck_assert_uint_eq(source_hold_tries(source, &records[0]), tries);
                source_hold(source, &records[0], 20);
        }
        world_source_close(source);
        ck_assert_int_lt(world_committed(&world, 0), 0);
        world_close(&world);
}
END_TEST

START_TEST(while_one_partition_is_held_the_other_flows)
{
        struct world world = world_open(2);
        world_produce(&world, 0, 0, 1);
        struct source *source = world_source(&world, 10);
        const struct record *records = NULL;
        ck_assert_uint_eq(world_take(source, WORLD_WAIT_MS, &records), 1);
        source_hold(source, &records[0], 60 * 1000);
        world_produce(&world, 1, 0, 20);
        for (int64_t next = 0; next < 20;) {
                size_t count = world_take(source, WORLD_WAIT_MS, &records);
                for (size_t i = 0; i < count; i++) {
                        ck_assert_int_eq(records[i].partition, 1);
                        ck_assert_int_eq(records[i].offset, next++);
                }
        }
        ck_assert_uint_eq(world_take(source, 300, &records), 0);
        world_source_close(source);
        world_close(&world);
}
END_TEST

START_TEST(a_hold_outlasts_idling)
{
        struct world world = world_open(1);
        world_produce(&world, 0, 0, 5);
        struct source *source = world_source(&world, 2);
        const struct record *records = NULL;
        ck_assert_uint_ge(world_take(source, WORLD_WAIT_MS, &records), 1);
        int64_t begun_ms = clock_ms();
        source_hold(source, &records[0], 800);
        ck_assert_int_eq(source_idle(source, 100, &error), PO_OK);
        for (int64_t next = 0; next < 5;) {
                size_t count = world_take(source, WORLD_WAIT_MS, &records);
                ck_assert_int_ge(clock_ms() - begun_ms, 800);
                for (size_t i = 0; i < count; i++)
                        ck_assert_int_eq(records[i].offset, next++);
                ck_assert_int_eq(source_idle(source, 100, &error), PO_OK);
        }
        world_source_close(source);
        world_close(&world);
}
END_TEST

enum { STORM_PARTITIONS = 3, STORM_RECORDS = 1500 };

/*
 * Holds at random places, for random times, while librdkafka prefetches: whatever is handed out
 * must be exactly what follows the last record of that partition that was stored.
 */
START_TEST(under_a_storm_of_holds_nothing_is_skipped_and_nothing_stored_comes_again)
{
        struct world world = world_open(STORM_PARTITIONS);
        unsigned seed = (unsigned)clock_ms();
        printf("seed %u\n", seed);
        int64_t stored[STORM_PARTITIONS] = { 0 };
        int64_t total = 0;
        struct source *source = world_source(&world, 64);
        for (int p = 0; p < STORM_PARTITIONS; p++)
                world_produce(&world, p, 0, STORM_RECORDS / 2);
        int64_t begun_ms = clock_ms();
        bool more = true;
        while (total < STORM_PARTITIONS * STORM_RECORDS) {
                ck_assert_int_lt(clock_ms() - begun_ms, 50 * 1000);
                const struct record *records = NULL;
                size_t count;
                ck_assert_int_eq(source_take(source, 20, &records, &count, &error), PO_OK);
                bool held[STORM_PARTITIONS] = { false };
                int64_t next[STORM_PARTITIONS];
                memcpy(next, stored, sizeof next);
                for (size_t i = 0; i < count; i++) {
                        int p = records[i].partition;
                        ck_assert_int_eq(records[i].offset, next[p]++);
                        if (held[p]) {
                                ck_assert(source_is_held(source, &records[i]));
                                continue;
                        }
                        if (rand_r(&seed) % 40 == 0) {
                                source_hold(source, &records[i], rand_r(&seed) % 15);
                                held[p] = true;
                                continue;
                        }
                        source_store(source, &records[i]);
                        stored[p]++;
                        total++;
                }
                if (rand_r(&seed) % 10 == 0)
                        ck_assert_int_eq(source_idle(source, rand_r(&seed) % 5, &error), PO_OK);
                if (more && total > STORM_RECORDS / 4) {
                        more = false;
                        for (int p = 0; p < STORM_PARTITIONS; p++)
                                world_produce(&world, p, STORM_RECORDS / 2, STORM_RECORDS / 2);
                }
        }
        world_source_close(source);
        for (int p = 0; p < STORM_PARTITIONS; p++)
                ck_assert_int_eq(world_committed(&world, p), STORM_RECORDS);
        world_close(&world);
}
END_TEST

/* librdkafka would go on behind bytes that it cannot read. */
START_TEST(a_partition_that_cannot_be_read_is_fetched_again_and_alarmed_once)
{
        enum { API_FETCH = 1 };
        struct world world = world_open(1);
        world_produce(&world, 0, 0, 3);
        struct source *source = world_source(&world, 1);
        const struct record *records = NULL;
        ck_assert_uint_eq(world_take(source, WORLD_WAIT_MS, &records), 1);
        source_store(source, &records[0]);
        log_set_alarm_observer(world_alarm);
        for (int64_t next = 1; next < 3; next++) {
                ck_assert_uint_eq(world_take(source, WORLD_WAIT_MS, &records), 1);
                ck_assert_int_eq(records[0].offset, next);
                source_store(source, &records[0]);
        }
        ck_assert_uint_eq(world_take(source, 300, &records), 0); /* the end was met */
        rd_kafka_mock_push_request_errors(world.mock, API_FETCH, 1, RD_KAFKA_RESP_ERR_INVALID_MSG);
        int64_t end_ms = clock_ms() + WORLD_WAIT_MS;
        size_t count;
        while (world_alarms == 0 && clock_ms() < end_ms)
                ck_assert_int_eq(source_take(source, 20, &records, &count, &error), PO_OK);
        ck_assert_int_eq(world_alarms, 1);
        ck_assert_str_eq(world_alarm_code, "PARTITION_UNREADABLE");
        world_produce(&world, 0, 3, 2);
        ck_assert_uint_eq(world_take(source, WORLD_WAIT_MS, &records), 1);
        ck_assert_int_eq(records[0].offset, 3);
        world_source_close(source);
        world_close(&world);
}
END_TEST

UNIT_MAIN("flow", a_held_record_comes_again_first_and_what_follows_it_in_order,
          the_very_first_offset_can_be_held_and_its_tries_are_counted,
          while_one_partition_is_held_the_other_flows, a_hold_outlasts_idling,
          under_a_storm_of_holds_nothing_is_skipped_and_nothing_stored_comes_again,
          a_partition_that_cannot_be_read_is_fetched_again_and_alarmed_once)

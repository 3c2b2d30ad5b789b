#include "kafka/source.h"

#include "../support/mock_kafka.h"
#include "unit.h"

static struct po_error error;

/* One step of a member: what it took is checked and stored by settle(). */
static size_t step(struct source *source, int wait_ms, const struct record **records)
{
        size_t count = 0;
        enum po_class class = source_take(source, wait_ms, records, &count, &error);
        ck_assert_msg(class == PO_OK, "%s", error.text);
        return count;
}

static unsigned assigned(const struct source *source)
{
        struct source_figures figures;
        source_figures(source, &figures);
        return figures.joined ? figures.partitions_assigned : 0;
}

/* Turns both until each has its share. What they take is left unsettled. */
static void share(struct source *a, struct source *b, unsigned each)
{
        const struct record *records = NULL;
        int64_t end_ms = clock_ms() + WORLD_WAIT_MS;
        while (assigned(a) != each || assigned(b) != each) {
                ck_assert_int_lt(clock_ms(), end_ms);
                step(a, 20, &records);
                step(b, 20, &records);
        }
}

/*
 * librdkafka keeps an application's pause over an assignment, so a hold of one minute would last
 * over the partition's way to another member and back.
 */
START_TEST(a_hold_does_not_outlive_its_assignment)
{
        struct world world = world_open(2);
        world_produce(&world, 0, 0, 3);
        world_produce(&world, 1, 0, 3);
        struct source *a = world_source(&world, 10);
        const struct record *records = NULL;
        bool held[2] = { false, false };
        while (!held[0] || !held[1]) {
                size_t count = world_take(a, WORLD_WAIT_MS, &records);
                for (size_t i = 0; i < count; i++) {
                        if (source_is_held(a, &records[i]))
                                continue;
                        ck_assert_int_eq(records[i].offset, 0);
                        source_hold(a, &records[i], 60 * 1000);
                        held[records[i].partition] = true;
                }
        }
        struct source *b = world_source(&world, 10);
        share(a, b, 1);
        world_source_close(b);

        int64_t next[2] = { 0, 0 };
        int64_t end_ms = clock_ms() + WORLD_WAIT_MS;
        while (next[0] < 3 || next[1] < 3) {
                ck_assert_int_lt(clock_ms(), end_ms);
                size_t count = step(a, 50, &records);
                for (size_t i = 0; i < count; i++) {
                        /* The share() above may have taken some of the part that stayed. */
                        int64_t *expected = &next[records[i].partition];
                        if (records[i].offset == 0)
                                *expected = 0;
                        ck_assert_int_eq(records[i].offset, (*expected)++);
                }
        }
        world_source_close(a);
        world_close(&world);
}
END_TEST

/* B-1: a worker that was slow must not take back what the next owner settled. */
START_TEST(what_is_stored_after_the_partition_went_away_is_ignored)
{
        struct world world = world_open(2);
        world_produce(&world, 0, 0, 5);
        world_produce(&world, 1, 0, 5);
        struct source *a = world_source(&world, 10);
        const struct record *records = NULL;
        struct record late[2] = { { .topic = NULL } };
        while (late[0].topic == NULL || late[1].topic == NULL) {
                size_t count = world_take(a, WORLD_WAIT_MS, &records);
                for (size_t i = 0; i < count; i++)
                        if (records[i].offset == 0)
                                late[records[i].partition] = records[i];
        }
        struct source *b = world_source(&world, 10);
        int64_t end_ms = clock_ms() + WORLD_WAIT_MS;
        int went = -1;
        for (int64_t next = 0; next < 5;) {
                ck_assert_int_lt(clock_ms(), end_ms);
                size_t count = step(b, 20, &records);
                for (size_t i = 0; i < count; i++, next++) {
                        went = records[i].partition;
                        ck_assert_int_eq(records[i].offset, next);
                        source_store(b, &records[i]);
                }
                step(a, 20, &records);
        }
        source_store(a, &late[went]);
        ck_assert(source_is_held(a, &late[went]));
        source_hold(a, &late[went], 60 * 1000);
        world_source_close(b);
        ck_assert_int_eq(world_committed(&world, went), 5);

        /* Back at a it is another assignment: the old record still says nothing about it. */
        const int64_t back_ms = clock_ms();
        while (assigned(a) != 2) {
                ck_assert_int_lt(clock_ms() - back_ms, WORLD_WAIT_MS);
                step(a, 20, &records);
        }
        ck_assert(source_is_held(a, &late[went]));
        source_hold(a, &late[went], 0);
        world_produce(&world, went, 5, 1);
        bool came = false;
        while (!came) {
                ck_assert_int_lt(clock_ms() - back_ms, WORLD_WAIT_MS);
                size_t count = step(a, 50, &records);
                for (size_t i = 0; i < count; i++) {
                        if (records[i].partition != went)
                                continue;
                        ck_assert_int_eq(records[i].offset, 5);
                        came = true;
                }
        }
        world_source_close(a);
        ck_assert_int_eq(world_committed(&world, went), 5);
        world_close(&world);
}
END_TEST

START_TEST(what_is_assigned_while_idle_waits_and_is_whole_afterwards)
{
        struct world world = world_open(2);
        world_produce(&world, 0, 0, 5);
        struct source *source = world_source(&world, 10);
        int64_t end_ms = clock_ms() + WORLD_WAIT_MS;
        while (assigned(source) != 2) {
                ck_assert_int_lt(clock_ms(), end_ms);
                ck_assert_int_eq(source_idle(source, 50, &error), PO_OK);
        }
        ck_assert_int_eq(source_idle(source, 300, &error), PO_OK);
        for (int64_t next = 0; next < 5;) {
                const struct record *records = NULL;
                size_t count = world_take(source, WORLD_WAIT_MS, &records);
                ck_assert_uint_ge(count, 1);
                for (size_t i = 0; i < count; i++)
                        ck_assert_int_eq(records[i].offset, next++);
        }
        world_source_close(source);
        world_close(&world);
}
END_TEST

UNIT_MAIN("rebalance", a_hold_does_not_outlive_its_assignment,
          what_is_stored_after_the_partition_went_away_is_ignored,
          what_is_assigned_while_idle_waits_and_is_whole_afterwards)

#include "kafka/source.h"

#include "../support/mock_kafka.h"
#include "unit.h"

static struct po_error error;

static enum source_end end_of(struct source *source)
{
        enum source_end end = SOURCE_GOING;
        ck_assert_msg(source_end(source, &end, &error) == PO_OK, "%s", error.text);
        return end;
}

/* Takes and settles all until the end is said, or the time is over. */
static enum source_end drain(struct source *source, int64_t *settled)
{
        const struct record *records = NULL;
        size_t count;
        enum source_end end = SOURCE_GOING;
        int64_t end_ms = clock_ms() + WORLD_WAIT_MS;
        while (end == SOURCE_GOING && clock_ms() < end_ms) {
                ck_assert_int_eq(source_take(source, 20, &records, &count, &error), PO_OK);
                for (size_t i = 0; i < count; i++, (*settled)++)
                        source_store(source, &records[i]);
                end = end_of(source);
        }
        return end;
}

START_TEST(the_end_is_said_when_all_is_settled_and_committed)
{
        struct world world = world_open(2);
        world_produce(&world, 0, 0, 30);
        struct source *source = world_source(&world, 7);
        int64_t settled = 0;
        ck_assert_int_eq(drain(source, &settled), SOURCE_AT_END);
        ck_assert_int_eq(settled, 30);
        ck_assert_int_eq(world_committed(&world, 0), 30);
        struct source_figures figures;
        source_figures(source, &figures);
        ck_assert_int_eq(figures.lag, 0);
        ck_assert_uint_eq(figures.partitions_assigned, 2);
        ck_assert(figures.joined);
        world_source_close(source);
        world_close(&world);
}
END_TEST

START_TEST(it_goes_on_while_a_record_is_in_hand_or_another_member_has_work)
{
        struct world world = world_open(2);
        world_produce(&world, 0, 0, 3);
        world_produce(&world, 1, 0, 3);
        struct source *a = world_source(&world, 10);
        struct source *b = world_source(&world, 10);
        const struct record *records = NULL;
        size_t count;
        struct source_figures figures[2] = { { .lag = 0 } };
        while (figures[0].partitions_assigned != 1 || figures[1].partitions_assigned != 1) {
                ck_assert_int_eq(source_take(a, 20, &records, &count, &error), PO_OK);
                ck_assert_int_eq(source_take(b, 20, &records, &count, &error), PO_OK);
                ck_assert_int_eq(end_of(a), SOURCE_GOING);
                source_figures(a, &figures[0]);
                source_figures(b, &figures[1]);
        }
        world_source_close(b); /* its records were taken, never settled */
        int64_t settled = 0;
        ck_assert_int_eq(drain(a, &settled), SOURCE_AT_END);
        ck_assert_int_eq(world_committed(&world, 0) + world_committed(&world, 1), 6);
        world_source_close(a);
        world_close(&world);
}
END_TEST

START_TEST(a_hold_tried_three_times_is_the_end_and_one_tried_twice_is_not)
{
        struct world world = world_open(2);
        world_produce(&world, 0, 0, 3);
        struct source *source = world_source(&world, 10);
        const struct record *records = NULL;
        for (unsigned tries = 1; tries <= 3; tries++) {
                ck_assert_uint_ge(world_take(source, WORLD_WAIT_MS, &records), 1);
                ck_assert_int_eq(records[0].offset, 0);
                source_hold(source, &records[0], tries < 3 ? 1500 : 60 * 1000);
                size_t count;
                for (int i = 0; i < 50 && tries < 3; i++) {
                        ck_assert_int_eq(source_take(source, 20, &records, &count, &error), PO_OK);
                        ck_assert_uint_eq(count, 0);
                        ck_assert_int_eq(end_of(source), SOURCE_GOING);
                }
        }
        int64_t settled = 0;
        ck_assert_int_eq(drain(source, &settled), SOURCE_AT_HOLD);
        ck_assert_int_eq(settled, 0);
        struct source_figures figures;
        source_figures(source, &figures);
        ck_assert_uint_eq(figures.partitions_held, 1);
        ck_assert_int_eq(figures.lag, 3);
        world_source_close(source);
        world_close(&world);
}
END_TEST

UNIT_MAIN("progress", the_end_is_said_when_all_is_settled_and_committed,
          it_goes_on_while_a_record_is_in_hand_or_another_member_has_work,
          a_hold_tried_three_times_is_the_end_and_one_tried_twice_is_not)

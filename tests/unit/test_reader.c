#include "kafka/reader.h"

#include "../support/mock_kafka.h"
#include "unit.h"

static struct po_error error;

static struct reader_options options_of(struct world *world, int partitions)
{
        return (struct reader_options){ .properties = world->properties,
                                        .properties_count = world->properties_count,
                                        .topic = TOPIC,
                                        .group = "postonce-test",
                                        .partitions = partitions,
                                        .only_partition = -1,
                                        .records_max = 4 };
}

static struct reader *reader_of(const struct reader_options *options)
{
        struct reader *reader;
        ck_assert_msg(reader_open(&reader, options, &error) == PO_OK, "%s", error.text);
        return reader;
}

/* Reads to the end and passes everything; how many there were. */
static int drain(struct reader *reader, bool pass)
{
        int taken = 0;
        int64_t end_ms = clock_ms() + WORLD_WAIT_MS;
        while (!reader_at_end(reader) && clock_ms() < end_ms) {
                const struct record *records;
                size_t count;
                ck_assert_msg(reader_take(reader, 100, &records, &count, &error) == PO_OK, "%s",
                              error.text);
                ck_assert_uint_le(count, 4);
                for (size_t i = 0; i < count && pass; i++)
                        reader_pass(reader, &records[i]);
                taken += (int)count;
        }
        ck_assert(reader_at_end(reader));
        return taken;
}

START_TEST(it_reads_every_partition_to_the_ends_of_its_beginning)
{
        struct world world = world_open(3);
        struct reader_options options = options_of(&world, 3);
        for (int partition = 0; partition < 3; partition++)
                world_produce(&world, partition, 0, 5);
        struct reader *reader = reader_of(&options);
        ck_assert_int_eq(reader_total(reader), 15);
        world_produce(&world, 1, 5, 5); /* after its beginning */
        ck_assert_int_eq(drain(reader, true), 15);
        reader_close(reader);
        ck_assert_int_eq(world_committed(&world, 0), RD_KAFKA_OFFSET_INVALID);
        world_close(&world);
}
END_TEST

START_TEST(it_goes_on_where_the_group_stands_and_commits_only_what_passed)
{
        struct world world = world_open(1);
        struct reader_options options = options_of(&world, 1);
        world_produce(&world, 0, 0, 10);
        world_commit(&world, 0, 3);
        struct reader *reader = reader_of(&options);
        const struct record *records;
        size_t count = 0;
        while (count == 0)
                ck_assert_int_eq(reader_take(reader, 1000, &records, &count, &error), PO_OK);
        ck_assert_int_eq(records[0].offset, 3);
        ck_assert_int_eq(reader_commit(reader, &error), PO_OK); /* nothing passed */
        ck_assert_int_eq(world_committed(&world, 0), 3);
        reader_pass(reader, &records[0]);
        ck_assert_int_eq(reader_commit(reader, &error), PO_OK);
        ck_assert_int_eq(world_committed(&world, 0), 4);
        reader_close(reader);
        world_close(&world);
}
END_TEST

START_TEST(nothing_passes_behind_a_record_that_is_kept)
{
        struct world world = world_open(1);
        struct reader_options options = options_of(&world, 1);
        world_produce(&world, 0, 0, 4);
        struct reader *reader = reader_of(&options);
        const struct record *records;
        size_t count = 0;
        while (count == 0)
                ck_assert_int_eq(reader_take(reader, 1000, &records, &count, &error), PO_OK);
        ck_assert_uint_ge(count, 1);
        reader_pass(reader, &records[0]);
        reader_keep(reader, &records[0]);
        struct record later = records[0];
        later.offset = 3;
        reader_pass(reader, &later);
        ck_assert_int_eq(reader_commit(reader, &error), PO_OK);
        ck_assert_int_eq(world_committed(&world, 0), 1);
        reader_close(reader);
        world_close(&world);
}
END_TEST

START_TEST(reading_again_from_the_beginning_never_takes_the_group_back)
{
        struct world world = world_open(1);
        struct reader_options options = options_of(&world, 1);
        options.start = READER_BEGINNING;
        world_produce(&world, 0, 0, 4);
        world_commit(&world, 0, 4);
        struct reader *reader = reader_of(&options);
        ck_assert_int_eq(drain(reader, true), 4);
        ck_assert_int_eq(reader_commit(reader, &error), PO_OK);
        ck_assert_int_eq(world_committed(&world, 0), 4);
        reader_close(reader);
        world_close(&world);
}
END_TEST

START_TEST(one_partition_from_an_offset_is_all_that_is_read)
{
        struct world world = world_open(2);
        struct reader_options options = options_of(&world, 2);
        options.start = READER_OFFSET;
        options.start_offset = 7;
        options.only_partition = 1;
        world_produce(&world, 0, 0, 10);
        world_produce(&world, 1, 0, 10);
        struct reader *reader = reader_of(&options);
        ck_assert_int_eq(reader_total(reader), 3);
        ck_assert_int_eq(drain(reader, false), 3);
        reader_close(reader);
        options.start_offset = 70;
        reader = reader_of(&options);
        ck_assert(reader_at_end(reader));
        reader_close(reader);
        world_close(&world);
}
END_TEST

START_TEST(an_offset_beyond_the_end_is_told_and_not_jumped)
{
        struct world world = world_open(1);
        struct reader_options options = options_of(&world, 1);
        world_produce(&world, 0, 0, 4);
        world_commit(&world, 0, 9);
        struct reader *reader;
        ck_assert_int_eq(reader_open(&reader, &options, &error), PO_SYSTEMIC);
        unit_assert_in(error.text, "offset 9 of group postonce-test lies beyond the end 4");
        ck_assert_ptr_null(reader);
        options.start = READER_BEGINNING;
        reader = reader_of(&options);
        ck_assert_int_eq(drain(reader, true), 4);
        ck_assert_int_eq(reader_commit(reader, &error), PO_OK);
        ck_assert_int_eq(world_committed(&world, 0), 4);
        reader_close(reader);
        reader_close(NULL);
        world_close(&world);
}
END_TEST

/* What came of each partition, and the first offset of each. */
static void drain_counting(struct reader *reader, int counts[3], int64_t firsts[3])
{
        int64_t end_ms = clock_ms() + WORLD_WAIT_MS;
        memset(counts, 0, 3 * sizeof counts[0]);
        while (!reader_at_end(reader) && clock_ms() < end_ms) {
                const struct record *records;
                size_t count;
                ck_assert_int_eq(reader_take(reader, 100, &records, &count, &error), PO_OK);
                for (size_t i = 0; i < count; i++)
                        if (counts[records[i].partition]++ == 0)
                                firsts[records[i].partition] = records[i].offset;
        }
        ck_assert(reader_at_end(reader));
}

START_TEST(the_last_records_are_shared_out_evenly_and_what_one_lacks_others_give)
{
        struct world world = world_open(3);
        struct reader_options options = options_of(&world, 3);
        options.group = NULL;
        options.start = READER_LAST;
        options.last_records = 12;
        world_produce(&world, 0, 0, 2);
        world_produce(&world, 1, 0, 20);
        world_produce(&world, 2, 0, 9);
        struct reader *reader = reader_of(&options);
        int counts[3];
        int64_t firsts[3];
        ck_assert_int_eq(reader_total(reader), 12);
        drain_counting(reader, counts, firsts);
        ck_assert_int_eq(counts[0], 2);
        ck_assert_int_eq(counts[1], 5);
        ck_assert_int_eq(counts[2], 5);
        ck_assert_int_eq(firsts[0], 0);
        ck_assert_int_eq(firsts[1], 15);
        ck_assert_int_eq(firsts[2], 4);
        reader_close(reader);

        options.last_records = 1000;
        reader = reader_of(&options);
        ck_assert_int_eq(reader_total(reader), 31);
        reader_close(reader);
        options.last_records = 1; /* fewer than partitions: one of each */
        reader = reader_of(&options);
        ck_assert_int_eq(reader_total(reader), 3);
        reader_close(reader);
        world_close(&world);
}
END_TEST

START_TEST(an_empty_topic_is_at_its_end_at_once)
{
        struct world world = world_open(2);
        struct reader_options options = options_of(&world, 2);
        struct reader *reader = reader_of(&options);
        ck_assert(reader_at_end(reader));
        ck_assert_int_eq(reader_total(reader), 0);
        ck_assert_int_eq(reader_commit(reader, &error), PO_OK);
        reader_close(reader);
        world_close(&world);
}
END_TEST

UNIT_MAIN("reader", it_reads_every_partition_to_the_ends_of_its_beginning,
          it_goes_on_where_the_group_stands_and_commits_only_what_passed,
          nothing_passes_behind_a_record_that_is_kept,
          reading_again_from_the_beginning_never_takes_the_group_back,
          one_partition_from_an_offset_is_all_that_is_read,
          an_offset_beyond_the_end_is_told_and_not_jumped,
          the_last_records_are_shared_out_evenly_and_what_one_lacks_others_give,
          an_empty_topic_is_at_its_end_at_once)

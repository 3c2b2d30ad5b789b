#include "kafka/source_internal.h"

#include "../support/mock_kafka.h"
#include "unit.h"

static struct po_error error;

/* A consumer outside any group, at the beginning of every partition. */
static rd_kafka_t *reader_open(struct world *world, int partitions)
{
        rd_kafka_t *reader = world_observer(world);
        rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(partitions);
        for (int i = 0; i < partitions; i++)
                rd_kafka_topic_partition_list_add(list, TOPIC, i)->offset =
                        RD_KAFKA_OFFSET_BEGINNING;
        ck_assert_int_eq(rd_kafka_assign(reader, list), 0);
        rd_kafka_topic_partition_list_destroy(list);
        return reader;
}

static void fill(struct hand *hand, rd_kafka_t *reader, struct partitions *partitions)
{
        while (!hand_is_full(hand)) {
                rd_kafka_message_t *message = rd_kafka_consumer_poll(reader, 100);
                if (message == NULL)
                        continue;
                ck_assert_int_eq(message->err, RD_KAFKA_RESP_ERR_NO_ERROR);
                size_t slot = partitions_ensure(partitions, rd_kafka_topic_name(message->rkt),
                                                message->partition);
                if (!partitions->items[slot].assigned)
                        partition_begin(&partitions->items[slot], 0);
                ck_assert(hand_add(hand, message, &partitions->items[slot], slot));
        }
}

START_TEST(what_was_taken_of_a_partition_that_went_away_is_dropped_and_the_rest_is_whole)
{
        struct world world = world_open(2);
        for (int i = 0; i < 20; i++) {
                char text[16];
                snprintf(text, sizeof text, "%d", i / 2);
                rd_kafka_headers_t *headers = rd_kafka_headers_new(1);
                rd_kafka_header_add(headers, "i", -1, text, -1);
                world_put(&world, (struct world_message){ .partition = i % 2, .headers = headers });
        }
        world_flush(&world);
        rd_kafka_t *reader = reader_open(&world, 2);
        struct hand hand = { 0 };
        struct partitions partitions = { 0 };
        ck_assert_int_eq(hand_open(&hand, 20, &error), PO_OK);
        fill(&hand, reader, &partitions);
        /* One went away, and came back at once: what is in hand is of an older assignment. */
        size_t gone = partitions_find(&partitions, TOPIC, 0);
        partition_end(&partitions.items[gone]);
        partition_begin(&partitions.items[gone], 0);
        hand_finish(&hand, &partitions);
        ck_assert_uint_eq(hand.count, 10);
        for (size_t i = 0; i < hand.count; i++) {
                char text[16];
                snprintf(text, sizeof text, "%d", (int)hand.records[i].offset);
                ck_assert_int_eq(hand.records[i].partition, 1);
                ck_assert_int_eq(hand.records[i].offset, (int64_t)i);
                ck_assert_mem_eq(hand.records[i].headers[0].value, text, strlen(text));
        }
        hand_release(&hand);
        hand_close(&hand);
        partitions_free(&partitions);
        rd_kafka_destroy(reader);
        world_close(&world);
}
END_TEST

START_TEST(huge_records_end_a_batch_early)
{
        enum { HUGE_BYTES = 900 * 1000, RECORDS = 60 };
        struct world world = world_open(RECORDS / 4); /* the mock keeps 5 MB a partition */
        char *huge = calloc(1, HUGE_BYTES);
        for (int i = 0; i < RECORDS; i++)
                world_put(&world, (struct world_message){ .partition = i % (RECORDS / 4),
                                                          .value = huge,
                                                          .value_bytes = HUGE_BYTES });
        world_flush(&world);
        rd_kafka_t *reader = reader_open(&world, RECORDS / 4);
        struct hand hand = { 0 };
        struct partitions partitions = { 0 };
        ck_assert_int_eq(hand_open(&hand, 1000, &error), PO_OK);
        fill(&hand, reader, &partitions);
        ck_assert_uint_lt(hand.count, RECORDS);
        ck_assert_uint_ge(hand.count, 10);
        hand_release(&hand);
        ck_assert(!hand_is_full(&hand));
        hand_close(&hand);
        partitions_free(&partitions);
        free(huge);
        rd_kafka_destroy(reader);
        world_close(&world);
}
END_TEST

UNIT_MAIN("hand", what_was_taken_of_a_partition_that_went_away_is_dropped_and_the_rest_is_whole,
          huge_records_end_a_batch_early)

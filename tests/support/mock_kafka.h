/*
 * A world with a Kafka in it: librdkafka's mock cluster, something to produce with, something to
 * read the group's offsets with. For unit tests of src/kafka; every test opens its own.
 */
#ifndef SUPPORT_MOCK_KAFKA_H
#define SUPPORT_MOCK_KAFKA_H

#include <check.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>

#include "base/clock.h"
#include "base/log.h"
#include "kafka/dev_broker.h"
#include "kafka/source.h"

#define TOPIC "callbacks"

enum {
        WORLD_WAIT_MS = 20 * 1000,
        WORLD_PROPERTIES = 16,
        API_OFFSET_COMMIT = 8,
        API_OFFSET_FETCH = 9
};

struct world {
        struct dev_broker *broker;
        rd_kafka_mock_cluster_t *mock;
        rd_kafka_t *producer;
        struct kafka_property properties[WORLD_PROPERTIES];
        size_t properties_count;
};

static inline void world_set(struct world *world, const char *name, const char *value)
{
        ck_assert_uint_lt(world->properties_count, WORLD_PROPERTIES);
        world->properties[world->properties_count++] = (struct kafka_property){ name, value };
}

static inline struct world world_open(int partitions)
{
        struct world world = { 0 };
        struct po_error error;
        log_set_level(getenv("POSTONCE_TEST_LOG") != NULL ? LOG_LEVEL_DEBUG : LOG_LEVEL_ERROR);
        struct dev_broker_topic topic = { TOPIC, partitions };
        ck_assert_msg(dev_broker_open(&world.broker, &topic, 1, &error) == PO_OK, "%s", error.text);
        world.mock = dev_broker_cluster(world.broker);
        world_set(&world, "bootstrap.servers", dev_broker_address(world.broker));
        world_set(&world, "group.id", "postonce-test");
        world_set(&world, "session.timeout.ms", "3000");
        world_set(&world, "heartbeat.interval.ms", "200");
        world_set(&world, "fetch.wait.max.ms", "50");
        world_set(&world, "fetch.error.backoff.ms", "50");
        world_set(&world, "reconnect.backoff.max.ms", "500");
        if (getenv("POSTONCE_TEST_DEBUG") != NULL)
                world_set(&world, "debug", getenv("POSTONCE_TEST_DEBUG"));

        char text[256];
        rd_kafka_conf_t *conf = rd_kafka_conf_new();
        rd_kafka_conf_set(conf, "bootstrap.servers", dev_broker_address(world.broker), text,
                          sizeof text);
        rd_kafka_conf_set(conf, "linger.ms", "0", text, sizeof text);
        world.producer = rd_kafka_new(RD_KAFKA_PRODUCER, conf, text, sizeof text);
        ck_assert_ptr_nonnull(world.producer);
        return world;
}

static inline void world_close(struct world *world)
{
        rd_kafka_destroy(world->producer);
        dev_broker_close(world->broker);
}

struct world_message {
        int partition;
        const void *key;
        size_t key_bytes;
        const void *value;
        size_t value_bytes;
        int64_t timestamp_ms;        /* 0: now */
        rd_kafka_headers_t *headers; /* taken over; or NULL */
};

static inline void world_put(struct world *world, struct world_message message)
{
        enum { ARGUMENTS = 7 };
        rd_kafka_vu_t arguments[ARGUMENTS] = {
                { .vtype = RD_KAFKA_VTYPE_TOPIC, .u.cstr = TOPIC },
                { .vtype = RD_KAFKA_VTYPE_PARTITION, .u.i32 = message.partition },
                { .vtype = RD_KAFKA_VTYPE_MSGFLAGS, .u.i = RD_KAFKA_MSG_F_COPY },
                { .vtype = RD_KAFKA_VTYPE_KEY,
                  .u.mem = { (void *)(uintptr_t)message.key, message.key_bytes } },
                { .vtype = RD_KAFKA_VTYPE_VALUE,
                  .u.mem = { (void *)(uintptr_t)message.value, message.value_bytes } },
                { .vtype = RD_KAFKA_VTYPE_TIMESTAMP, .u.i64 = message.timestamp_ms },
                { .vtype = RD_KAFKA_VTYPE_HEADERS, .u.headers = message.headers },
        };
        size_t count = message.headers != NULL ? ARGUMENTS : ARGUMENTS - 1;
        rd_kafka_error_t *refused = rd_kafka_produceva(world->producer, arguments, count);
        ck_assert_msg(refused == NULL, "%s", rd_kafka_error_string(refused));
}

static inline void world_flush(struct world *world)
{
        ck_assert_int_eq(rd_kafka_flush(world->producer, WORLD_WAIT_MS), 0);
}

/* Values are "0", "1", … from first on; they equal the offsets when nothing else is produced. */
static inline void world_produce(struct world *world, int partition, int first, int count)
{
        for (int i = first; i < first + count; i++) {
                char value[16];
                snprintf(value, sizeof value, "%d", i);
                world_put(world, (struct world_message){ .partition = partition,
                                                         .value = value,
                                                         .value_bytes = strlen(value) });
        }
        world_flush(world);
}

static inline struct source *world_source(struct world *world, size_t batch_records_max)
{
        static const char *const topics[] = { TOPIC };
        struct source_options options = { .properties = world->properties,
                                          .properties_count = world->properties_count,
                                          .topics = topics,
                                          .topics_count = 1,
                                          .batch_records_max = batch_records_max };
        struct source *source = NULL;
        struct po_error error;
        ck_assert_msg(source_open(&source, &options, &error) == PO_OK, "%s", error.text);
        return source;
}

static inline void world_source_close(struct source *source)
{
        struct po_error error;
        ck_assert_msg(source_close(source, WORLD_WAIT_MS, &error) == PO_OK, "%s", error.text);
}

/* Takes until there is something or the time is over; 0 then. */
static inline size_t world_take(struct source *source, int wait_ms, const struct record **records)
{
        struct po_error error;
        size_t count = 0;
        int64_t end_ms = clock_ms() + wait_ms;
        do {
                ck_assert_msg(source_take(source, 50, records, &count, &error) == PO_OK, "%s",
                              error.text);
        } while (count == 0 && clock_ms() < end_ms);
        return count;
}

/* A client of the same group that joins nothing. */
static inline rd_kafka_t *world_observer(struct world *world)
{
        char text[256];
        rd_kafka_conf_t *conf = rd_kafka_conf_new();
        rd_kafka_conf_set(conf, "bootstrap.servers", dev_broker_address(world->broker), text,
                          sizeof text);
        rd_kafka_conf_set(conf, "group.id", "postonce-test", text, sizeof text);
        rd_kafka_t *observer = rd_kafka_new(RD_KAFKA_CONSUMER, conf, text, sizeof text);
        ck_assert_ptr_nonnull(observer);
        return observer;
}

static inline int64_t world_committed(struct world *world, int partition)
{
        rd_kafka_t *observer = world_observer(world);
        rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
        rd_kafka_topic_partition_list_add(list, TOPIC, partition);
        ck_assert_int_eq(rd_kafka_committed(observer, list, WORLD_WAIT_MS), 0);
        int64_t offset = list->elems[0].offset;
        rd_kafka_topic_partition_list_destroy(list);
        rd_kafka_destroy(observer);
        return offset;
}

static inline void world_commit(struct world *world, int partition, int64_t offset)
{
        rd_kafka_t *observer = world_observer(world);
        rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
        rd_kafka_topic_partition_list_add(list, TOPIC, partition)->offset = offset;
        ck_assert_int_eq(rd_kafka_commit(observer, list, 0), 0);
        rd_kafka_topic_partition_list_destroy(list);
        rd_kafka_destroy(observer);
}

/* Alarms are counted by code. */
static char world_alarm_code[64];
static int world_alarms;

static inline void world_alarm(const char *code)
{
        snprintf(world_alarm_code, sizeof world_alarm_code, "%s", code);
        world_alarms++;
}

#endif
